package program

import (
	"math"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// What is certainly not the program's own time comes off the lower bound: stops for its tracer, and a little time for
// which its threads may have spun. On two CPUs it takes at least half of its CPU time.
func TestLowerBounds(t *testing.T) {
	for name, c := range map[string]struct {
		stoppedNs int64
		traced    trajectory
		cpus      int
		lowMs     float64
	}{
		"as the events say":    {0, trajectory{low: progress{atNs: 40 * ms}, threads: 1}, 0, 40},
		"5 ms for its tracer":  {5 * ms, trajectory{low: progress{atNs: 40 * ms}, threads: 1}, 0, 35},
		"1 ms may be spinning": {0, trajectory{low: progress{atNs: 30 * ms}, threads: 2, spunNs: 1 * ms}, 0, 29},
		"36 ms of CPU time":    {0, trajectory{low: progress{atNs: 10 * ms}, threads: 2, ranNs: 36 * ms}, 2, 18},
	} {
		r := Run{noted: true, Run: process.Run{WallNs: 40 * ms, UserNs: int64(c.traced.ranNs), StoppedNs: c.stoppedNs}, traced: c.traced}
		r.traced.wallNs, r.traced.high = 40*ms, progress{atNs: 40 * ms}
		if r.bound(c.cpus); r.LowNs != c.lowMs*ms || r.HighNs != 40*ms {
			t.Errorf("%s: %v to %v ms, want %v to 40", name, r.LowNs/ms, r.HighNs/ms, c.lowMs)
		}
	}
}

// A program of 20 ms sleeps for about 5 ms more, until some time: where others keep it waiting, it may sleep for less.
// Three of four runs waited for 8 ms; the others did not, and they tell.
func TestRunsThatWaitedLeast(t *testing.T) {
	s := series{probed: true, timedWaits: 1, looksAtClock: true}
	r := s.concluded(40, func(i int) Run {
		kept := 8 + 0.01*float64(i%7)
		if i%4 == 0 {
			kept = 0.01 * float64(i%3)
		}
		return besideOthers(20, kept, 5+0.7*float64(i*i%5-2))
	})
	if !r.Estimate.Covers(25*ms) || r.Estimate.HalfWidth() > 2*ms || r.Estimate.Discarded != 30 {
		t.Errorf("%v to %v ms of %d runs, without %d", r.Estimate.Lo/ms, r.Estimate.Hi/ms, r.Estimate.N, r.Estimate.Discarded)
	}
}

// A program of two threads works 4 ms, sleeps for 5 ms, and works 1 ms. Others keep it from its CPU before it sleeps, by
// another time in each run. The kernel told that a timer ended the sleep, and it always lasted 5 ms: it has no deadline,
// so that the program takes 10 ms.
func TestSleepsThatBeginLate(t *testing.T) {
	s := series{probed: true, timedWaits: 1}
	r := s.concludedOn(2, 30, func(i int) Run {
		kept := 0.2 * float64(i%15)
		events := begun().at(0.5, process.Forked, 2, 1, 1).at(0.5, process.SwitchedIn, 2, 1, 1).at(1.5, process.Exited, 2, 1, 1).
			at(2, process.Preempted, 1, 1, 0).at(2+kept, process.SwitchedIn, 1, 1, 0).at(4+kept, process.Blocked, 1, 1, 0).
			at(9+kept, process.SwitchedIn, 1, 1, 0).at(10+kept, process.Exited, 1, 1, 0)
		run := events.run(10+kept, 6)
		told := told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 70, 0, tracepoint.Sleeping).wakes(0.5, 0, 1, 2).switched(0.5, 1, 0, 2, 0).switched(1.5, 1, 2, 0, tracepoint.Ended).
			switched(2, 0, 1, 71, tracepoint.Runnable).switched(2+kept, 0, 71, 1, tracepoint.Sleeping).
			event(4+kept-0.01, 0, tracepoint.TimedCall, 1, 0, 0).switched(4+kept, 0, 1, 0, tracepoint.Sleeping).
			event(9+kept, 0, tracepoint.TimerExpired, 0, 0, 0).event(9+kept, 0, tracepoint.Waking, 0, 1, 0).switched(9+kept, 0, 0, 1, 0).
			switched(10+kept, 0, 1, 0, tracepoint.Ended)
		for i := range told {
			if told[i].Kind == tracepoint.Waking && told[i].Thread == 0 {
				told[i].Context = tracepoint.InInterrupt
			}
		}
		run.wakeups = wakeupEvents{events: told}
		return run
	})
	if !r.Estimate.Covers(10*ms) || r.Estimate.HalfWidth() > 0.5*ms || r.Verdict == stats.Unusable {
		t.Errorf("%v to %v ms, %s: %q", r.Estimate.Lo/ms, r.Estimate.Hi/ms, r.Verdict, r.Reasons)
	}
}

