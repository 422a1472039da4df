// Package stats turns samples into estimates: a value, the interval that bounds it, and a verdict on
// how far it can be trusted.
//
// The caller knows what a sample means; this package does not.
package stats

import (
	"encoding/json"
	"math"
)

// Confidence is the confidence level of every interval in this module.
const Confidence = 0.95

// Estimate is the result of a method for one quantity.
//
// A bound that could not be found is NaN; in JSON it is null, and the caveats of the document say
// why.
type Estimate struct {
	// Value is the estimated quantity, in Unit.
	Value float64
	// Lo and Hi bound the interval, in Unit.
	Lo, Hi float64
	// Unit names the unit of Value, Lo and Hi: "ns", "Hz", "ticks" ...
	Unit string
	// Statistic names what Value is: "median", "slope", "quantum" ...
	Statistic string
	// N is the number of samples that were used, Discarded the number that were left out.
	N, Discarded int
}

// NoEstimate returns an Estimate whose value and bounds are unknown.
func NoEstimate(unit, statistic string) Estimate {
	nan := math.NaN()
	return Estimate{Value: nan, Lo: nan, Hi: nan, Unit: unit, Statistic: statistic}
}

// Less returns the estimate minus another one. The distance of each bound from the value is the root of
// the sum of the squares of the two estimates' distances, so that skewed intervals stay skewed
// (Newcombe, "Interval Estimation for the Difference Between Independent Proportions", Statistics in
// Medicine 17, 1998, method 10; Zou and Donner, "Construction of Confidence Limits About Effect
// Measures", Statistics in Medicine 27, 2008).
func (e Estimate) Less(other Estimate) Estimate {
	less := e
	less.Value = e.Value - other.Value
	less.Lo = less.Value - math.Hypot(e.Value-e.Lo, other.Hi-other.Value)
	less.Hi = less.Value + math.Hypot(e.Hi-e.Value, other.Value-other.Lo)
	return less
}

// HalfWidth returns half the width of the interval, in Unit.
func (e Estimate) HalfWidth() float64 { return (e.Hi - e.Lo) / 2 }

// RelativeHalfWidth returns HalfWidth as a share of the value, NaN for a value of zero.
func (e Estimate) RelativeHalfWidth() float64 {
	if e.Value == 0 {
		return math.NaN()
	}
	return e.HalfWidth() / math.Abs(e.Value)
}

// Covers reports whether the interval holds x.
func (e Estimate) Covers(x float64) bool { return e.Lo <= x && x <= e.Hi }

// Scaled returns the estimate in another unit that is factor times smaller.
func (e Estimate) Scaled(factor float64, unit string) Estimate {
	e.Value *= factor
	e.Lo *= factor
	e.Hi *= factor
	if factor < 0 {
		e.Lo, e.Hi = e.Hi, e.Lo
	}
	e.Unit = unit
	return e
}

// estimateDocument is the JSON form of an Estimate.
type estimateDocument struct {
	Value      Float   `json:"value"`
	Lo         Float   `json:"lo"`
	Hi         Float   `json:"hi"`
	Confidence float64 `json:"confidence"`
	Unit       string  `json:"unit"`
	Statistic  string  `json:"statistic"`
	N          int     `json:"n"`
	Discarded  int     `json:"discarded"`
}

// MarshalJSON writes the estimate, with null for every number that is not finite.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(estimateDocument{
		Value: FloatOf(e.Value), Lo: FloatOf(e.Lo), Hi: FloatOf(e.Hi), Confidence: Confidence,
		Unit: e.Unit, Statistic: e.Statistic, N: e.N, Discarded: e.Discarded,
	})
}

// UnmarshalJSON reads what MarshalJSON writes; null becomes NaN.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var d estimateDocument
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	*e = Estimate{
		Value: d.Value.Value(), Lo: d.Lo.Value(), Hi: d.Hi.Value(),
		Unit: d.Unit, Statistic: d.Statistic, N: d.N, Discarded: d.Discarded,
	}
	return nil
}
