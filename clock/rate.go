package clock

import "chronoscope/stats"

// Rate is how fast a counter ticks.
type Rate struct {
	// Hz is the rate, in ticks per second of the reference.
	Hz stats.Estimate
	// Reference is the clock against which the rate was measured; empty if it was not measured.
	Reference string
	// Caveats say what could not be known or had to be assumed.
	Caveats []string

	scale scale
}

// NewRate returns the rate of hz ticks per second, for a rate that does not come from a
// calibration. It returns an error below 1 Hz and above 1 THz.
func NewRate(hz stats.Estimate) (Rate, error) {
	s, err := newScale(hz.Value)
	if err != nil {
		return Rate{}, err
	}
	return Rate{Hz: hz, scale: s}, nil
}

// Tick returns the length of a tick, in nanoseconds.
func (r Rate) Tick() stats.Estimate {
	return stats.Estimate{
		Value: 1e9 / r.Hz.Value, Lo: 1e9 / r.Hz.Hi, Hi: 1e9 / r.Hz.Lo, Unit: "ns",
		Statistic: r.Hz.Statistic, N: r.Hz.N, Discarded: r.Hz.Discarded,
	}
}

// PPM returns half the width of the rate's interval, in parts per million of the rate.
func (r Rate) PPM() float64 { return 1e6 * r.Hz.RelativeHalfWidth() }

// Ns converts a difference of readings to nanoseconds, rounded to the nearest. It computes in
// 128 bits, so that no difference overflows. A result beyond the range of int64 becomes the
// largest or the smallest int64.
func (r Rate) Ns(ticks int64) int64 { return r.scale.ns(ticks) }
