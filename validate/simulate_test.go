package validate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/env"
	"chronoscope/internal/load"
	"chronoscope/kbest"
	"chronoscope/stats"
)

// TestMain also runs the processes that a validation starts.
func TestMain(m *testing.M) {
	load.Serve()
	Serve()
	m.Run()
}

// simulated is a lab on a simulated machine.
type simulated struct {
	*lab
	machine   *clocktest.Machine
	scheduler *clocktest.Scheduler
}

const (
	roundNs   = 50.0
	tickNs    = 4e6
	nominalHz = 3e9
)

// ticking returns a machine with its kernel's tick and its host's tick, whose costs are at least
// leastNs and hostLeastNs.
func ticking(leastNs, hostLeastNs float64) clocktest.Sharing {
	return clocktest.Sharing{LookNs: 1000, Timers: []clocktest.Timer{
		{PeriodNs: tickNs, PhaseNs: 0.3e6, Cost: clocktest.Above(leastNs, 0.05*leastNs, 0.3), Kernel: true},
		{PeriodNs: 1e6, PhaseNs: 0.1e6, Cost: clocktest.Above(hostLeastNs, 0.05*hostLeastNs, 0.3)},
	}}
}

// skewed returns a machine like a virtual one on a busy host: its interrupts mostly take slightly
// more than their least time and sometimes several times as long, its host ticks rarely, and its
// core's rate varies by a percent.
func skewed() clocktest.Sharing {
	return clocktest.Sharing{LookNs: 1000, Speeds: []float64{1, 0.99, 0.995, 1.005, 1.01}, SpeedDwellNs: 50e6, Timers: []clocktest.Timer{
		{PeriodNs: tickNs, PhaseNs: 0.3e6, Cost: clocktest.Above(14e3, 4e3, 0.9), Kernel: true},
		{PeriodNs: 9.9998e6, PhaseNs: 0.1e6, Cost: clocktest.Above(13e3, 12e3, 1)},
	}}
}

// traceOf returns what a trace of a second shows of the given timers.
func traceOf(timers []clocktest.Timer, rng *rand.Rand) *activity.Trace {
	t := &activity.Trace{TickNs: 1, Length: 1e9}
	for _, timer := range timers {
		for at := timer.PhaseNs; at < 1e9; at += timer.PeriodNs {
			t.Gaps = append(t.Gaps, activity.Gap{Start: int64(at), Ticks: int64(timer.Cost(rng))})
		}
	}
	slices.SortFunc(t.Gaps, func(a, b activity.Gap) int { return cmp.Compare(a.Start, b.Start) })
	return t
}

// crowded returns a machine with the given load: one thread is measured, the others are
// competitors.
func crowded(load int) clocktest.Sharing {
	s := ticking(8e3, 4e3)
	s.Load, s.SliceNs, s.SliceJitter = load, 3e6, 0.01
	s.SwitchNs, s.ColdNs = clocktest.Jittered(3e3, 0.2), clocktest.Jittered(2e3, 0.3)
	return s
}

// newSimulated returns a lab that knows the machine's timers as a trace would show them. The clock
// "times" counts the ticks that find the thread running, as Figure 9.7 of Bryant 2003 explains.
func newSimulated(t *testing.T, seed uint64, given clocktest.Sharing) *simulated {
	t.Helper()
	m := clocktest.NewMachine(seed)
	var found float64
	given.Watch = func(g clocktest.Gap) {
		if g.Source == clocktest.TimerGap && given.Timers[g.Index].Kernel {
			found++
		}
	}
	s := &simulated{machine: m, scheduler: clocktest.Share(m, given)}
	c := &clocktest.Clock{Machine: m, QuantumNs: 1, UnitNs: 1, Cost: clocktest.Jittered(20, 0.02)}
	rated := clock.Rated{
		Clock: clock.New(clock.Clock{Name: "simulated", UnitNs: 1}, c.Read), TickNs: stats.Estimate{Value: 1, Lo: 1, Hi: 1},
		AccuracyNs: 1, MinCostNs: 19, MedianCostNs: 20, P95CostNs: 21,
	}
	station := &kbest.Station{Clock: rated, Use: s.scheduler.Use, Neighbours: func() kbest.Neighbours { return kbest.Neighbours{PassedNs: 1, Exact: true} }, Core: env.Core{CoreHzError: 1e-3}}
	station.Spin = func() { m.Run(10e3) }
	station.CoreHz = func() float64 {
		best := math.Inf(1)
		for range 2 {
			start := rated.Start()
			station.Spin()
			best = math.Min(best, rated.Ns(rated.End()-start)-20)
		}
		return 10e3 * nominalHz / best
	}
	station.Turns = func(long bool) { s.scheduler.AskForTurns(map[bool]float64{true: 2, false: 1}[long]) }
	s.lab = &lab{station: station, references: map[Work]*reference{}, seed: seed}
	s.look = func(context.Context) (Losses, error) {
		return lossesOf(traceOf(given.Timers, m.Rand())), nil
	}
	s.watch(t.Context())
	s.gettimeofday = account{read: func() int64 { m.Run(25); return int64(m.NowNs() / 1e3) }, unitNs: 1e3, tickNs: 1e3}
	s.times = account{read: func() int64 { m.Run(500); return int64(found) }, unitNs: tickNs, tickNs: tickNs}
	s.getrusage = account{read: func() int64 { use, _ := s.scheduler.Use(); return use.CPUNs / 1e3 }, unitNs: 1e3, tickNs: 1e3}
	ref, err := newReference(rated, func(rounds int) { m.Run(roundNs * float64(rounds)) })
	if err != nil {
		t.Fatal(err)
	}
	s.references[Chain] = ref
	if s.references[Traced], err = newTracedReference(ref); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *simulated) take(t *testing.T, load int, d time.Duration, trials int) *Stream {
	t.Helper()
	return s.takeOf(t, Chain, load, d, trials)
}

