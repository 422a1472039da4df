package clock

import "chronoscope/stats"

// Rate is how fast a counter ticks.
type Rate struct {
	// Hz is the rate, in ticks a second of the reference.
	Hz stats.Estimate
	// Reference is the clock that the rate was measured against; empty where
	// it was not measured.
	Reference string
	// Caveats say what to keep in mind.
	Caveats []string

	scale scale
}

// NewRate is the rate of that many ticks a second, for rates from elsewhere
// than a calibration. It is refused below 1 Hz and above 1 THz.
func NewRate(hz stats.Estimate) (Rate, error) {
	s, err := newScale(hz.Value)
	if err != nil {
		return Rate{}, err
	}
	return Rate{Hz: hz, scale: s}, nil
}

// Tick returns the length of a tick in nanoseconds.
func (r Rate) Tick() stats.Estimate {
	return stats.Estimate{
		Value: 1e9 / r.Hz.Value, Lo: 1e9 / r.Hz.Hi, Hi: 1e9 / r.Hz.Lo, Unit: "ns",
		Statistic: r.Hz.Statistic, N: r.Hz.N, Discarded: r.Hz.Discarded,
	}
}

// PPM is half the width of the rate's interval, in parts per million of the
// rate.
func (r Rate) PPM() float64 { return 1e6 * r.Hz.RelativeHalfWidth() }

// Ns turns a difference of readings into nanoseconds, rounded to the nearest.
// The arithmetic is done in 128 bits: no difference is too long, and what does
// not fit an int64 of nanoseconds is cut to its range.
func (r Rate) Ns(ticks int64) int64 { return r.scale.ns(ticks) }