// Interrupts come 350 times a second and take 30 µs each. A run of 1 ms mostly has none: the median of a Poisson
// distribution is 0 up to a mean of ln 2, which is 1.98 ms here, and then up to 1/3 above its mean.
func TestMedianOfFewInterrupts(t *testing.T) {
	const perSecond, eachNs = 350, 30e3
	noise := machine.Noise{WatchedNs: 1e9, LostShare: perSecond * eachNs / 1e9, LossesPerSecond: perSecond, SwitchNs: math.NaN()}
	for _, c := range []struct{ ranNs, want float64 }{{1e6, 0}, {1.9e6, 0}, {2.1e6, eachNs / 3}, {10e6, eachNs / 3}} {
		r := Run{grossLowNs: c.ranNs, grossHighNs: c.ranNs}
		r.UserNs = int64(c.ranNs)
		r.takeOffDisturbance(env.Disturbance{Noise: noise}, 0, math.Inf(1))
		if math.Abs(r.slackNs-c.want) > 1 {
			t.Errorf("%g ns: the time may be less by %g ns, want %g", c.ranNs, r.slackNs, c.want)
		}
	}
}

// What looks saw and what a run lost differ by chance, either way: looks that saw 10 % at the median, and from 6 to 14,
// hold for runs that lost 8 %, and for runs that lost 12 %.
func TestRunsMayLoseMoreOrLessThanLooksSaw(t *testing.T) {
	const truth = 10 * ms
	for _, lost := range []float64{0.08, 0.12} {
		s := &series{probed: true}
		for i := range 20 {
			ns := int64((1 + lost) * truth)
			run := Run{CoreHz: math.NaN(), StealNs: math.NaN(), ThrottledNs: math.NaN(), Run: process.Run{
				Untraced: errTimeout, WallNs: ns, UserNs: ns, WaitOf: process.FirstThread,
				Threads: []process.Thread{{ID: 1, CPUNs: ns, ReadNs: ns}},
				Events: []process.Event{
					{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
					{AtNs: ns, Kind: process.Exited, Thread: 1, Process: 1},
				},
			}}
			s.take(background, &run, 1)
			s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
		}
		checks := &env.NoiseChecks{}
		for i := range 8 {
			share := 0.06 + 0.08*float64(i)/7
			checks.Add(machine.Noise{WatchedNs: 25 * ms, LostShare: share / (1 + share), LossesPerSecond: 1e4, SwitchNs: math.NaN()})
		}
		if e := conclude(s, DefaultPlan, quiet, checks).Estimate; !e.Covers(truth) || e.RelativeHalfWidth() > 0.04 {
			t.Errorf("10 ms that lost %g %%: %v", 100*lost, e)
		}
	}
}

// Neighbours leave 100 µs to refill for each 256 KiB of a program of 64 MiB. In two waits of 0.1 ms they can displace 4 MB
// each time, and in waits of 10 ms all of it. In waits of 2 µs it is 80 kB. Another core, to which a program may move in
// that time, can hold none of what fits into its own cache. Without events each wait may have moved it. Others that ran for
// 0.1 ms in all displaced what they could read in that time, however long threads waited for one another.
func TestOthersDisplaceWhatTheyCanRead(t *testing.T) {
	noise := machine.Noise{WatchedNs: 1e9, SwitchNs: math.NaN(), RefillNs: 100e3, Refills: 10}
	const own = 2 << 20
	unknown := process.OthersUse{}
	for _, c := range []struct {
		waitNs   float64 // in both preemptions
		noted    bool
		moves    int
		others   process.OthersUse
		displace []float64
	}{
		{0.2 * ms, false, 0, unknown, []float64{4e6, 4e6}},
		{20 * ms, false, 0, unknown, []float64{64 << 20, 64 << 20}},
		{0.004 * ms, false, 0, unknown, []float64{own, own}},
		{0.004 * ms, true, 0, unknown, []float64{80e3, 80e3}},
		{0.004 * ms, true, 1, unknown, []float64{80e3, own}},
		{0.2 * ms, true, 2, unknown, []float64{4e6, 4e6}},
		{20 * ms, true, 0, process.OthersUse{Known: true, CPUNs: 0.1 * ms}, []float64{2e6, 2e6}},
		{math.NaN(), false, 0, unknown, []float64{64 << 20, 64 << 20}},
	} {
		r := Run{grossLowNs: 50 * ms, grossHighNs: 50 * ms, RunqueueWaitNs: c.waitNs, noted: c.noted}
		r.UserNs, r.InvoluntarySwitches, r.Others = 50*ms, 2, c.others
		r.traced = trajectory{moves: c.moves, low: progress{ranNs: 50 * ms, preemptions: 2}, high: progress{ranNs: 50 * ms}}
		r.takeOffDisturbance(env.Disturbance{Noise: noise}, 64<<20, math.Inf(1))
		want := 0.0
		for _, bytes := range c.displace {
			want += machine.ColdNs - machine.UsualColdNs + 100e3*(bytes+65536)/262144 // and what the kernel uses
		}
		if math.Abs(r.slackNs-want) > 1 {
			t.Errorf("%+v: the time may be less by %g ns, want %g", c, r.slackNs, want)
		}
	}
}

// A program is preempted three times, and goes on at another CPU once.
func TestMovesAreCounted(t *testing.T) {
	run := begun().at(2, process.Preempted, 1, 1, 0).at(3, process.SwitchedIn, 1, 1, 0).
		at(5, process.Preempted, 1, 1, 0).at(6, process.SwitchedIn, 1, 1, 1).
		at(8, process.Preempted, 1, 1, 1).at(9, process.SwitchedIn, 1, 1, 1).at(10, process.Exited, 1, 1, 1).run(10, 7)
	found, ok := follow(t.Context(), &run.Run, 2, 0, wakeupEvents{})
	if !ok || found.preemptions != 3 || found.moves != 1 {
		t.Errorf("%v: %d preemptions, %d moves", ok, found.preemptions, found.moves)
	}
}

// What the system does not tell is unknown, and not 0. A program sleeps for 8 of its 10 ms, and without accounts of its
// threads all of that may have been a wait for a CPU. Without a look at the CPUs, what interrupts took is not known.
func TestUntoldIsUnknown(t *testing.T) {
	run := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0).run(10, 2)
	run.WaitOf, run.Threads = process.NoThread, nil
	s := series{probed: true}
	s.take(background, &run, 1)
	if run.takeOffDisturbance(env.Disturbance{}, 0, math.Inf(1)); !run.noted || !math.IsNaN(run.BlockedNs) || !math.IsNaN(run.InterruptsNs) {
		t.Errorf("noted: %t; blocked for %v ns; interrupts took %v ns", run.noted, run.BlockedNs, run.InterruptsNs)
	}
	if run.takeOffDisturbance(env.Disturbance{Noise: quiet.Noise}, 0, math.Inf(1)); math.IsNaN(run.InterruptsNs) {
		t.Error("what interrupts took is known")
	}
}

