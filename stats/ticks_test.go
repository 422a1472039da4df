package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/stats"
)

// ticksOf returns the sums over calls of the given numbers of ticks.
func ticksOf(calls ...uint64) (t stats.Ticks) {
	for _, d := range calls {
		t.Add(d)
	}
	return t
}

// Counts of 0 and 1 give Wilson's interval. The expected figures are those of R's
// prop.test(x, n, correct = FALSE).
func TestTicksOfNoughtsAndOnes(t *testing.T) {
	for _, c := range []struct {
		ones, calls uint64
		lo, hi      float64
	}{
		{0, 10, 0, 0.2775328},
		{1, 10, 0.0178762, 0.4041500},
		{5, 10, 0.2365931, 0.7634069},
		{10, 10, 0.7224672, 1},
		{15, 148, 0.0623861, 0.1605427}, // Newcombe 1998, table I: 0.0624 to 0.1605
		{81, 263, 0.2552747, 0.3661984}, // 0.2553 to 0.3662
		{1, 29, 0.0061133, 0.1717553},   // 0.0061 to 0.1718
	} {
		e := stats.Ticks{Calls: c.calls, Sum: c.ones, Squares: c.ones}.Mean(1)
		if math.Abs(e.Value-float64(c.ones)/float64(c.calls)) > 1e-12 {
			t.Errorf("%d of %d: mean %v", c.ones, c.calls, e.Value)
		}
		hi := c.hi
		if c.ones == c.calls { // a whole number of ticks does not bound durations
			hi = 1 + (1 - c.lo)
		}
		if math.Abs(e.Lo-c.lo) > 6e-5 || math.Abs(e.Hi-hi) > 6e-5 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", c.ones, c.calls, e.Lo, e.Hi, c.lo, hi)
		}
	}
}

// The ticks of a duration of k plus a fraction scatter like those of the fraction alone.
func TestTicksBeyondOne(t *testing.T) {
	below := ticksOf(0, 0, 1, 0, 1, 0, 0, 0, 0, 1).Mean(1e6)
	above := ticksOf(3, 3, 4, 3, 4, 3, 3, 3, 3, 4).Mean(1e6)
	if math.Abs(above.Value-below.Value-3e6) > 1e-3 || math.Abs(above.Hi-below.Hi-3e6) > 1e-3 || math.Abs(above.Lo-below.Lo-3e6) > 1e-3 {
		t.Errorf("%+v is not 3 ms above %+v", above, below)
	}
}

// Sums that are added in any order equal a single count of all calls.
func TestTicksAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all stats.Ticks
	parts := make([]stats.Ticks, 7)
	for range 10_000 {
		d := r.Uint64N(4) * r.Uint64N(1000)
		all.Add(d)
		parts[r.IntN(len(parts))].Add(d)
	}
	var joined stats.Ticks
	for _, p := range parts {
		joined = joined.Plus(p)
	}
	if joined != all {
		t.Errorf("%+v, want %+v", joined, all)
	}
}

// Sums that no calls can have give no mean.
func TestTicksWithoutMean(t *testing.T) {
	for name, c := range map[string]struct {
		ticks  stats.Ticks
		tickNs float64
	}{
		"no calls":               {stats.Ticks{}, 1e6},
		"squares below the sum":  {stats.Ticks{Calls: 10, Sum: 5, Squares: 4}, 1e6},
		"squares below Cauchy's": {stats.Ticks{Calls: 2, Sum: 10, Squares: 49}, 1e6},
		"ticks without calls":    {stats.Ticks{Sum: 1, Squares: 1}, 1e6},
		"squares did not fit":    {ticksOf(1 << 40), 1e6},
		"no tick":                {ticksOf(1, 0), 0},
		"tick is not a number":   {ticksOf(1, 0), math.NaN()},
		"infinite tick":          {ticksOf(1, 0), math.Inf(1)},
	} {
		if e := c.ticks.Mean(c.tickNs); !math.IsNaN(e.Value) || !math.IsNaN(e.Lo) || !math.IsNaN(e.Hi) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// For long durations in short ticks, the two terms of the variance agree in their first 16 digits. The
// interval still has the width that ten calls of this deviation give.
func TestTicksKeepTheirDigits(t *testing.T) {
	var c stats.Ticks
	for i := range uint64(10) {
		c.Add(1_000_000_000 + i%2)
	}
	e := c.Mean(1)
	if math.Abs(e.Value-1_000_000_000.5) > 1e-6 || e.Hi-e.Lo > 1 {
		t.Errorf("%v to %v, want ± 0.26 about 1e9 + 0.5", e.Lo, e.Hi)
	}
}

// The intervals hold for independent calls of any durations, also at few ticks.
func TestTicksCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const cases = 20_000
	for name, draw := range map[string]func(*rand.Rand) (mean float64, one func() float64){
		"constant, few ticks": func(r *rand.Rand) (float64, func() float64) {
			d := math.Exp(math.Log(1e-3) + r.Float64()*math.Log(20))
			return d, func() float64 { return d }
		},
		"constant, 0 to 3 ticks": func(r *rand.Rand) (float64, func() float64) {
			d := 3 * r.Float64()
			return d, func() float64 { return d }
		},
		"exponential": func(r *rand.Rand) (float64, func() float64) {
			d := math.Exp(math.Log(0.02) + r.Float64()*math.Log(100))
			return d, func() float64 { return d * r.ExpFloat64() }
		},
		"a few of several ticks": func(r *rand.Rand) (float64, func() float64) {
			const often, long = 0.02, 4
			return 0.05 + often*long, func() float64 {
				d := 0.05
				if r.Float64() < often {
					d += long * (0.5 + r.Float64())
				}
				return d
			}
		},
	} {
		covered, tight := 0, 0
		for seed := range uint64(cases) {
			r := rand.New(rand.NewPCG(seed, 0x71c5))
			mean, one := draw(r)
			var c stats.Ticks
			for range 1000 {
				c.Add(uint64(one() + r.Float64()))
			}
			e := c.Mean(1)
			if e.Covers(mean) {
				covered++
			}
			if s := math.Sqrt(mean / 1000); e.HalfWidth() < 20*s {
				tight++
			}
		}
		t.Logf("%s: %d of %d", name, covered, cases)
		if covered < 18_800 || covered > 19_600 {
			t.Errorf("%s: %d of %d intervals hold the mean", name, covered, cases)
		}
		if tight != cases {
			t.Errorf("%s: %d of %d intervals are narrow", name, tight, cases)
		}
	}
}
