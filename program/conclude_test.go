package program

import (
	"errors"
	"math"
	"strings"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
)

const ms = 1e6

// quiet is a machine that nothing interrupts.
var quiet = Setting{CPUs: 1, Noise: machine.Noise{WatchedNs: 1e9, SwitchNs: math.NaN()}}

// concluded is what such runs show, the first of which counts as well.
func concluded(timedWaits int, runs ...Run) *Result {
	s := &series{probed: true, timedWaits: timedWaits}
	for i := range runs {
		runs[i].CoreHz, runs[i].StealNs, runs[i].ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		runs[i].Untraced = errTimeout
		s.take(background, &runs[i], 1)
		s.runs, s.rounds = append(s.runs, runs[i]), append(s.rounds, i)
	}
	return conclude(s, DefaultPlan, quiet, quiet.checks())
}

// A program computes for 2 s by the kernel's notes, and is charged for 1.8: the rest was
// stolen. It comes off one time, whichever method is taken.
func TestStealComesOffOnce(t *testing.T) {
	for method, ns := range map[Method]float64{ByIntervalCounting: 2000 * ms, CycleTime: 200 * ms} {
		var runs []Run
		for range 10 {
			charged := int64(0.9 * ns)
			runs = append(runs, Run{Run: process.Run{
				WallNs: int64(ns), UserNs: charged, WaitOf: process.FirstThread,
				Threads: []process.Thread{{ID: 1, CPUNs: charged, ReadNs: int64(ns)}},
				Events: []process.Event{
					{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
					{AtNs: int64(ns), Kind: process.Exited, Thread: 1, Process: 1},
				},
			}})
		}
		r := concluded(0, runs...)
		if r.Method != method || math.Abs(r.Estimate.Value/(0.9*ns)-1) > 1e-3 {
			t.Errorf("%g ns charged: %+v by %s", 0.9*ns, r.Estimate, r.Method)
		}
	}
}

// alternating works 2 ms, is kept waiting, works 3 and sleeps 5, so many times, and works 1
// more. It was read when afterNs had gone by, by one who may have been as late as that.
func alternating(times int, keptNs, afterNs int64) Run {
	at := int64(0)
	r := process.Run{WaitOf: process.FirstThread, Events: []process.Event{
		{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
	}}
	add := func(ns int64, kind process.EventKind) {
		at += ns
		r.Events = append(r.Events, process.Event{AtNs: at, Kind: kind, Thread: 1, Process: 1})
	}
	for range times {
		add(2*ms, process.Preempted)
		add(keptNs, process.SwitchedIn)
		add(3*ms, process.Blocked)
		add(5*ms, process.SwitchedIn)
	}
	add(1*ms, process.Exited)
	r.WallNs, r.UserNs = at, int64(5*times+1)*ms
	r.Threads = []process.Thread{{ID: 1, CPUNs: r.UserNs, WaitNs: int64(times) * keptNs, ReadNs: at + afterNs, LateNs: afterNs}}
	return Run{Run: r, RunqueueWaitNs: float64(r.WaitNs())}
}

// Alone, the CPU on which a program sleeps is idle, and takes a while to be told that it is
// over. Beside others none of that shows: it was taken for nothing, and a program that
// sleeps ten times in 100 ms was trusted to be as fast alone.
func TestIdleCPUsTakeAWhile(t *testing.T) {
	const times, wakeNs = 10, 0.15 * ms
	var runs []Run
	for i := range 20 {
		runs = append(runs, alternating(times, int64(1+i%5)*ms, 0.05*ms))
	}
	r := concluded(times, runs...)
	busy := float64(times*10+1) * ms
	if !r.Estimate.Covers(busy) || !r.Estimate.Covers(busy+times*wakeNs) {
		t.Errorf("%g ns, and up to %g on an idle CPU, measured as %+v, %s", busy, busy+times*wakeNs, r.Estimate, r.Verdict)
	}
	if r.Estimate.Hi > 1.03*busy {
		t.Errorf("sleeps that last the same are taken for such to a deadline: %+v", r.Estimate)
	}
}

// Some runs tell that there is no deadline. In the others the program waited 0.9 ms, when it
// was woken or on the way from its exit to its end: those, too, hold their truth.
func TestUncertainWaitsStayUncertain(t *testing.T) {
	const times = 2
	var runs []Run
	for i := range 30 {
		kept := int64(1+i%5) * ms
		if i < fewestChosen {
			runs = append(runs, alternating(times, kept, 0.05*ms))
			continue
		}
		r := alternating(times, kept, 0.9*ms)
		r.Threads[0].WaitNs += 0.9 * ms
		runs = append(runs, r)
	}
	if r := concluded(times, runs...); !r.Estimate.Covers(21 * ms) {
		t.Errorf("21 ms are measured as %+v, %s", r.Estimate, r.Verdict)
	}
}

// That a program slept as often as it was seen to ask shows nothing where it may have asked
// more often.
func TestSomeWaitsAreNotNoted(t *testing.T) {
	for _, unnoted := range []error{nil, errors.New("too many calls")} {
		var s series
		run := alternating(1, 1*ms, 0)
		run.TimedWaits, run.TimedSwitches, run.Unnoted = 1, 1, unnoted
		s.take(background, &run, 1)
		later := alternating(1, 1*ms, 0)
		s.take(background, &later, 1)
		if known := later.waits == 1; known != (unnoted == nil) {
			t.Errorf("%v: it waits %d times", unnoted, later.waits)
		}
	}
}

// Of threads that are not the first only the process's account tells that time was stolen
// from them: a child works 10 ms by the kernel's notes, and is charged for 8.
func TestStealFromAChild(t *testing.T) {
	run := Run{Run: process.Run{
		WallNs: 11 * ms, UserNs: 9 * ms, WaitOf: process.FirstThread, Untraced: errTimeout,
		Threads: []process.Thread{{ID: 1, CPUNs: 1 * ms, ReadNs: 11 * ms}},
		Events: []process.Event{
			{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
			{AtNs: 1 * ms, Kind: process.Forked, Thread: 2, Process: 2, Parent: 1}, {AtNs: 1 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 2},
			{AtNs: 1 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
			{AtNs: 11 * ms, Kind: process.Exited, Thread: 2, Process: 2, Parent: 1}, {AtNs: 11 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
			{AtNs: 11 * ms, Kind: process.Exited, Thread: 1, Process: 1},
		},
	}}
	s := series{probed: true, sentinels: 1}
	s.take(background, &run, 1)
	run.takeOffDisturbance(env.Disturbance{Noise: quiet.Noise}, 0, math.Inf(1))
	if run.LowNs > 9*ms || run.HighNs < 11*ms {
		t.Errorf("9 ms, or 11 where nothing was stolen: %g to %g ns", run.LowNs, run.HighNs)
	}
}

// A program that computes for 20 ms by the clock loses 3.5 % of that to interrupts. A machine of its own takes 3.5 %
// less, known as well as these are; this machine, while nothing else runs, takes what was measured.
func TestIdleHoldsInterrupts(t *testing.T) {
	noisy := Setting{CPUs: 1, Noise: machine.Noise{WatchedNs: 1e9, LostShare: 0.035, LossesPerSecond: 100, LongestLossNs: 60e3, SwitchNs: math.NaN()}}
	s := &series{probed: true}
	for i := range 40 {
		took := 20 + 0.01*float64(i%5)
		run := begun().at(took, process.Exited, 1, 1, 0).run(took, took, process.Thread{ID: 1, CPUNs: int64(took * ms), ReadNs: int64(took * ms)})
		run.CoreHz, run.StealNs, run.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		s.take(background, &run, 1)
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
	}
	r := concludeBoth(s, DefaultPlan, noisy, noisy.checks())
	if r.Idle == nil || math.Abs(r.Idle.Value/(20.02*ms)-1) > 1e-3 || r.Idle.RelativeHalfWidth() > 2e-3 {
		t.Errorf("idle: %v", r.Idle)
	}
	if math.Abs(r.Estimate.Value/(20.02*ms)-0.965) > 2e-3 || r.Estimate.RelativeHalfWidth() < 0.01 || r.Runs[0].HighNs > 20*ms {
		t.Errorf("alone: %v", r.Estimate)
	}
	quietly := concludeBoth(s, DefaultPlan, quiet, quiet.checks())
	if quietly.Idle == nil || *quietly.Idle != quietly.Estimate {
		t.Errorf("without interrupts: %v, and idle %v", quietly.Estimate, quietly.Idle)
	}
}

// What waits for a CPU is not told by Linux either, where that is turned off; the only kernel named was gVisor's. One run of many
// without it took the usual remedy away.
func TestRemedyForUnknownWaits(t *testing.T) {
	unknown, known := &Run{Run: process.Run{WaitOf: process.NoThread}}, &Run{Run: process.Run{WaitOf: process.FirstThread}}
	for _, c := range []struct {
		used   []*Run
		kernel bool
	}{{[]*Run{unknown, unknown, known}, true}, {[]*Run{known, known, unknown}, false}} {
		k := conclusion{Result: &Result{}, series: &series{}, used: c.used}
		if got := k.remedy(); strings.Contains(got, "kernel.task_delayacct") != c.kernel || strings.Contains(got, "calmer") == c.kernel {
			t.Errorf("%d runs: %s", len(c.used), got)
		}
	}
}

// The peak of a program that can't be traced is known if it is large, and was said not to be.
func TestMemoryOfTheUntraceable(t *testing.T) {
	for _, peak := range []int64{0, 80 << 20} {
		s := series{probed: true, untraceable: true}
		r := s.concluded(20, func(int) Run {
			run := besideOthers(20, 0.1, 0)
			run.MaxRSSBytes = peak
			return run
		})
		if strings.Contains(r.Explanation, "its memory") != (r.MaxRSSBytes == nil) {
			t.Errorf("%d bytes: %s", peak, r.Explanation)
		}
	}
}
