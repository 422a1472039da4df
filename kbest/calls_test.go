package kbest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// callsOf times calls whose lengths are drawn, on a simulated machine, and gives these in order.
func callsOf(t *testing.T, s *simulated, plan CallsPlan, draw func() float64) (*Calls, []float64) {
	t.Helper()
	var truth []float64
	c, err := s.station.Calls(background, plan, Subject{Name: "work", Run: func(int) {
		ns := draw()
		truth = append(truth, ns)
		s.machine.Run(ns)
	}})
	if err != nil {
		t.Fatal(err)
	}
	truth = truth[1:] // the first is not kept
	slices.Sort(truth)
	return c, truth
}

// The percentiles of the calls by themselves are covered, on what CPUs of two real machines lost, and
// their intervals are no wider than that of the calls as they were and what was lost.
func TestCallsOnReplayedNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	plan, trials := CallsPlan{Calls: 4000}, cases(8)
	for _, r := range recorded(t) {
		var covered, known, all [4]int
		var width, off, sorted [4]float64
		results, quantiles := make([]*Calls, trials), make([]func(p float64) float64, trials)
		parallel(trials, func(trial int) {
			random := rand.New(rand.NewPCG(uint64(trial), 23))
			s := newSimulated(uint64(trial), clocktest.Sharing{LookNs: 1500, Recorded: &r}, 1, 10)
			median := logUniform(random, 2e3, 1e6)
			quantile := func(p float64) float64 { return median * math.Exp(0.4*stdNormal(p)) }
			results[trial], _ = callsOf(t, s, plan, func() float64 { return quantile(random.Float64()) })
			quantiles[trial] = quantile
		})
		for trial, c := range results {
			quantile := quantiles[trial]
			for i, e := range c.Undisturbed.Percentiles {
				if math.IsNaN(e.Value) {
					continue
				}
				known[i]++
				off[i] += e.Value/quantile(stats.TailPercentiles[i]) - 1
				sorted[i] += c.All.Percentiles[i].Value/quantile(stats.TailPercentiles[i]) - 1
				width[i] += (e.Hi - e.Lo) / quantile(stats.TailPercentiles[i])
				if e.Covers(quantile(stats.TailPercentiles[i])) {
					covered[i]++
				}
				if c.All.Percentiles[i].Covers(quantile(stats.TailPercentiles[i])) {
					all[i]++
				}
			}
		}
		for i, n := range known {
			if covered[i] < atLeast(n)-1 {
				t.Errorf("%s: p %v: %d of %d cover", r.Name, stats.TailPercentiles[i], covered[i], n)
			}
			width[i], off[i], sorted[i] = width[i]/float64(n), off[i]/float64(n), sorted[i]/float64(n)
		}
		t.Logf("%-12s by themselves %v of %v, width %.2f, bias %+.3f; as they were %v, bias %+.3f", r.Name, covered, known, width, off, all, sorted)
	}
}