func (s *simulated) takeOf(t *testing.T, w Work, load int, d time.Duration, trials int) *Stream {
	t.Helper()
	stream, err := s.stream(context.Background(), Cell{Work: w, Regime: Regime{Load: load}, Duration: d, Trials: trials})
	if err != nil {
		t.Fatal(err)
	}
	if len(stream.Samples) != trials {
		t.Fatalf("%d samples of %d trials", len(stream.Samples), trials)
	}
	return stream
}

// truthNs returns what the rounds of a stream really take.
func truthNs(s *Stream) float64 { return roundNs * float64(s.Rounds) }

func scheme(t *testing.T, name string) Scheme {
	t.Helper()
	found, err := Choose([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func errorOf(t *testing.T, name string, s *Stream) float64 {
	t.Helper()
	return scheme(t, name).answer(s).Estimate.Value/truthNs(s) - 1
}

// The interval of the truth contains it, also beside competitors, and short runs lie on their line.
// With eight samples beside ten competitors an interval is wide now and then.
func TestTruthIsBracketed(t *testing.T) {
	wide := 0
	for seed := range uint64(60) {
		load := []int{1, 2, 11}[seed%3]
		s := newSimulated(t, seed, crowded(load)).take(t, load, time.Duration(1e5*math.Pow(100, float64(seed)/60)), 8)
		if !s.Expected.Covers(truthNs(s)) || s.Fit.Error > 0.005 {
			t.Errorf("seed %d, load %d: %v ns expected as %+v, fit %+v", seed, load, truthNs(s), s.Expected, s.Fit)
		}
		if s.Expected.RelativeHalfWidth() > 0.005 {
			wide++
		}
	}
	if wide > 2 {
		t.Errorf("%d of 60 brackets are wider than 0.5 %%", wide)
	}
}

// The source's K-best is right within a time slice, and wrong beyond it by about the number of
// competitors (Bryant 2003, Figure 9.14). The same holds for K-best by gettimeofday.
func TestSourceFailsBeyondTheSlice(t *testing.T) {
	for seed := range uint64(10) {
		for _, load := range []int{2, 4, 11} {
			sim := newSimulated(t, seed, crowded(load))
			short, long := sim.take(t, load, 300*time.Microsecond, 60), sim.take(t, load, 300*time.Millisecond, 6)
			for _, name := range []string{SourceK3, SourceK3 + Compensated, Gettimeofday} {
				if e := errorOf(t, name, short); math.Abs(e) > 0.01 {
					t.Errorf("%s, seed %d, load %d: off by %.3g within a slice", name, seed, load, e)
				}
				if e, others := errorOf(t, name, long), float64(load-1); e < 0.9*others || e > 1.1*others {
					t.Errorf("%s, seed %d, load %d: off by %.3g beyond a slice", name, seed, load, e)
				}
			}
			if a := sim.take(t, load, 300*time.Millisecond, 6).KBest; math.Abs(a.Estimate.Value/truthNs(long)-1) > 0.03 {
				t.Errorf("kbest, seed %d, load %d: %+v of %v", seed, load, a.Estimate, truthNs(long))
			}
		}
	}
}

// Compensation subtracts the share of both timers, the kernel's and the host's, and at most a
// fraction of one interrupt too much (Figure 9.16).
func TestCompensation(t *testing.T) {
	for seed := range uint64(20) {
		s := newSimulated(t, seed, ticking(20e3, 8e3)).take(t, 1, time.Duration(1e7*math.Pow(30, float64(seed)/20)), 20)
		without, with := errorOf(t, SourceK3, s), errorOf(t, SourceK3+Compensated, s)
		if without < 0.01 || with > 0.2*without || with < -0.05*without {
			t.Errorf("seed %d, %v: off by %.4g, and %.4g with compensation", seed, s.Duration, without, with)
		}
	}
}

// If the CPU can't be traced, no outcome claims to be compensated.
func TestNoTraceNoCompensation(t *testing.T) {
	sim := newSimulated(t, 1, ticking(20e3, 8e3))
	sim.losses = Losses{}
	sim.look = func(context.Context) (Losses, error) {
		return Losses{}, errors.New("forbidden")
	}
	s := sim.take(t, 1, 10*time.Millisecond, 6)
	if a := scheme(t, SourceK3+Compensated).answer(s); a.Verdict != stats.Unusable || !strings.Contains(a.Reasons[0], "traced") {
		t.Errorf("%+v", a)
	}
	if a := scheme(t, SourceK3).answer(s); a.Verdict == stats.Unusable {
		t.Errorf("without compensation: %+v", a)
	}
}

// If the core becomes slower after the reference was measured, that counts as no loss, and what
// interrupts take is still seen. A loss is recorded at the time when it began, so that two traces
// can be joined.
func TestTraceOfASlowerCore(t *testing.T) {
	for _, slower := range []float64{1, 1.3, 3} {
		for _, given := range []bool{false, true} {
			timers := ticking(20e3, 8e3)
			if !given {
				timers.Timers = nil
			}
			sim := newSimulated(t, 3, timers)
			traced := sim.references[Traced].traced
			do := traced.do
			traced.do = func(rounds int) { do(int(slower * float64(rounds))) }
			s := sim.takeOf(t, Traced, 1, 100*time.Millisecond, 6)
			for i, x := range s.Samples {
				end := x.Around.until(math.Inf(1)) / x.Around.WatchedNs
				if share := x.LostNs.Value() / x.WallNs; math.IsNaN(share) || !given && (share != 0 || end != 0) || given && (share == 0 || end == 0 || math.Abs(share/end-1) > 0.3) {
					t.Errorf("%v times as slow, sample %d: lost %v, and %v around it", slower, i, share, end)
				}
				if n := len(x.Around.All); n > 0 && x.Around.All[n-1].AtNs >= x.Around.WatchedNs {
					t.Errorf("a loss at %v of %v ns", x.Around.All[n-1].AtNs, x.Around.WatchedNs)
				}
			}
		}
	}
}

// The time that a sample waited for other threads does not count as interrupts.
func TestCompensationWithoutWaits(t *testing.T) {
	s := newSimulated(t, 1, ticking(20e3, 8e3)).takeOf(t, Traced, 1, 10*time.Millisecond, 6)
	before := CompensationOf([]*Stream{s})[0]
	for i := range s.Samples {
		s.Samples[i].WaitNs = 1000
	}
	if after := CompensationOf([]*Stream{s})[0]; math.Abs(before.LostNs-1000-after.LostNs) > 1e-6 || after.ErrorNs != before.ErrorNs {
		t.Errorf("%+v, before %+v", after, before)
	}
	for i := range s.Samples {
		s.Samples[i].WaitNs = 1e9
	}
	if after := CompensationOf([]*Stream{s})[0]; after.LostNs != 0 {
		t.Errorf("%+v", after)
	}
}

// If the costs of interrupts are skewed, their number times the least cost is at most half of what
// they take. What compensation subtracts is typically most of the loss, and not too much. It varies
// between recordings of a few interrupts; therefore recordings of three durations are judged
// together.
func TestSkewedCompensation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		durations []time.Duration
		seeds     uint64
	}{
		{milliseconds(10, 30, 100), 25},
		{milliseconds(300, 1000), 8},
	} {
		var shares []float64
		for _, d := range c.durations {
			for seed := range c.seeds {
				sim := newSimulated(t, seed, skewed())
				s := sim.takeOf(t, Traced, 1, d, max(4, int(400*ms/d)))
				c := CompensationOf([]*Stream{s})[0]
				shares = append(shares, c.RemovedNs/c.LostNs)
			}
		}
		slices.Sort(shares)
		if typical := stats.Quantile(shares, 0.5); typical < 0.8 || typical > 1.1 {
			t.Errorf("%v: %.2f of what was lost is taken off: %.2f", c.durations, typical, shares)
		} else {
			t.Logf("%v: %.2f", c.durations, typical)
		}
	}
}

// The losses that a traced run saw are the time by which its sample is too long, and compensation
// subtracts most of them.
//
// An interrupt may fall between the first or the last reading of a sample and the trace, which happens to one sample
// in a thousand or two: of 200, one may lack one interrupt.
func TestTracedCompensation(t *testing.T) {
	const mostTickNs, mostAtEdges = 60e3, 1
	atEdges := 0
	for seed := range uint64(20) {
		sim := newSimulated(t, seed, ticking(20e3, 8e3))
		s := sim.takeOf(t, Traced, 1, time.Duration(1e7*math.Pow(30, float64(seed)/20)), 10)
		// A reading of the clock takes 20 ns.
		truth := truthNs(s) + 20*math.Floor(float64(s.Rounds)/float64(sim.references[Traced].traced.rounds))
		for i, x := range s.Samples {
			gone := x.WallNs - s.Empty.WallNs - truth
			missed := gone - x.LostNs.Value()
			if math.Abs(missed) <= 0.02*gone+100 {
				continue
			}
			if atEdges++; !(missed > 0 && missed < mostTickNs) || atEdges > mostAtEdges {
				t.Errorf("seed %d, sample %d: the trace saw %.0f of %.0f ns", seed, i, x.LostNs.Value(), gone)
			}
		}
		all := CompensationOf([]*Stream{s, sim.take(t, 1, s.Duration, 3)})
		if len(all) != 1 {
			t.Fatalf("%+v", all)
		}
		if c := all[0]; math.Abs(c.ErrorNs-c.LostNs) > 0.05*c.LostNs || c.RemovedNs < 0.8*c.LostNs || c.RemovedNs > 1.05*c.LostNs || math.Abs(c.Residual) > 0.005 {
			t.Errorf("seed %d: %+v", seed, c)
		}
	}
}

// Interval counting does not see work that is shorter than its interval, and its error is at most
// one interval (Figure 9.8, practice problem 9.4).
func TestIntervalCounting(t *testing.T) {
	for seed := range uint64(40) {
		load := []int{1, 11}[seed%2]
		sharing := crowded(load)
		sharing.AtTicks = load > 1
		d := time.Duration(1e5 * math.Pow(1e4, float64(seed)/40))
		s := newSimulated(t, seed, sharing).take(t, load, d, 6)
		a := scheme(t, Times).answer(s)
		if ticks := a.Estimate.Value / tickNs; ticks != math.Trunc(ticks) {
			t.Errorf("seed %d: %v ticks", seed, ticks)
		}
		if e := a.Estimate.Value/truthNs(s) - 1; d > 400*time.Millisecond && math.Abs(e) > 0.1 || d < time.Millisecond && math.Abs(e) < 0.9 {
			t.Errorf("seed %d, %v at load %d: off by %.3g", seed, d, load, e)
		}
		if ran := s.usual()[0].CPUNs; load == 1 && !a.Estimate.Covers(ran) {
			t.Errorf("seed %d, %v: %+v of %v that it ran", seed, d, a.Estimate, ran)
		}
	}
}

// The intervals of package kbest cover the truth as often as they promise, at every load.
func TestOwnCoverage(t *testing.T) {
	covered, usable := 0, 0
	for seed := range uint64(100) {
		load := []int{1, 2, 4, 11}[seed%4]
		s := newSimulated(t, seed, crowded(load)).take(t, load, time.Duration(1e5*math.Pow(2000, float64(seed)/100)), 12)
		o := newOutcome(scheme(t, OwnKBest), s.Cell, s.Expected, s.KBest, nil)
		if o.Covered == nil || o.Verdict == stats.Unusable {
			continue
		}
		usable++
		if *o.Covered {
			covered++
		} else {
			t.Logf("seed %d, %v at load %d: %+v of %v", seed, s.Duration, load, s.KBest.Estimate, truthNs(s))
		}
	}
	if usable < 95 || covered < usable-9 {
		t.Errorf("%d of %d cover", covered, usable)
	}
}

// The mean over a second includes every tick and every turn of a competitor: a sample of 15 ms
// contains four or five turns of 3 ms of each competitor.
func TestMeanOfASecond(t *testing.T) {
	for _, load := range []int{1, 4} {
		s := newSimulated(t, 3, crowded(load)).take(t, load, 15*time.Millisecond, 100)
		if e := errorOf(t, TestingB, s); e < 0.001+float64(load-1)*4*3/15 || e > 0.02+float64(load-1)*1.02*5*3/15 {
			t.Errorf("load %d: off by %.3g", load, e)
		}
	}
}

// Samples that asked for long time slices serve only kbest, as long as slices matter.
func TestUsualSamples(t *testing.T) {
	sim := newSimulated(t, 4, crowded(4))
	short, long := sim.take(t, 4, 2*time.Millisecond, 16), sim.take(t, 4, 30*time.Millisecond, 16)
	if n := len(short.usual()); n != 6 { // three of eight samples don't ask for long slices
		t.Errorf("%d of 16 short samples are usual", n)
	}
	if n := len(long.usual()); n != 16 {
		t.Errorf("%d of 16 long samples are usual", n)
	}
}
