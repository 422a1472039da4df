package kbest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// varying is work whose own time varies.
type varying struct {
	name string
	// slowShare of the calls take times as long.
	slowShare float64
	// call says how many times the usual work call number i is.
	call func(rng *rand.Rand, i int, times float64) float64
	mean func(times float64) float64
}

func slowAtRandom(share float64) func(*rand.Rand, int, float64) float64 {
	return func(rng *rand.Rand, _ int, times float64) float64 {
		if rng.Float64() < share {
			return times
		}
		return 1
	}
}

func slowEvery(n int) func(*rand.Rand, int, float64) float64 {
	return func(_ *rand.Rand, i int, times float64) float64 {
		if i%n == 0 {
			return times
		}
		return 1
	}
}

func meanOfSlow(share float64) func(float64) float64 {
	return func(times float64) float64 { return 1 + share*(times-1) }
}

// The kinds of such work. A writer that flushes when its buffer is full is slow at each
// 16th or 64th call, a cache that has to look up what it lacks in one of 10 or 20.
var varyings = []varying{
	{"1 in 16", 1. / 16, slowEvery(16), meanOfSlow(1. / 16)},
	{"1 in 64", 1. / 64, slowEvery(64), meanOfSlow(1. / 64)},
	{"5 % at random", 0.05, slowAtRandom(0.05), meanOfSlow(0.05)},
	{"10 % at random", 0.1, slowAtRandom(0.1), meanOfSlow(0.1)},
	{"log-normal, 30 %", 1, func(rng *rand.Rand, _ int, _ float64) float64 { return math.Exp(0.3 * rng.NormFloat64()) }, func(float64) float64 { return math.Exp(0.3 * 0.3 / 2) }},
}

// varyingCase is such work on a random machine.
type varyingCase struct {
	varying
	measured
	times float64
}

func measureVarying(seed uint64) varyingCase {
	rng := rand.New(rand.NewPCG(seed, 9))
	c := randomCase(seed)
	c.load = []int{1, 4, 11}[rng.IntN(3)]
	c.sharing.Load, c.sharing.Speeds = c.load, nil
	c.truthNs = logUniform(rng, 100, 10e6)
	of := varyings[rng.IntN(len(varyings))]
	times := logUniform(rng, 1.1, 100)
	s := newSimulated(seed, c.sharing, c.quantumNs, c.costNs)
	plan, calls := DefaultPlan, 0
	plan.Seed = seed
	results, err := s.station.Measure(background, plan, Subject{Run: func(n int) {
		var sum float64
		for range n {
			calls++
			sum += of.call(rng, calls, times)
		}
		s.machine.Run(sum * c.truthNs)
	}})
	if err != nil {
		panic(err)
	}
	m := measured{trialCase: c, result: results[0], truth: c.truthNs * of.mean(times)}
	return varyingCase{of, m, times}
}

// wrong is a trusted value that is off the mean by more than its interval lets expect.
func (m measured) wrong() bool {
	off, half := math.Abs(m.result.Estimate.Value-m.truth), m.result.Estimate.HalfWidth()
	return m.result.Verdict == stats.Trusted && (off > 0.05*m.truth && off > 3*half || off > 0.01*m.truth && off > 2*half)
}

// slowSeen is how many slow calls are to be expected in the samples.
func (v varyingCase) slowSeen() float64 {
	return v.slowShare * float64(len(v.result.Samples)*v.result.Calls)
}