// stdNormal is the p-quantile of the normal distribution.
func stdNormal(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Beside three loops a call of 1 ms that loses its CPU takes up to 13 ms by the clock: the tail shows it,
// the calls are marked, and the tail without what others took does not have it.
func TestCallsThatLoseTheirCPU(t *testing.T) {
	s := newSimulated(3, clocktest.Sharing{Load: 4, SliceNs: 3e6, LookNs: 1500, SwitchNs: clocktest.Jittered(2e3, 0.1)}, 1, 10)
	c, _ := callsOf(t, s, CallsPlan{Calls: 1000}, func() float64 { return 1e6 })
	if c.Marked[Preempted] < 100 {
		t.Errorf("marked: %v of 1,000 calls", c.Marked)
	}
	as, alone := c.All.Percentiles[2], c.Undisturbed.Percentiles[2]
	if as.Value < 5e6 || alone.Value > 1.1e6 || !alone.Covers(1e6) {
		t.Errorf("p99 %v as they were, %v by themselves", as, alone)
	}
}

// A call of 25 µs that sleeps for 10 ms beside another thread waits for the CPU when it wakes up. Such calls were taken for
// preempted ones, and corrected by their CPU time: 25 µs were trusted for 10 ms.
func TestCallsThatBlock(t *testing.T) {
	const truth = 10.025e6
	s := newSimulated(4, clocktest.Sharing{Load: 2, SliceNs: 0.5e6, LookNs: 1500}, 1, 10)
	c, _ := callsOf(t, s, CallsPlan{Calls: 400}, func() float64 {
		s.scheduler.Block(10e6)
		return 25e3
	})
	for i, e := range c.Undisturbed.Known() {
		if !e.Covers(truth) || e.Lo < 0.9*truth {
			t.Errorf("%v of calls of 10.025 ms", e)
		}
		if as := c.All.Percentiles[i]; as.Value < truth+100e3 {
			t.Errorf("the calls did not wait for the CPU: %v", as)
		}
	}
	if c.Blocked != 400 || c.Verdict != stats.Suspect || !strings.Contains(fmt.Sprint(c.Reasons), "400 of 400 calls gave up their CPU") {
		t.Errorf("%d blocked: %s %q", c.Blocked, c.Verdict, c.Reasons)
	}
}

// The Go scheduler stops the thread every 10 ms, for longer than a call of 20 µs: the calls that it hits did not block.
// At the end of a stop it waits for the CPU for 2 µs.
func TestCallsThatAreStopped(t *testing.T) {
	s := newSimulated(5, clocktest.Sharing{LookNs: 1500}, 1, 10)
	use, waitedNs := s.station.Use, int64(0)
	s.station.Use = func() (machine.ThreadUse, error) {
		u, err := use()
		u.WaitNs += waitedNs
		return u, err
	}
	ranNs := 0.0
	c, _ := callsOf(t, s, DefaultCalls, func() float64 {
		if ranNs += 20e3; ranNs >= 10e6 {
			ranNs, waitedNs = 0, waitedNs+2e3
			s.scheduler.Block(30e3)
		}
		return 20e3
	})
	e, as := c.Undisturbed.Percentiles[3], c.All.Percentiles[3]
	if !e.Covers(20e3) || e.Hi > 25e3 || as.Value < 45e3 {
		t.Errorf("p99.9 %v of calls of 20 µs, as they were %v", e, as)
	}
	if c.Blocked > 0 || c.Marked[Stopped] < 7 || c.Verdict != stats.Trusted {
		t.Errorf("%d blocked, marked %v, %s %q", c.Blocked, c.Marked, c.Verdict, c.Reasons)
	}
}

// One call in fifty waits for 0.4 ms, which is too short and too rare to tell from stops by the scheduler. Without the wait the
// 99th percentile was 1 ms, and trusted.
func TestShortRareBlocks(t *testing.T) {
	s := newSimulated(5, clocktest.Sharing{LookNs: 1500}, 1, 10)
	made := 0
	c, _ := callsOf(t, s, CallsPlan{Calls: 1000}, func() float64 {
		if made++; made%50 == 0 {
			s.scheduler.Block(0.4e6)
		}
		return 1e6
	})
	if c.Blocked > 0 || c.Verdict != stats.Suspect || !strings.Contains(fmt.Sprint(c.Reasons), "20 of 1000 calls gave up their CPU for a short while") {
		t.Errorf("%d blocked, marked %v, %s %q", c.Blocked, c.Marked, c.Verdict, c.Reasons)
	}
}

// Collections are kept out of the calls, so that a handler's p99 lacks what the collector takes. It was trusted. The collector
// takes at most 1 ns a byte, and 1 % of 28 µs is 280 ns. What looks and the setting up of calls allocate is not the calls'.
func TestCallsThatAllocate(t *testing.T) {
	for _, c := range []struct {
		bytes, setUp int64
		want         stats.Verdict
	}{
		{0, 0, stats.Trusted}, {10, 0, stats.Trusted}, {200, 0, stats.Trusted}, {400, 0, stats.Suspect}, {64 << 10, 0, stats.Suspect},
		{10, 64 << 10, stats.Trusted}, {400, 64 << 10, stats.Suspect},
	} {
		s := newSimulated(5, clocktest.Sharing{LookNs: 1500}, 1, 10)
		var allocated int64
		reads, calls := 0, 0
		s.station.Allocated = func() int64 { reads++; return allocated }
		spin := s.station.Spin
		s.station.Spin = func() { allocated += 1 << 10; spin() }
		subject := Subject{Run: func(int) {
			allocated += c.bytes
			calls++
			s.machine.Run(28e3)
		}}
		if c.setUp > 0 {
			subject.Setup = func(int) { allocated += c.setUp }
		}
		r, err := s.station.Calls(background, CallsPlan{Calls: 400}, subject)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.want || strings.Contains(fmt.Sprint(r.Reasons), "garbage collector") != (c.want == stats.Suspect) {
			t.Errorf("%+v: %s %q", c, r.Verdict, r.Reasons)
		}
		if c.setUp == 0 && reads > calls/4 {
			t.Errorf("%+v: the allocated bytes were read %d times around %d calls", c, reads, calls)
		}
	}
}

// Calls makes no call beyond those it was asked for and the first: a subject may take its inputs one by one.
func TestNumberOfCalls(t *testing.T) {
	for _, bytes := range []int64{0, 1 << 10} {
		s := newSimulated(5, clocktest.Sharing{LookNs: 1500}, 1, 10)
		var allocated, calls int64
		s.station.Allocated = func() int64 { return allocated }
		if _, err := s.station.Calls(background, CallsPlan{Calls: 400}, Subject{Run: func(n int) {
			allocated, calls = allocated+int64(n)*bytes, calls+int64(n)
			s.machine.Run(5e3 * float64(n))
		}}); err != nil || calls != 401 {
			t.Errorf("%d bytes: %d calls, %v", bytes, calls, err)
		}
	}
}

// A stretch that is longer than a look, or than all of them, loses as much in proportion as the looks did.
func TestLossesOfLongCalls(t *testing.T) {
	var l looks
	for range 3 {
		one := look{}
		for range 20 {
			one.add(1e6, 10e3)
		}
		l.all, l.ranNs, l.lostNs = append(l.all, one), l.ranNs+one.ranNs, l.lostNs+one.total()
	}
	for _, ns := range []float64{5e6, 20e6, 50e6, 100e6} {
		losses, want := l.within(ns), ns/100
		if len(losses) < mostStretches || losses[0] < want-10e3 || losses[len(losses)-1] > want+10e3 {
			t.Errorf("%v ns: %d losses of %v to %v ns, want %v", ns, len(losses), losses[0], losses[len(losses)-1], want)
		}
	}
}

// Calls that are longer than a look: only the loss of one look was taken off, so that calls of 60 to 150 ms were taken
// for longer than they were. On milan-load4, whose switches come with losses of 44 µs each, looks see a
// third of what the calls lose, so that they are not trusted.
func TestLongCallsOnReplayedNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	all, n := recorded(t), cases(3)
	covered, known, trusted := make([]int, len(all)*n), make([]int, len(all)*n), make([]int, len(all)*n)
	parallel(len(all)*n, func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), 29))
		s := newSimulated(uint64(i), clocktest.Sharing{LookNs: 1500, Recorded: &all[i%len(all)]}, 1, 10)
		ns := logUniform(random, 60e6, 150e6)
		c, _ := callsOf(t, s, CallsPlan{Calls: 100}, func() float64 { return ns })
		for _, e := range c.Undisturbed.Known() {
			known[i]++
			if e.Covers(ns) {
				covered[i]++
			}
		}
		if c.Verdict == stats.Trusted {
			trusted[i]++
		}
	})
	for i, r := range all {
		hit, of, sure := 0, 0, 0
		for k := i; k < len(known); k += len(all) {
			hit, of, sure = hit+covered[k], of+known[k], sure+trusted[k]
		}
		t.Logf("%s: %d of %d cover, %d of %d trusted", r.Name, hit, of, sure, n)
		if of == 0 || sure > 0 && hit < atLeast(of) {
			t.Errorf("%s: %d of %d cover, %d of %d trusted", r.Name, hit, of, sure, n)
		}
	}
}

