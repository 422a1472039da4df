package program

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"chronoscope/machine"
)

func look(watchedNs, share, worstNs float64) machine.Noise {
	return machine.Noise{WatchedNs: watchedNs, IrregularShare: share, IrregularWorstNs: worstNs, SwitchNs: math.NaN()}
}

// One long gap in a short trace says little of how often there is one.
func TestRareGapsAreUncertain(t *testing.T) {
	errorOf := func(n machine.Noise) [2]float64 {
		d := newNoiseChecks(Setting{Noise: n}).typical(10 * ms)
		return [2]float64{d.lessShare, d.moreShare}
	}
	often, once, never := errorOf(look(50*ms, 0.02, 0.01*ms)), errorOf(look(50*ms, 0.02, 0.9*ms)), errorOf(machine.Noise{})
	if often[0] < 0.4*0.02 || often[1] != machine.NoiseError*0.02 || once != [2]float64{0.018, 0.018} || never != [2]float64{} {
		t.Errorf("%v, %v of one gap, and %v where nothing is known", often, once, never)
	}
}

// Interrupts come 350 times a second and take 30 µs each. A run of 1 ms mostly has none: the median of a Poisson
// distribution is 0 up to a mean of ln 2, which is 1.98 ms here, and then up to 1/3 above its mean.
func TestMedianOfFewInterrupts(t *testing.T) {
	const perSecond, eachNs = 350, 30e3
	noise := machine.Noise{WatchedNs: 1e9, IrregularShare: perSecond * eachNs / 1e9, IrregularPerSecond: perSecond, SwitchNs: math.NaN()}
	for _, c := range []struct{ ranNs, want float64 }{{1e6, 0}, {1.9e6, 0}, {2.1e6, eachNs / 3}, {10e6, eachNs / 3}} {
		r := Run{grossLowNs: c.ranNs, grossHighNs: c.ranNs}
		r.UserNs = int64(c.ranNs)
		r.takeOffDisturbance(disturbance{Noise: noise}, 0)
		if math.Abs(r.slackNs-c.want) > 1 {
			t.Errorf("%g ns: the time may be less by %g ns, want %g", c.ranNs, r.slackNs, c.want)
		}
	}
}

// Interrupts take 0.1 % most of the time and 20 % in one look of ten. A typical short run loses 0.1 %, and a typical
// long one the mean, 2.1 %: what is told holds both, however few looks saw much.
func TestSharesDifferFromLookToLook(t *testing.T) {
	const cases, n = 400, 40
	for _, c := range []struct{ ranNs, want, most float64 }{{10 * ms, 0.001, 0.0015}, {2000 * ms, 0.9*0.001 + 0.1*0.2, 0.1}} {
		rng := rand.New(rand.NewPCG(1, 2))
		held := 0
		for range cases {
			var w noiseChecks
			for range n {
				share := 0.001
				if rng.IntN(10) == 0 {
					share = 0.2
				}
				w.add(look(25*ms, share, 0.001*ms))
			}
			d := w.typical(c.ranNs)
			if share := d.ShareLost(); share-d.lessShare <= c.want && c.want <= share+d.moreShare && share+d.moreShare < c.most {
				held++
			}
		}
		if held < cases*93/100 {
			t.Errorf("runs of %g ms: %d of %d hold the share, %g", c.ranNs/ms, held, cases, c.want)
		}
	}
}

// It is looked before the first run, and not before every run after that, on the CPU that
// the program gets; where that can't be had the runs go on without.
func TestLooksOnceInAWhile(t *testing.T) {
	var spans []time.Duration
	w := newNoiseChecks(Setting{Watch: func(_ context.Context, span time.Duration) machine.Noise {
		spans = append(spans, span)
		return look(25*ms, 0.01, 0)
	}})
	first, second := w.look(background, nil), w.look(background, nil)
	if !first || second || len(spans) != 1 || spans[0] != firstLook || len(w.looks) != 1 {
		t.Errorf("looked %v and %v, for %v", first, second, spans)
	}
	w.next = time.Now()
	if w.look(background, []int{1 << 20}) || len(spans) != 1 {
		t.Error("it looked at a CPU that is not there")
	}
	if newNoiseChecks(Setting{}).look(background, nil) {
		t.Error("nothing can look, and it did")
	}
}