// Where the time of a function varies, what a call costs is its mean. The time of its
// fastest calls was trusted: 27.6 µs of a writer whose calls cost 140 µs on the whole, as
// each 64th of them flushed.
func TestVaryingWork(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := cases(60)
	all := make([]varyingCase, n)
	parallel(n, func(i int) { all[i] = measureVarying(uint64(i)) })
	type count struct{ n, usable, trusted, covered, mean, wrong, rare int }
	strata := map[string]*count{}
	for _, v := range all {
		for _, name := range []string{"all", v.name, fmt.Sprintf("load %d", v.load)} {
			if strata[name] == nil {
				strata[name] = &count{}
			}
			c, r := strata[name], v.result
			if c.n++; v.slowSeen() < 9 { // one in 8,000 cases holds none
				c.rare++
				continue
			}
			if v.wrong() {
				c.wrong++
			}
			if r.Verdict == stats.Unusable {
				continue
			}
			if c.usable++; r.Verdict == stats.Trusted {
				c.trusted++
			}
			if r.Estimate.Covers(v.truth) {
				c.covered++
			}
			if r.Estimate.Statistic == Mean {
				c.mean++
			}
		}
		if v.wrong() && v.slowSeen() >= 9 {
			t.Errorf("wrongly trusted: seed %d: %s, %.4g ns and %.3g times as long, on the whole %.4g at load %d: %+v, mean %+v of %d samples of %d calls", v.seed, v.name, v.truthNs, v.times, v.truth, v.load, v.result.Estimate, v.result.Mean, len(v.result.Samples), v.result.Calls)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		c := strata[name]
		t.Logf("%-24s %4d: %4d too rare, %4d usable, %4d trusted, %4d covered, %4d as the mean, %d wrongly trusted", name, c.n, c.rare, c.usable, c.trusted, c.covered, c.mean, c.wrong)
	}
	if c := strata["all"]; c.mean < n/3 || c.trusted < n/20 {
		t.Errorf("%d of %d are given as the mean, %d trusted: nothing is measured", c.mean, n, c.trusted)
	}
}

// A way that few of the calls take is part of what they cost: the value is the mean, not
// the K-th least, which bounds an undisturbed call only.
func TestMeanOfTwoWays(t *testing.T) {
	const truth = 3e6
	for seed := range uint64(20) {
		s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Timers: []clocktest.Timer{{PeriodNs: 1e6, Cost: clocktest.Above(3e3, 500, 0.3)}}}, 1, 10)
		calls := 0
		r := measureOne(t, s, Subject{Run: func(n int) {
			calls++
			s.machine.Run(truth * float64(n))
			if calls%4 != 0 {
				s.machine.Run(0.1 * truth * float64(n))
			}
		}})
		if r.Estimate.Statistic != Mean || !r.Estimate.Covers(1.075*truth) || r.Estimate.RelativeHalfWidth() > 0.02 || !says(r, "nothing tells whether the work itself varies") {
			t.Errorf("seed %d: %+v of %v, %v", seed, r.Estimate, 1.075*truth, r.Judgement)
		}
	}
}

// Slow calls are preempted more often than fast ones. What they take longer passed for the
// cost of being preempted and was taken off: 111 µs for 138 beside programs that wake up
// now and then.
func TestMeanBesideSwitches(t *testing.T) {
	const n, truth = 4, 40e3 * (1 + 40./16)
	offs := make([]float64, n)
	parallel(n, func(seed int) {
		s := newSimulated(uint64(seed), clocktest.Sharing{LookNs: 1000, Load: 2, SliceNs: 0.8e6, SliceJitter: 0.3, SwitchNs: clocktest.Constant(2e3)}, 1, 10)
		calls := 0
		results, err := s.station.Measure(background, DefaultPlan, Subject{Run: func(n int) {
			for range n {
				if calls++; calls%16 == 0 {
					s.machine.Run(40 * 40e3)
				}
				s.machine.Run(40e3)
			}
		}})
		if err != nil {
			panic(err)
		}
		offs[seed] = results[0].Mean.Value/truth - 1
	})
	if off := stats.Median(offs); math.Abs(off) > 0.015 {
		t.Errorf("the means are off by %.2g", offs)
	}
}

// A core changes its rate in more of the slow calls than of the fast ones. These were left
// out, so that the mean was that of the fast calls and of a few slow ones: 124 µs for 144.
func TestMeanOnAChangingCore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const n = 4
	offs := make([]float64, n)
	parallel(n, func(seed int) {
		s := newSimulated(uint64(seed), clocktest.Sharing{LookNs: 1000, Speeds: []float64{1, 1, 0.9}, SpeedDwellNs: 8e6}, 1, 10)
		calls := 0
		results, err := s.station.Measure(background, DefaultPlan, Subject{Run: func(n int) {
			for range n {
				if calls++; calls%16 == 0 {
					s.machine.Run(40 * 40e3)
				}
				s.machine.Run(40e3)
			}
		}})
		if err != nil {
			panic(err)
		}
		r, truth := results[0], 40e3*(1+40./16)*nominalHz/results[0].CoreHz
		if offs[seed] = r.Mean.Value/truth - 1; !r.Mean.Covers(truth) {
			t.Errorf("seed %d: %+v of %.0f, rejected %v", seed, r.Mean, truth, r.Rejected)
		}
	})
	if off := stats.Median(offs); math.Abs(off) > 0.015 {
		t.Errorf("the means are off by %.2g", offs)
	}
}

