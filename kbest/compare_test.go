package kbest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// compared is one random machine with two subjects, and what came of them.
type compared struct {
	seed       uint64
	a, ratio   float64 // ns, and the true ratio of b to it
	load       int
	comparison *Comparison
}

// compareRandom measures two subjects in turn on a random machine. Every third pair
// is of equal subjects.
func compareRandom(seed uint64) compared {
	rng := rand.New(rand.NewPCG(seed, 0xc0))
	c := randomCase(seed)
	s := newSimulated(seed, c.sharing, c.quantumNs, c.costNs)
	x := compared{seed: seed, a: logUniform(rng, 50, 100e6), ratio: 1, load: c.load}
	switch rng.IntN(3) {
	case 0:
		x.ratio = 1 + 0.05*(2*rng.Float64()-1)
	case 1:
		x.ratio = logUniform(rng, 0.1, 10)
	}
	plan := DefaultPlan
	plan.Seed, plan.MaxTime, plan.MaxTrials = seed, 200*time.Millisecond, 256
	results, err := s.station.Measure(background, plan, s.work(x.a), s.work(x.a*x.ratio))
	if err != nil {
		panic(err)
	}
	if x.comparison, err = Compare(results[0], results[1], 0.01); err != nil {
		panic(err)
	}
	return x
}

// The ratio's interval covers, at loads from 1 to 11, and equal subjects are seldom
// called different.
func TestRatiosOnRandomMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := cases(60)
	all := make([]compared, n)
	parallel(n, func(i int) { all[i] = compareRandom(uint64(i)) })
	type count struct {
		n, covered, decided, same, wrong, significant int
		widths                                        []float64
	}
	strata := map[string]*count{}
	for _, x := range all {
		names := []string{"all", "load 1"}
		if x.load > 1 {
			names[1] = "loaded"
		}
		switch {
		case x.ratio == 1:
			names = append(names, "equal")
		case math.Abs(x.ratio-1) < 0.05:
			names = append(names, "close")
		}
		for _, name := range names {
			if strata[name] == nil {
				strata[name] = &count{}
			}
			s, c := strata[name], x.comparison
			if math.IsNaN(c.Ratio.Value) || c.Verdict == stats.Unusable {
				continue
			}
			s.n++
			s.widths = append(s.widths, c.Ratio.RelativeHalfWidth())
			if c.Ratio.Covers(x.ratio) {
				s.covered++
			}
			switch c.Outcome {
			case stats.Same:
				s.same++
			case stats.Faster, stats.Slower:
				s.decided++
				if (c.Outcome == stats.Faster) != (x.ratio < 1) || x.ratio == 1 {
					s.wrong++
				}
			}
			if c.P < 0.05 {
				s.significant++
			}
		}
	}
	for name, s := range strata {
		t.Logf("%-7s %3d: %3d covered, median half-width %.2g %%; %d faster or slower, %d of them wrongly; %d same; %d with P < 0.05",
			name, s.n, s.covered, 100*quantile(s.widths, 0.5), s.decided, s.wrong, s.same, s.significant)
		if s.covered < atLeast(s.n) {
			t.Errorf("%s: %d of %d intervals cover, want %d", name, s.covered, s.n, atLeast(s.n))
		}
		if float64(s.wrong) > 0.05*float64(s.n) {
			t.Errorf("%s: %d of %d called faster or slower wrongly", name, s.wrong, s.n)
		}
	}
	if s := strata["equal"]; s.n < n/4 || s.same < s.n/3 {
		t.Errorf("of %d equal pairs %d are called the same", s.n, s.same)
	}
	if s := strata["close"]; s.decided < s.n/4 {
		t.Errorf("of %d pairs within 5 %% of one another %d are told apart", s.n, s.decided)
	}
}

// What is common to both cancels: a clock whose rate is off by up to 2 %, as it says,
// leaves the ratio as it is.
func TestRatioOfCommonErrors(t *testing.T) {
	s := quiet(21)
	tick := s.station.Clock.TickNs.Value
	s.station.Clock.TickNs.Lo, s.station.Clock.TickNs.Hi = 0.98*tick, 1.02*tick
	results, err := s.station.Measure(background, DefaultPlan, s.work(1e4), s.work(1.01e4))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(results[0], results[1], 0)
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Estimate.RelativeHalfWidth() < 0.02 || c.Ratio.RelativeHalfWidth() > 0.002 || !c.Ratio.Covers(1.01) || c.Outcome != stats.Slower {
		t.Errorf("ratio %+v, %v, of %+v and %+v", c.Ratio, c.Outcome, results[0].Estimate, results[1].Estimate)
	}
}

// Only rounds in which both were measured make pairs.
func TestRoundsOfBoth(t *testing.T) {
	n := cases(10)
	covered := 0
	plan := DefaultPlan
	plan.Precision = 1e-4 // so that the shorter work gets more trials
	for seed := range uint64(n) {
		s := quiet(24 + seed)
		results, err := s.station.Measure(background, plan, s.work(1e3), s.work(2e8))
		if err != nil {
			t.Fatal(err)
		}
		a, b := results[0], results[1]
		c, err := Compare(a, b, 0)
		if err != nil || a.Trials == b.Trials || c.Rounds != min(a.Trials, b.Trials) {
			t.Fatalf("%d and %d trials: %+v, %v", a.Trials, b.Trials, c, err)
		}
		if c.Ratio.Covers(2e5) {
			covered++
		}
	}
	if covered < atLeast(n) {
		t.Errorf("%d of %d ratios are covered, want %d", covered, n, atLeast(n))
	}
}