// startedLate is a program that waited for keptMs for a CPU before its exec, ran 0.5 ms until then, works 20 ms, sleeps for
// 9 ms, and ends.
func startedLate(keptMs float64) Run {
	events := noted{}.at(-0.5-keptMs, process.Forked, 1, 1, 0).at(-0.5, process.SwitchedIn, 1, 1, 0).at(0, process.Executed, 1, 1, 0).
		at(20, process.Blocked, 1, 1, 0).at(29, process.SwitchedIn, 1, 1, 0).at(29, process.Exited, 1, 1, 0)
	run := events.run(29, 20.5, process.Thread{ID: 1, CPUNs: 20.5 * ms, WaitNs: int64(keptMs * ms), ReadNs: 29 * ms})
	run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), keptMs*ms
	return run
}

// The wait of a program is that of its wall time. The kernel counts from the fork: a program of 5.5 ms was said to have waited
// for 9 ms, and its metrics to be suspect for that.
func TestWaitsBeforeTheExec(t *testing.T) {
	for _, lost := range []int64{0, 1} {
		run := startedLate(9)
		run.LostEvents, run.InheritNs = lost, 12e3
		s := series{probed: true}
		s.take(background, &run, 1)
		if run.noted != (lost == 0) || run.RunqueueWaitNs != 0 || run.OwnCPUNs() != 20*ms {
			t.Errorf("%d lost: noted %v, it waited for %v ms, and used %v of CPU time", lost, run.noted, run.RunqueueWaitNs/ms, run.OwnCPUNs()/ms)
		}
		if run.LowNs > 29*ms || run.HighNs < 29*ms { // by the accounts alone, the wait before the exec hid the sleep: 20.5 ms
			t.Errorf("%d lost: %v to %v ms, which takes 29", lost, run.LowNs/ms, run.HighNs/ms)
		}
	}
	after := startedLate(0)
	after.Threads[0].WaitNs, after.RunqueueWaitNs = 40*ms, 40*ms // while it ended
	if (&series{probed: true}).take(background, &after, 1); after.RunqueueWaitNs > 9*ms {
		t.Errorf("it ran for 20 of 29 ms, and waited for %v", after.RunqueueWaitNs/ms)
	}
}

// Several threads are charged from the fork, too: what the first one did before the exec once hid as much steal.
func TestStealOfThreadsThatRanBeforeTheExec(t *testing.T) {
	run := Run{noted: true, Run: process.Run{WallNs: 40 * ms, UserNs: 36 * ms}}
	run.traced = trajectory{wallNs: 40 * ms, threads: 2, ranNs: 36 * ms, startNs: 1 * ms, low: progress{atNs: 40 * ms}, high: progress{atNs: 40 * ms}}
	if run.bound(0); run.LowNs != 39*ms {
		t.Errorf("at least %v ms, want 39: of 36 ms on CPUs 35 were charged", run.LowNs/ms)
	}
}