// One call in a thousand that takes 200 times as long is a sixth of the time. That the
// machine could have taken that by chance was enough to trust the time of the other calls.
func TestRareSlowCalls(t *testing.T) {
	for seed := range uint64(4) {
		s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Load: 2, SliceNs: 0.8e6, SliceJitter: 0.3, SwitchNs: clocktest.Constant(2e3)}, 1, 10)
		calls := 0
		r := measureOne(t, s, Subject{Run: func(n int) {
			for range n {
				if calls++; calls%1000 == 0 {
					s.machine.Run(200 * 10e3)
				}
				s.machine.Run(10e3)
			}
		}})
		if truth := 10e3 * 1.2; r.Verdict == stats.Trusted && !r.Estimate.Covers(truth) {
			t.Errorf("seed %d: %+v of %v is trusted, mean %+v", seed, r.Estimate, truth, r.Mean)
		}
	}
}

// A call that sleeps now and then costs its sleep too. It was taken for a turn of the Go
// scheduler and left out: 9.95 µs, trusted, for 20 on the whole.
func TestSleepsNowAndThen(t *testing.T) {
	s := quiet(22)
	calls := 0
	r := measureOne(t, s, Subject{Run: func(n int) {
		for range n {
			if calls++; calls%200 == 0 {
				s.scheduler.Block(2e6)
			}
			s.machine.Run(10e3)
		}
	}})
	if !says(r, "gave up its CPU now and then") {
		t.Errorf("%+v, %v", r.Estimate, r.Judgement)
	}
	if r := measureOne(t, s, s.yielding(30e6)); says(r, "gave up its CPU") {
		t.Errorf("the Go scheduler's turns are taken for sleep: %v", r.Judgement)
	}
}

// Where one call in ten takes twice as long, a call takes 10 % more than the fast ones.
func TestTenthTwiceAsLong(t *testing.T) {
	for i, ns := range []float64{40e3, 1e6, 5e6} {
		for seed := range uint64(2) {
			s := quiet(20 + seed)
			slow, rng := slowAtRandom(0.1), rand.New(rand.NewPCG(seed, uint64(i)))
			r := measureOne(t, s, Subject{Run: func(n int) {
				for range n {
					s.machine.Run(ns * slow(rng, 0, 2))
				}
			}})
			if r.Verdict == stats.Trusted && !r.Estimate.Covers(1.1*ns) {
				t.Errorf("%v ns, seed %d: %+v is trusted", ns, seed, r.Estimate)
			}
		}
	}
}

// Steady calls of milliseconds don't take up all of the time that they may.
func TestSteadyLongCallsEndEarly(t *testing.T) {
	for _, ns := range []float64{1e6, 5e6, 20e6} {
		s := quiet(21)
		r := measureOne(t, s, s.work(ns))
		var ranNs float64
		for i := range r.Samples {
			ranNs += r.Samples[i].spentNs()
		}
		if r.Verdict != stats.Trusted || ranNs > 0.7*float64(DefaultPlan.MaxTime) {
			t.Errorf("%v ns ran for %v ns in %d trials: %+v, %v", ns, ranNs, r.Trials, r.Estimate, r.Judgement)
		}
	}
}

// Slow calls that no neighbour of the core can cause are the work's own: where the mean is
// known well enough it is trusted.
func TestMeanOfSlowCalls(t *testing.T) {
	s := quiet(19)
	calls := 0
	r := measureOne(t, s, Subject{Run: func(n int) {
		for range n {
			if calls++; calls%16 == 0 {
				s.machine.Run(9 * 30e3)
			}
			s.machine.Run(30e3)
		}
	}})
	if truth := 30e3 * (1 + 9./16); r.Estimate.Statistic != Mean || !r.Estimate.Covers(truth) {
		t.Errorf("%+v of %v, %v", r.Estimate, truth, r.Judgement)
	}
}

// A cache that expires after a while is filled anew in more of the samples than of the time that they take, since it also
// expires between them: 1.28 µs ± 4 % was trusted where a call costs 1.174.
func TestWorkThatExpires(t *testing.T) {
	const ns, fillNs, ttlNs = 1024, 158 * 1024, 1.1e6
	for seed := range uint64(3) {
		s, filledNs := quiet(40+seed), 0.0
		expires := func(n int) {
			for range n {
				if s.machine.NowNs()-filledNs > ttlNs {
					s.machine.Run(fillNs)
					filledNs = s.machine.NowNs()
				}
				s.machine.Run(ns)
			}
		}
		if r, truth := measureOne(t, s, Subject{Run: expires}), ns+fillNs/(ttlNs/ns+1); r.Verdict == stats.Trusted && !r.Estimate.Covers(truth) || !says(r, "time that passes between calls") {
			t.Errorf("seed %d: %+v of %.4g: %v", seed, r.Estimate, truth, r.Judgement)
		}
	}
}

