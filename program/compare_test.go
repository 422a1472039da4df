package program

import (
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/process"
	"chronoscope/stats"
)

// rounds are two programs run in turn. The second takes ratio times as long. They run on a machine
// that is slowed by up to a third; drift is by how much that changes from round to round. of
// disturbs one run.
func rounds(seed uint64, n int, ratio, drift float64, of func(*rand.Rand) float64) (a, b *Result) {
	rng := rand.New(rand.NewPCG(seed, 3))
	a, b = &Result{Judgement: stats.NewJudgement()}, &Result{Judgement: stats.NewJudgement()}
	slow := rng.Float64()
	for round := range n {
		slow = math.Abs(math.Remainder(slow+drift*rng.NormFloat64(), 2))
		for r, times := range map[*Result]float64{a: 1, b: ratio} {
			lost := of(rng)
			ns := 10e6 * times * (1 + slow/3) * (1 + lost)
			run := Run{LowNs: 0.9995 * ns, HighNs: 1.0005 * ns}
			if lost > 0.1 { // how much of the time was lost is not known
				run.LowNs /= 1 + 1.2*lost
			}
			r.Runs, r.rounds = append(r.Runs, run), append(r.rounds, round)
		}
	}
	return a, b
}

func idle(rng *rand.Rand) float64 { return 0.01 * math.Abs(rng.NormFloat64()) }

// bursty runs are hit by a neighbour that comes and goes, one in three by up to a half.
func bursty(rng *rand.Rand) float64 {
	if rng.IntN(3) == 0 {
		return 0.5 * rng.Float64()
	}
	return idle(rng)
}

// A difference of 2 % beside a drift of 30 % shows in the pairs alone: the runs of both were
// tested by their ranks as if they were not paired, and it was undecided.
func TestRoundsArePairs(t *testing.T) {
	for seed := range uint64(20) {
		a, b := rounds(seed, 60, 1.02, 0.1, idle)
		if c := Compare(a, b, 0.002, seed); c.Outcome != stats.Slower {
			t.Errorf("seed %d: %s, p = %.3g, ratio %+v", seed, c.Outcome, c.P, c.Ratio)
		}
	}
}

// Two equal programs of 10 ms, for 30 s.
func TestEqualPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for name, c := range map[string]struct {
		of    func(*rand.Rand) float64
		width float64
	}{"idle": {idle, 0.005}, "bursty": {bursty, 0.01}} {
		covered, told := 0, 0
		var widths []float64
		for seed := range uint64(100) {
			a, b := rounds(seed, 1400, 1, 0.01, c.of)
			got := Compare(a, b, 0.01, seed)
			widths = append(widths, got.Ratio.RelativeHalfWidth())
			if got.Ratio.Covers(1) {
				covered++
			}
			if got.Outcome == stats.Slower || got.Outcome == stats.Faster {
				told++
			}
		}
		t.Logf("%s: %d of 100 cover 1, %d told apart, half-width %.2g %%", name, covered, told, 100*stats.Median(widths))
		if width := stats.Median(widths); covered < 91 || told > 0 || width > c.width {
			t.Errorf("%s: %d of 100 cover 1, %d are told apart, half-width %.2g %%, want 91, 0 and %.2g %%", name, covered, told, 100*width, 100*c.width)
		}
	}
}

// Two programs that began with cold caches in nearly all runs, which lengthened one by more than the other: the pairs say
// 1.254, which is the ratio as measured, and the truth is 1.14. The same program twice is lengthened alike.
func TestRatioOfColdStarts(t *testing.T) {
	of := func(path string, ns float64) *Result {
		s := series{probed: true, peakOfAll: 1.6e6, command: Command{Command: process.Command{Path: path}}}
		return s.concluded(80, func(i int) Run {
			run := keptFor(ns/ms, 0)
			run.startKeptNs = 12 * ms
			return run
		})
	}
	c := Compare(of("chain", 0.87*ms), of("grep", 1.09*ms), 0.01, 1)
	if !c.Ratio.Covers(1.14) {
		t.Errorf("ratio of two programs: %+v", c.Ratio)
	}
	if m := c.Pair(1).AsMeasured; m == nil || !m.Covers(1.09/0.87) || m.RelativeHalfWidth() > 0.01 {
		t.Errorf("ratio of two programs as measured: %+v", m)
	}
	c = Compare(of("grep", 1.09*ms), of("grep", 1.09*ms), 0.01, 1)
	if !c.Ratio.Covers(1) || c.Ratio.RelativeHalfWidth() > 0.01 || c.Pair(1).AsMeasured != nil {
		t.Errorf("ratio of a program to itself: %+v", c.Ratio)
	}
}

// Two programs of 10 ms that something on their core slows by 30 and by 10 %, or one of them by 9 %. Where the other runs
// are enough, the slowed ones are in no pair; where they are too few, the ratio holds what sharing may have cost.
func TestRatioOnSharedCores(t *testing.T) {
	of := func(path string, slows float64, shared int) *Result {
		s := series{probed: true, command: Command{Command: process.Command{Path: path}}}
		return s.concluded(60, func(i int) Run {
			if i%60 >= shared {
				run := keptFor(10+0.001*float64(i%7), 0)
				run.slowedBefore, run.slowedAfter = 0.01, 0.01
				return run
			}
			run := keptFor(10*(1+slows), 0)
			run.slowedBefore, run.slowedAfter = 0.6, 0.6
			return run
		})
	}
	for name, c := range map[string]struct {
		a, b   float64
		shared int
		most   float64 // half-width
	}{"most are enough": {0.3, 0.1, 36, 0.01}, "few are left": {0.09, 0, 58, 0.5}} {
		got := Compare(of("a", c.a, c.shared), of("b", c.b, c.shared), 0.01, 1)
		if !got.Ratio.Covers(1) || got.Ratio.RelativeHalfWidth() > c.most || got.Outcome == stats.Faster || got.Outcome == stats.Slower {
			t.Errorf("%s: %v, %+v", name, got.Outcome, got.Ratio)
		}
	}
}