// Results of two measurements can be compared too, with what each knows.
func TestCompareApart(t *testing.T) {
	s, u := quiet(22), quiet(23)
	a, b := measureOne(t, s, s.work(1e3)), measureOne(t, u, u.work(2e3))
	c, err := Compare(a, b, 0.01)
	if err != nil || c.Rounds != 0 || c.Outcome != stats.Slower || !c.Ratio.Covers(2) || !(c.P < 0.01) {
		t.Errorf("%+v, %v", c, err)
	}
	if c.Ratio.Lo > b.Estimate.Lo/a.Estimate.Hi {
		t.Errorf("a ratio of %+v knows more than %+v and %+v", c.Ratio, a.Estimate, b.Estimate)
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		lo, hi, p float64
		want      stats.Outcome
	}{
		{0.8, 0.9, 0.01, stats.Faster},
		{1.1, 1.2, 0.01, stats.Slower},
		{0.8, 0.9, 0.06, stats.Undecided}, // could be chance
		{0.9, 1.1, 0.01, stats.Undecided},
		{0.995, 1.005, 0.9, stats.Same},
		{1.004, 1.006, 0.001, stats.Same}, // different, and it does not matter
		{1.004, 1.02, 0.001, stats.Slower},
		{math.NaN(), math.NaN(), math.NaN(), stats.Undecided},
	} {
		if got := stats.OutcomeOf(stats.Estimate{Lo: c.lo, Hi: c.hi}, c.p, 0.01); got != c.want {
			t.Errorf("[%v, %v], P = %v: %s, want %s", c.lo, c.hi, c.p, got, c.want)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{}, 1, 10)
	r := measureOne(t, s, s.work(1e3))
	for want, compare := range map[string]func() (*Comparison, error){
		"needs two results": func() (*Comparison, error) { return Compare(r, &Result{}, 0) },
		"choose a share":    func() (*Comparison, error) { return Compare(r, r, -1) },
	} {
		if _, err := compare(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one that says %q", err, want)
		}
	}
}

// Two equal functions of 3 ms beside a bursty neighbour: of some pairs, the samples of one that kept their CPU each hold
// an interruption, and the corrected samples of the other don't.
func TestRatiosWhereChoicesOfSamplesDisagree(t *testing.T) {
	for _, name := range []string{"xeon-bursty", "turin-quiet"} {
		ratiosHold(t, name, 3e6, 3e6, 0.02)
	}
}

// A function of 50 µs is measured in turn with one of 100 ms: there are eight samples of the long one, and hundreds of the
// short one.
func TestRatiosOfShortAndLong(t *testing.T) {
	for _, name := range []string{"xeon-bursty", "turin-quiet", "turin-bursty"} {
		ratiosHold(t, name, 50e3, 100e6, 0.04)
	}
}

// The first samples of a function of 50 µs take 2 % longer, and there are only eight samples of the one of 100 ms that is
// measured in turn with it. The others of the short one count, too.
func TestRatioOfAFunctionThatBeginsSlowly(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{}, 1, 10)
	short, runs := s.work(50e3), 0
	short.Run = func(n int) {
		if runs++; runs <= 40 {
			s.machine.Run(0.02 * float64(n) * 50e3)
		}
		s.machine.Run(float64(n) * 50e3)
	}
	results, err := s.station.Measure(background, DefaultPlan, short, s.work(100e6))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Compare(results[0], results[1], 0.01); err != nil || !c.Ratio.Covers(2000) || c.Ratio.RelativeHalfWidth() > 0.02 {
		t.Errorf("%v: %+v", err, c.Ratio)
	}
}

// ratiosHold compares functions of known times on a recorded machine. The intervals have to hold the true ratio and to be
// no wider than widest, in the median.
func ratiosHold(t *testing.T, name string, firstNs, secondNs, widest float64) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	all := recorded(t)
	r := all[slices.IndexFunc(all, func(r clocktest.Recording) bool { return r.Name == name })]
	n := cases(32)
	ratios := make([]stats.Estimate, n)
	parallel(n, func(i int) {
		s := newSimulated(uint64(i), clocktest.Sharing{LookNs: 1500, Recorded: &r}, 1, 10)
		plan := DefaultPlan
		plan.Seed = uint64(i)
		results, err := s.station.Measure(background, plan, s.work(firstNs), s.work(secondNs))
		if err != nil {
			panic(err)
		}
		c, err := Compare(results[0], results[1], 0.01)
		if err != nil {
			panic(err)
		}
		ratios[i] = c.Ratio.Scaled(firstNs/secondNs, "")
	})
	held := 0
	var widths, off []float64
	for _, e := range ratios {
		if e.Covers(1) {
			held++
		}
		widths, off = append(widths, e.RelativeHalfWidth()), append(off, e.Value-1)
	}
	said := fmt.Sprintf("%s: %d of %d hold the ratio, half-width %.2g %%, off by %.2g %%", name, held, n, 100*stats.Median(widths), 100*stats.Median(off))
	if t.Log(said); held < atLeast(n) || stats.Median(widths) > widest {
		t.Error(said)
	}
}
