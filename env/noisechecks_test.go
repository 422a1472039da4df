package env

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"chronoscope/machine"
)

func look(watchedNs, share, worstNs float64) machine.Noise {
	return machine.Noise{WatchedNs: watchedNs, LostShare: share, LongestLossNs: worstNs, SwitchNs: math.NaN()}
}

// One long gap in a short trace says little of how often there is one.
func TestRareGapsAreUncertain(t *testing.T) {
	errorOf := func(n machine.Noise) [2]float64 {
		d := ChecksOf(n).Typical(10 * ms)
		return [2]float64{d.LessShare, d.MoreShare}
	}
	often, once, never := errorOf(look(50*ms, 0.02, 0.01*ms)), errorOf(look(50*ms, 0.02, 0.9*ms)), errorOf(machine.Noise{})
	if often[0] < 0.4*0.02 || often[1] != 0.4*0.02 || once != [2]float64{0.018, 0.018} || never != [2]float64{} {
		t.Errorf("%v, %v of one gap, and %v where nothing is known", often, once, never)
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
			var w NoiseChecks
			for range n {
				share := 0.001
				if rng.IntN(10) == 0 {
					share = 0.2
				}
				w.Add(look(25*ms, share, 0.001*ms))
			}
			d := w.Typical(c.ranNs)
			if share := d.LostShare; share-d.LessShare <= c.want && c.want <= share+d.MoreShare && share+d.MoreShare < c.most {
				held++
			}
		}
		if held < cases*93/100 {
			t.Errorf("runs of %g ms: %d of %d hold the share, %g", c.ranNs/ms, held, cases, c.want)
		}
	}
}

// The first look is made before the first run, and others now and then, on the CPU that the program gets. If it can't be
// had, the runs go on without.
func TestLooksOnceInAWhile(t *testing.T) {
	var spans []time.Duration
	w := &NoiseChecks{Watch: func(_ context.Context, span time.Duration) machine.Noise {
		spans = append(spans, span)
		return look(25*ms, 0.01, 0)
	}}
	first, second := w.Look(context.Background(), nil), w.Look(context.Background(), nil)
	if !first || second || len(spans) != 1 || spans[0] != firstLook || len(w.looks) != 1 {
		t.Errorf("looked %v and %v, for %v", first, second, spans)
	}
	w.next = time.Now()
	if w.Look(context.Background(), []int{1 << 20}) || len(spans) != 1 {
		t.Error("it looked at a CPU that is not there")
	}
	if new(NoiseChecks).Look(context.Background(), nil) {
		t.Error("nothing can look, and it did")
	}
}

// A CPU loses 8 %, and the only look of a short measurement saw 16: what is told holds the 8.
func TestOneLookSaysLittle(t *testing.T) {
	d := ChecksOf(look(50*ms, 0.16, 0.05*ms)).Typical(20 * ms)
	if share := d.LostShare; share-d.LessShare > 0.1 || share+d.MoreShare < 0.22 {
		t.Errorf("between %.3g and %.3g", share-d.LessShare, share+d.MoreShare)
	}
	var many NoiseChecks
	for range 40 {
		many.Add(look(25*ms, 0.16, 0.05*ms))
	}
	if d := many.Typical(20 * ms); d.LessShare > 0.01 {
		t.Errorf("after 40 equal looks: less by up to %.3g", d.LessShare)
	}
}

// Looks follow one another sooner in a burst. A CPU loses 5 % for 40 s, seen by 80 looks, and 20 % for 25 s, seen by 125:
// most runs lost 5 %.
func TestDenseLooksCountForLess(t *testing.T) {
	var w NoiseChecks
	for range 80 {
		w.add(look(25*ms, 0.05, 0.05*ms), 500*ms)
	}
	for range 125 {
		w.add(look(25*ms, 0.2, 0.05*ms), 200*ms)
	}
	if share := w.Typical(20 * ms).LostShare; share != 0.05 {
		t.Errorf("a typical run lost %.3g", share)
	}
}

// Small differences on an idle machine are not worth more looks; a third of looks that saw four times as much is.
func TestDifferencesThatMatter(t *testing.T) {
	for _, c := range []struct {
		often, now float64
		want       bool
	}{{0.0005, 0.002, false}, {0.05, 0.2, true}, {0.05, 0.051, false}} {
		var w NoiseChecks
		for i := range 10 {
			share := c.often
			if i%3 == 1 {
				share = c.now
			}
			w.Add(look(25*ms, share, 0.05*ms))
		}
		if got := w.differ(); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
}
