package meter

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"chronoscope/stats"
)

// tickless is what a kernel without ticks while idle does to its coarse clock. The clock
// is brought to the last of its own steps by each interrupt of the tick, which comes a
// fixed time after that step, and by the interrupt that ends an idle time which a tick
// was due in.
type tickless struct {
	*simulated
	afterStepNs float64 // the tick's interrupt comes this long after the clock's own step
	updatedNs   float64
	shown       int64
}

func newTickless(seed uint64, tickNs float64) *tickless {
	t := &tickless{simulated: newWorld(seed, tickNs)}
	t.afterStepNs = t.rng.Float64() * t.tickNs
	t.simulated.shown = func() int64 { return t.shown }
	t.update()
	return t
}

func (t *tickless) update() {
	t.shown = int64(math.Floor(t.nowNs/t.tickNs)) * int64(t.tickNs)
	t.updatedNs = t.nowNs
}

func (t *tickless) interrupts(ns float64) float64 { return math.Floor((ns - t.afterStepNs) / t.tickNs) }

// idle lets time go by without ticks, and wakes up.
func (t *tickless) idle(ns float64) {
	t.nowNs += ns
	if t.interrupts(t.nowNs) > t.interrupts(t.updatedNs) {
		t.update()
	}
}

// busy lets time go by with ticks.
func (t *tickless) busy(ns float64) {
	end := t.nowNs + ns
	for n := t.interrupts(t.nowNs) + 1; ; n++ {
		due := n*t.tickNs + t.afterStepNs
		if due > end {
			break
		}
		t.nowNs = due
		t.update()
	}
	t.nowNs = end
}

func (t *tickless) call(m *Meter, ns float64) {
	start := m.Start()
	t.busy(ns)
	m.Stop(start)
}

// ticklessPattern is how calls and idle times follow one another.
type ticklessPattern struct {
	name string
	// before lets time go by before call i.
	before func(t *tickless, i int, begunNs float64)
	// idles says that the machine is idle between calls for a tick and more.
	idles bool
}

// every makes a timer of that period, in ticks.
func every(ticks float64) func(*tickless, int, float64) {
	return func(t *tickless, i int, begunNs float64) {
		wait := begunNs + float64(i)*ticks*t.tickNs - t.nowNs
		t.idle(max(wait, 0) + 0.01*t.tickNs*t.rng.Float64())
	}
}

var ticklessPatterns = []ticklessPattern{
	{"sleeps of 0.75 ticks", func(t *tickless, _ int, _ float64) { t.idle(0.75*t.tickNs + 0.02*t.tickNs*t.rng.Float64()) }, true},
	{"timer of 0.925 ticks", every(0.925), true},
	{"timer of 0.25 ticks", every(0.25), true},
	{"timer of 0.2618 ticks", every(0.2618), true},
	{"timer of 3 ticks", every(3), true},
	{"sleeps of up to 2.5 ticks", func(t *tickless, _ int, _ float64) { t.idle(2.5 * t.tickNs * t.rng.Float64()) }, true},
	{"rare calls", func(t *tickless, _ int, _ float64) { t.idle(5 * t.tickNs * t.rng.ExpFloat64()) }, true},
	{"work before the call", func(t *tickless, _ int, _ float64) {
		t.idle(t.tickNs * t.rng.ExpFloat64())
		t.busy(0.1 * t.tickNs * t.rng.Float64())
	}, true},
	{"bursts of ten", func(t *tickless, i int, _ float64) {
		if i%10 == 0 {
			t.idle(2 * t.tickNs * t.rng.ExpFloat64())
		}
	}, true},
	{"hardly idle", func(t *tickless, _ int, _ float64) { t.busy(0.3 * t.tickNs * t.rng.ExpFloat64()) }, false},
}

// A kernel that stops its tick while idle, and catches up when it wakes up, moves the
// clock's edges out of the calls, or into them: 140 µs were 18 and 267. No such mean is
// trusted, and what is not unusable covers the truth.
func TestTicklessIdleIsNotTrusted(t *testing.T) {
	const tickNs, cases = 4e6, 60
	for _, p := range ticklessPatterns {
		for _, kind := range []string{alike, varied} {
			for _, meanNs := range []float64{20e3, 140e3} {
				t.Run(fmt.Sprintf("%s/%s/%g µs", p.name, kind, meanNs/1e3), func(t *testing.T) {
					t.Parallel()
					var wrong, trusted int
					var off []float64
					for seed := range uint64(cases) {
						w := newTickless(seed, tickNs)
						m := New("tickless", w.source())
						w.seed(m)
						begun, sum := w.nowNs, 0.0
						n := int(60 * tickNs / meanNs)
						for i := range n {
							p.before(w, i, begun)
							ns := meanNs
							if kind == varied {
								ns *= w.rng.ExpFloat64()
							}
							sum += ns
							w.call(m, ns)
						}
						r, truth := m.Snapshot().Report(), sum/float64(n)
						off = append(off, r.Mean.Value/truth)
						if width := r.Mean.RelativeHalfWidth(); width > 0.05 && r.Verdict == stats.Trusted {
							t.Errorf("± %.0f %% is trusted", 100*width)
						}
						if butForWidth(r.Judgement) == stats.Trusted {
							trusted++
							// Half as far again as the interval reaches, which chance does in 1 of 300.
							if truth > r.Mean.Value+1.5*(r.Mean.Hi-r.Mean.Value) || truth < r.Mean.Value-1.5*(r.Mean.Value-r.Mean.Lo) {
								wrong++
							}
						}
					}
					slices.Sort(off)
					t.Logf("%d wrong of %d trusted, of %d; mean over truth %.2f (%.2f to %.2f)", wrong, trusted, cases, stats.Median(off), stats.Quantile(off, 0.1), stats.Quantile(off, 0.9))
					if wrong > 1 {
						t.Errorf("%d of %d trusted means are wrong", wrong, trusted)
					}
					if !p.idles && trusted < cases*8/10 {
						t.Errorf("only %d of %d are trusted where the kernel ticks", trusted, cases)
					}
				})
			}
		}
	}
}
