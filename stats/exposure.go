package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Exposure says by how much a disturbance during the samples, such as programs on other CPUs, may have
// lengthened them. A sample's exposure is the amount of the disturbance during it, 0 or more, such as the mean
// number of other CPUs in use.
type Exposure struct {
	// Mean is the mean exposure of the samples.
	Mean float64
	// Lost is the share of the median sample that the exposure added: without the exposure, the
	// median would be (1 - Lost) times what it is.
	Lost Estimate
	// Unseen is the part of Lost.Hi that rests on an assumed limit, because hardly any sample had
	// less exposure.
	Unseen float64
	// Adds reports that samples with more exposure are longer: the interval of the slope lies
	// above 0.
	Adds bool

	slope Estimate // change of a sample with the part of its exposure above least
	// least is the 10th percentile of the exposure. worst is the largest share by which an exposure of 1 may lengthen a
	// sample. worstUnseen is the same for the part of the exposure below least, which hardly varied.
	least, worst, worstUnseen float64
}

// A program takes at most (1 + NeighboursWorst) times as long, that is twice, if another program runs on
// another CPU: each of the two has half of the caches, of the memory bus, or of a core with two
// threads. If neighbours may have added more than GuessedAdded, the time counts as unknown unless
// samples with fewer neighbours show how much they added.
const NeighboursWorst, GuessedAdded = 1, 0.02

// leastExposed is the quantile of the exposure below which it counts as hardly varying. The slope
// also bounds the effect of that part if the same share of the samples had twice as much exposure
// or more.
const leastExposed = 0.1

// beyond is the largest assumed ratio of two effects per unit of exposure: that of the exposure
// which all samples had, and that of the exposure which varied. The two may be of different
// kinds.
const beyond = 2

// ExposureOf bounds by how much an exposure x, 0 or more, lengthened the samples y. Samples that
// are differences of two times may be negative. An exposure of 1 makes a sample at most (1 +
// worst) times as long.
//
// For the part of the exposure above its 10th percentile, the interval of the slope ([TheilSen])
// gives the effect. The part below hardly varied, so its effect is unseen: it lies between
// nothing and the worst, or, if the exposures vary by more than that part, at most twice what the
// slope says. With fewer than 6 samples, or if x does not vary, all of the exposure counts as
// unseen. Without samples the result is the zero value.
func ExposureOf(x, y []float64, worst float64) Exposure {
	if len(x) == 0 {
		return Exposure{}
	}
	sorted := slices.Sorted(slices.Values(x))
	e := Exposure{Mean: stat.Mean(x, nil), least: sorted[len(sorted)-1], worst: worst, worstUnseen: worst}
	if line, err := TheilSen(x, y); err == nil && !math.IsNaN(line.Slope.Hi) {
		e.least, e.slope = Quantile(sorted, leastExposed), line.Slope
		e.Adds = e.slope.Lo > 0
		if Quantile(sorted, 1-leastExposed) >= 2*e.least {
			e.worstUnseen = math.Min(worst, beyond*math.Max(0, e.slope.Hi)/Median(y))
		}
	}
	lost := func(slope, worst float64) float64 {
		alone := make([]float64, len(x))
		for i := range x {
			alone[i] = e.alone(x[i], y[i], slope, worst)
		}
		return math.Min(math.Max(0, 1-Median(alone)/Median(y)), 1-1/(1+e.worst*sorted[len(sorted)-1]))
	}
	e.Lost = Estimate{Value: lost(e.slope.Value, 0), Lo: lost(e.slope.Lo, 0), Hi: lost(e.slope.Hi, e.worstUnseen), Statistic: "theil-sen", N: len(x)}
	e.Unseen = lost(0, e.worstUnseen)
	return e
}

// Guessed reports whether more than GuessedAdded of the effect is unseen.
func (e Exposure) Guessed() bool { return e.Unseen > GuessedAdded }

// AddedByOthers says by how much programs on other CPUs may have slowed a program.
func (e Exposure) AddedByOthers() string {
	return fmt.Sprintf("other programs used other CPUs for %.0f %% of its time: shared caches and memory may have slowed it by up to %.0f %%: a calmer machine tells", 100*e.Mean, 100*e.Lost.Hi/(1-e.Lost.Hi))
}

// Alone bounds what a sample y of exposure x would have been without the exposure.
func (e Exposure) Alone(x, y float64) (lo, hi float64) {
	return e.alone(x, y, e.slope.Hi, e.worstUnseen), e.alone(x, y, e.slope.Lo, 0)
}

// alone returns the sample y without the effect of its exposure x: slope is the effect of the exposure
// above least, and worstUnseen the largest effect of the exposure below it.
func (e Exposure) alone(x, y, slope, worstUnseen float64) float64 {
	unseen := y / (1 + worstUnseen*math.Min(x, e.least))
	seen := math.Max(0, slope) * math.Max(0, x-e.least)
	return math.Max(unseen-seen, y/(1+e.worst*x))
}