// Of fewer than six calls no percentile is known. The verdict was trusted, whatever the clock tells apart.
func TestTooFewCalls(t *testing.T) {
	for _, c := range []struct {
		quantumNs, ns float64
		coarse        bool
	}{{1, 1e3, false}, {100, 60, true}} {
		s := newSimulated(1, clocktest.Sharing{LookNs: 1500}, c.quantumNs, 10)
		got, _ := callsOf(t, s, CallsPlan{Calls: 5}, func() float64 { return c.ns })
		reasons := fmt.Sprint(got.Reasons)
		if got.Verdict != stats.Unusable || !strings.Contains(reasons, "5 calls are not enough") || strings.Contains(reasons, "tells single calls apart") != c.coarse {
			t.Errorf("%v ns by a clock of %v ns: %s %q", c.ns, c.quantumNs, got.Verdict, got.Reasons)
		}
	}
}

// Without any call nothing is known. It was a panic.
func TestNoCall(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	s := quiet(1)
	c, err := s.station.Calls(ctx, DefaultCalls, s.work(1e3))
	if err == nil || c == nil || c.Verdict != stats.Unusable || !math.IsNaN(c.Undisturbed.Percentiles[0].Value) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCallsThatTheClockCannotTellApart(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{Load: 1, LookNs: 1500}, 100, 50)
	c, _ := callsOf(t, s, CallsPlan{Calls: 400}, func() float64 { return 60 })
	if c.Verdict != stats.Unusable || !strings.Contains(fmt.Sprint(c.Reasons), "the clock tells single calls apart by") {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
}

func TestCallsRefuse(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{Load: 1}, 1, 10)
	for name, call := range map[string]func() error{
		"nothing to run": func() error { _, err := s.station.Calls(background, DefaultCalls, Subject{}); return err },
		"no call":        func() error { _, err := s.station.Calls(background, CallsPlan{}, s.work(1)); return err },
		"no clock":       func() error { _, err := new(Station).Calls(background, DefaultCalls, s.work(1)); return err },
	} {
		if call() == nil {
			t.Errorf("%s was measured", name)
		}
	}
}

// On the real machine there are percentiles, in order, and those without what others took are no
// longer.
func TestRealCalls(t *testing.T) {
	station, release, err := Here(background, Setting{})
	if err != nil {
		t.Skip(err)
	}
	defer release()
	x := uint64(1)
	c, err := station.Calls(background, CallsPlan{Calls: 400}, Subject{Name: "chain", Run: func(n int) {
		for range n * 20_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		Keep(x)
	}})
	if err != nil || len(c.Samples) != 400 || len(c.All.Known()) != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, e := range c.All.Known() {
		u := c.Undisturbed.Percentiles[i]
		if !(e.Lo <= e.Value && e.Value <= e.Hi) || !(u.Lo <= u.Value && u.Value <= u.Hi) || u.Hi > e.Hi {
			t.Errorf("%v as they were, %v by themselves", e, u)
		}
	}
}
