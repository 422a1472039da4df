package activity

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// Practice problem 9.2, last part: in Figure 9.5 the process loses the CPU every 20 ms, at the
// starts of I50, I52, I53 and I55. From the first to the last of these it was inactive in I50 to
// I54, 52.3 % of the time. The trace as a whole begins and ends elsewhere in the pattern, and has
// 47.0 %. In Figure 9.3 no other process ran: there the share is that of the interrupts, I0 to I8,
// from I0 to I9.
func TestFiguresInTheLongRun(t *testing.T) {
	for _, c := range []struct {
		number          string
		mhz             float64
		inactive, total float64 // in cycles
		cycles          int
	}{
		{"9.5", 548.1, 5718758 + 7153 + 5726129 + 5718135 + 7096, 235042017 - 202210927, 3},
		{"9.3", 549.9, 275025 + 7598 + 251609 + 14116 + 248500 + 247113 + 254340 + 8139 + 248360, 36557620 - 3726508, 6},
	} {
		trace := figure(t, c.number, c.mhz)
		e, err := trace.LongRunInactive(Analyse(trace).Tick)
		var few *stats.TooFewError
		if !errors.As(err, &few) || few.Have != c.cycles || !math.IsNaN(e.Lo) || !math.IsNaN(e.Hi) {
			t.Errorf("Figure %s: %+v, %v; want %d cycles, too few for an interval", c.number, e, err, c.cycles)
		}
		if math.Abs(e.Value-c.inactive/c.total) > 1e-9 || e.N != c.cycles {
			t.Errorf("Figure %s: %+v, want %.4f", c.number, e, c.inactive/c.total)
		}
	}
}

// alternating returns a trace of a thread that loses its CPU again and again. The trace begins
// within an alternation and ends within one.
func alternating(rng *rand.Rand, length float64, active, inactive func(*rand.Rand) float64) *Trace {
	t := &Trace{TickNs: 1, Length: int64(length)}
	for at := -length * rng.Float64(); at < length; {
		at += active(rng)
		lost := inactive(rng)
		from, to := math.Max(at, 0), math.Min(at+lost, length)
		if from < to && (len(t.Gaps) == 0 || int64(from) >= t.Gaps[len(t.Gaps)-1].End()) {
			t.Gaps = append(t.Gaps, Gap{Start: int64(from), Ticks: int64(to) - int64(from), Cause: Preempted})
		}
		at += lost
	}
	return t
}

// The interval contains the long-run share, which is mean inactive time over mean cycle, in 95 of
// 100 traces, for short and long traces and any lengths of turns. A perfect method passes nearly
// always.
func TestLongRunCoverage(t *testing.T) {
	exponential := func(mean float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return mean * rng.ExpFloat64() }
	}
	even := func(from, to float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return from + (to-from)*rng.Float64() }
	}
	slices := func(slice float64, most int) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return slice * float64(1+rng.IntN(most)) }
	}
	for name, c := range map[string]struct {
		active, inactive func(*rand.Rand) float64
		share, cycle     float64
	}{
		"exponential":     {exponential(4e6), exponential(12e6), 0.75, 16e6},
		"even":            {even(2e6, 6e6), even(0.5e6, 1.5e6), 0.2, 5e6},
		"whole intervals": {slices(4e6, 3), slices(4e6, 11), 0.75, 32e6},
	} {
		for _, cycles := range []float64{30, 200} {
			traces := clocktest.Cases(t, 500)
			covered, judged, width := 0, 0, 0.0
			for seed := range uint64(traces) {
				rng := rand.New(rand.NewPCG(seed, 92))
				e, err := alternating(rng, c.cycle*cycles*(1+0.5*rng.Float64()), c.active, c.inactive).LongRunInactive(nil)
				if err != nil {
					continue
				}
				judged++
				width += e.HalfWidth()
				if e.Covers(c.share) {
					covered++
				}
			}
			t.Logf("%s, %v cycles: %d of %d intervals hold the share, mean half width %.3f", name, cycles, covered, judged, width/float64(judged))
			if judged < traces*95/100 || covered < clocktest.FewestCovered(judged) {
				t.Errorf("%s, %v cycles: %d of %d intervals hold the share", name, cycles, covered, judged)
			}
		}
	}
}

// Twenty cycles of 10, 11 ... 29, inactive for 3 + 7i mod 5 of them. The bounds come from a few
// lines of Python, with Student's t of 19 degrees of freedom, 2.093024, from a table.
func TestLongRunIntervalByHand(t *testing.T) {
	var cycles []cycle
	for i := range 20 {
		cycles = append(cycles, cycle{ns: float64(10 + i), inactiveNs: float64(3 + i*7%5)})
	}
	e, err := inactiveShare(cycles)
	if err != nil || math.Abs(e.Value-0.2564102564) > 1e-9 || math.Abs(e.Lo-0.2120950674) > 1e-7 || math.Abs(e.Hi-0.3063841351) > 1e-7 {
		t.Errorf("%+v, %v", e, err)
	}
}

// A trace that begins while the thread has no CPU does not tell when the thread lost it, so that no
// cycle starts there.
func TestLongRunBeginsWithAWholeCycle(t *testing.T) {
	trace := &Trace{TickNs: 1, Length: 100, Gaps: []Gap{
		{Start: 0, Ticks: 9, Cause: Preempted}, {Start: 10, Ticks: 5, Cause: Preempted}, {Start: 30, Ticks: 5, Cause: Preempted},
	}}
	if e, _ := trace.LongRunInactive(nil); e.N != 1 || e.Value != 0.25 {
		t.Errorf("%+v, want 5 of 20 in one cycle", e)
	}
}

// If all cycles are equal, the share is known exactly. If the thread was never active, the bounds
// are 0 and 1. An empty trace has no value.
func TestLongRunWithoutSpread(t *testing.T) {
	var same []cycle
	for range cyclesForInterval {
		same = append(same, cycle{ns: 20, inactiveNs: 5})
	}
	if e, err := inactiveShare(same); err != nil || math.Abs(e.Value-0.25) > 1e-12 || e.HalfWidth() > 1e-6 {
		t.Errorf("%+v, %v", e, err)
	}
	var all []cycle
	for range cyclesForInterval {
		all = append(all, cycle{ns: 20, inactiveNs: 20})
	}
	if e, err := inactiveShare(all); err != nil || e.Value != 1 || e.Lo != 0 || e.Hi != 1 {
		t.Errorf("never active: %+v, %v", e, err)
	}
	if e, err := (&Trace{TickNs: 1, Length: 10}).LongRunInactive(nil); err == nil || !math.IsNaN(e.Value) {
		t.Errorf("an empty trace: %+v, %v", e, err)
	}
}