// What a call allocates is collected between the samples: the collector's part is told,
// where it can matter. It was left out, and the figure trusted.
func TestAllocationIsTold(t *testing.T) {
	for bytes, told := range map[int64]bool{0: false, 10: false, 64 << 10: true} {
		s := quiet(18)
		var allocated int64
		s.station.Allocated = func() int64 { return allocated }
		r := measureOne(t, s, Subject{Run: func(n int) {
			s.machine.Run(float64(n) * 28e3)
			allocated += int64(n) * bytes
		}})
		if says(r, "garbage collector") != told {
			t.Errorf("%d bytes a call: %v", bytes, r.Judgement)
		}
	}
	station, release, err := Here(background, Setting{})
	if err != nil {
		t.Skip(err)
	}
	defer release()
	var kept []byte
	subject := Subject{Run: func(n int) {
		for range n {
			kept = make([]byte, 1<<20)
		}
	}}
	if x := station.take(&subject, 3); x.Allocated < 3<<20 {
		t.Errorf("three calls that allocate %d bytes each are counted as %d", len(kept), x.Allocated)
	}
}

// rarely is work whose slow calls are rarer than the samples of some ten µs.
type rarely struct {
	name  string
	times float64
	slow  func(call int) bool
	share float64
}

var rarelies = []rarely{
	{"1 in 1,000", 50, func(call int) bool { return call%1000 == 0 }, 1e-3},
	{"1 in 1,000, far slower", 300, func(call int) bool { return call%1000 == 0 }, 1e-3},
	{"100 in a row of 2,000", 3, func(call int) bool { return call%2000 < 100 }, 0.05},
}

// rareCase measures such work beside the given number of loops, with calls of ns nanoseconds.
func (o rarely) measure(seed uint64, load int, ns float64, without func(*Station)) measured {
	c := trialCase{seed: seed, load: load, truthNs: ns * (1 + o.share*(o.times-1))}
	s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Load: load, SliceNs: 3e6, SliceJitter: 0.2, SwitchNs: clocktest.Constant(2e3),
		Timers: []clocktest.Timer{{PeriodNs: 4e6, Cost: clocktest.Above(5e3, 1e3, 0.3), Kernel: true}}}, 1, 10)
	without(s.station)
	calls, plan := int(seed)*731, DefaultPlan
	plan.Seed = seed
	results, err := s.station.Measure(background, plan, Subject{Run: func(n int) {
		for range n {
			if calls++; o.slow(calls) {
				s.machine.Run((o.times - 1) * ns)
			}
			s.machine.Run(ns)
		}
	}})
	if err != nil {
		panic(err)
	}
	return measured{trialCase: c, result: results[0], truth: c.truthNs}
}

// Slow calls that are rarer than the 512 samples of 30 µs were not among them in two of three
// cases, and the time of the others was trusted. A part of the samples has many calls.
func TestSlowCallsRarerThanSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const n = 6
	for _, o := range rarelies {
		for _, ns := range []float64{30e3} {
			var wrong, usable int
			all := make([]measured, n)
			parallel(n, func(i int) { all[i] = o.measure(uint64(i), 1+3*(i%2), ns, withAll) })
			for _, m := range all {
				if m.wrong() {
					wrong++
				}
				if m.result.Verdict != stats.Unusable {
					usable++
				}
				if calls := m.result.Timed; calls < 2000 || !slices.ContainsFunc(m.result.Caveats, func(c string) bool { return strings.Contains(c, fmt.Sprintf("1 in %d,", calls/3)) }) {
					t.Errorf("%s, %v ns: %d calls were timed: %q", o.name, ns, calls, m.result.Caveats)
				}
			}
			t.Logf("%s, %v ns: %d of %d wrongly trusted, %d usable", o.name, ns, wrong, n, usable)
			if wrong > 0 || usable < n/2 {
				t.Errorf("%s, %v ns: %d of %d wrongly trusted, %d usable; the first: %+v, mean %+v, %v", o.name, ns, wrong, n, usable, all[0].result.Estimate, all[0].result.Mean, all[0].result.Judgement)
			}
		}
	}
}

// Without surveys they are not seen.
func TestSlowCallsWithoutSurveys(t *testing.T) {
	wrong := 0
	for seed := range uint64(4) {
		if rarelies[0].measure(seed, 1, 30e3, func(s *Station) { s.off.surveys = true }).wrong() {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("slow calls that are rarer than the samples are seen without surveys: the test above shows nothing")
	}
}
