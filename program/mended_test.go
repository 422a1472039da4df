package program

import (
	"math"
	"strings"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// noted is what the kernel noted of a program, of which the first thread has number 1 and
// begins on CPU 0.
type noted []process.Event

func begun() noted {
	return noted{{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1}}
}

// at adds an event, in milliseconds since the exec.
func (n noted) at(timeMs float64, kind process.EventKind, thread, of, cpu int) noted {
	return append(n, process.Event{AtNs: int64(timeMs * ms), Kind: kind, Thread: thread, Process: of, CPU: cpu, Parent: 1})
}

// run is one of which the kernel's accounts are not known, but for those given.
func (n noted) run(wallMs, cpuMs float64, threads ...process.Thread) Run {
	return Run{Run: process.Run{
		WallNs: int64(wallMs * ms), UserNs: int64(cpuMs * ms), WaitOf: process.FirstThread, Untraced: errTimeout, Events: n, Threads: threads,
	}}
}

// Two threads that share a CPU may be bound to it, whatever else the machine has: then what
// the one waited for the other is no competitor's doing, and alone it is there, too.
func TestThreadsOnOneCPU(t *testing.T) {
	const other = 2
	events := begun().at(0, process.Forked, other, 1, 0)
	for turn := 0.; turn < 100; turn += 10 {
		events = events.at(turn+5, process.Preempted, 1, 1, 0).at(turn+5, process.SwitchedIn, other, 1, 0)
		if turn == 90 { // the first one waits for the other at last
			events[len(events)-2].Kind = process.Blocked
			break
		}
		events = events.at(turn+10, process.Preempted, other, 1, 0).at(turn+10, process.SwitchedIn, 1, 1, 0)
	}
	events = events.at(100, process.Exited, other, 1, 0).at(100, process.SwitchedIn, 1, 1, 0).at(100, process.Exited, 1, 1, 0)
	run := events.run(100, 100)
	got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{})
	if !ok || got.high.atNs < 99*ms || got.low.atNs > 56*ms {
		t.Errorf("50 to 100 ms: %v, %g to %g", ok, got.low.atNs, got.high.atNs)
	}
}

// A thread that calls exec gets the number of the first one, which has ended.
func TestExecByAnotherThread(t *testing.T) {
	events := begun().
		at(1, process.Forked, 2, 1, 1).at(1, process.SwitchedIn, 2, 1, 1).
		at(1, process.Blocked, 1, 1, 0).at(3, process.SwitchedIn, 1, 1, 0).at(3, process.Exited, 1, 1, 0).
		at(3, process.Executed, 1, 1, 1).at(53, process.Exited, 1, 1, 1)
	run := events.run(53, 54)
	got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{})
	if !ok || math.Abs(got.low.atNs-53*ms) > 0.1*ms || math.Abs(got.high.atNs-53*ms) > 0.1*ms {
		t.Errorf("53 ms: %v, %g to %g", ok, got.low.atNs, got.high.atNs)
	}
}

// The number of a process that has ended is given to another one.
func TestNumbersAreUsedAgain(t *testing.T) {
	events := begun()
	at := 0.
	for _, work := range []float64{1, 101} {
		at += work
		events = events.at(at, process.Forked, 2, 2, 1).at(at, process.SwitchedIn, 2, 2, 1).at(at, process.Blocked, 1, 1, 0)
		at += 10
		events = events.at(at, process.Exited, 2, 2, 1).at(at, process.SwitchedIn, 1, 1, 0)
	}
	at++
	run := events.at(at, process.Exited, 1, 1, 0).run(at, at)
	got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{})
	if !ok || math.Abs(got.low.atNs-at*ms) > 0.1*ms {
		t.Errorf("%v ms: %v, %g to %g", at, ok, got.low.atNs, got.high.atNs)
	}
}

// An exec that gives other rights ends what the kernel notes, and so does a CPU that came up
// later: what was charged for then is not in the notes.
func TestMissedNotes(t *testing.T) {
	exec := begun().at(0.02, process.Exited, 1, 1, 0)
	run := exec.run(0.02, 40)
	if got, ok := follow(background, &run.Run, 1, 0, wakeupEvents{}); ok || run.Unwatched == nil {
		t.Errorf("40 ms were charged, 20 µs noted: %+v, %v", got, run.Unwatched)
	}
	run = begun().at(30, process.Preempted, 1, 1, 0).at(40, process.SwitchedIn, 1, 1, 0).at(50, process.Exited, 1, 1, 0).
		run(50, 50, process.Thread{ID: 1, CPUNs: 50 * ms, ReadNs: 50 * ms})
	if got, ok := follow(background, &run.Run, 1, 0, wakeupEvents{}); ok || run.Unwatched == nil {
		t.Errorf("50 ms were charged, 40 noted: %+v, %v", got, run.Unwatched)
	}
}

// Of a traced run, which stops at each system call, more is charged than noted.
func TestTracedRunsAreNoted(t *testing.T) {
	run := begun().at(14, process.Exited, 1, 1, 0).run(14, 30, process.Thread{ID: 1, CPUNs: 30 * ms, ReadNs: 14 * ms})
	run.Untraced = nil
	if got, ok := follow(background, &run.Run, 1, 0, wakeupEvents{}); !ok || run.Unwatched != nil {
		t.Errorf("%+v, %v", got, run.Unwatched)
	}
}

// The first thread leaves early: for how long its end was seen late says nothing of where it
// waited. It sleeps 5 ms, waits 15 for a CPU, starts another that works 100, and leaves.
func TestFirstThreadLeaves(t *testing.T) {
	events := begun().
		at(0, process.Blocked, 1, 1, 0).at(20, process.SwitchedIn, 1, 1, 0).
		at(20, process.Forked, 2, 1, 0).at(20, process.SwitchedIn, 2, 1, 1).
		at(20.1, process.Exited, 1, 1, 0).at(120, process.Exited, 2, 1, 1)
	run := events.run(120, 100, process.Thread{ID: 1, CPUNs: 0.1 * ms, WaitNs: 15 * ms, ReadNs: 120.1 * ms, LateNs: 0.2 * ms})
	if got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{}); !ok || got.low.atNs > 105.1*ms {
		t.Errorf("105 ms: %v, %g to %g", ok, got.low.atNs, got.high.atNs)
	}
}

// What was stolen from the first thread need not be on the way to the end.
func TestStealBesideTheWay(t *testing.T) {
	events := begun().
		at(0, process.Forked, 2, 1, 1).at(0, process.SwitchedIn, 2, 1, 1).
		at(50, process.Blocked, 1, 1, 0).
		at(100, process.Exited, 2, 1, 1).at(100, process.SwitchedIn, 1, 1, 0).at(100, process.Exited, 1, 1, 0)
	run := events.run(100, 140, process.Thread{ID: 1, CPUNs: 40 * ms, ReadNs: 100 * ms})
	s := series{probed: true, sentinels: 1}
	s.take(background, &run, 2)
	run.takeOffDisturbance(env.Disturbance{Noise: quiet.Noise}, 0, math.Inf(1))
	if run.HighNs < 99.9*ms {
		t.Errorf("100 ms: %g to %g ns", run.LowNs, run.HighNs)
	}
}

// A thread is kept from its CPU for half the time, and the other one runs: whether that works
// or waits nobody tells. Processes that share memory were trusted to work.
func TestMayHaveSpun(t *testing.T) {
	for _, other := range []int{1, 2} {
		mayHaveSpun(t, other)
	}
}

// mayHaveSpun is of a thread of the program's process, 1, or of another.
func mayHaveSpun(t *testing.T, of int) {
	var runs []Run
	for range 10 {
		runs = append(runs, begun().
			at(0, process.Forked, 2, of, 1).at(0, process.SwitchedIn, 2, of, 1).
			at(50, process.Preempted, 2, of, 1).at(150, process.SwitchedIn, 2, of, 1).
			at(200, process.Exited, 2, of, 1).at(200, process.Exited, 1, 1, 0).
			run(200, 300, process.Thread{ID: 1, CPUNs: 200 * ms, ReadNs: 200 * ms}))
	}
	s := &series{probed: true, sentinels: 1}
	for i := range runs {
		runs[i].CoreHz, runs[i].StealNs, runs[i].ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		s.take(background, &runs[i], 2)
		s.runs, s.rounds = append(s.runs, runs[i]), append(s.rounds, i)
	}
	if r := conclude(s, DefaultPlan, quiet, quiet.checks()); r.Verdict == stats.Trusted {
		t.Errorf("a thread of process %d: %+v by %s: trusted", of, r.Estimate, r.Method)
	}
}

// A program that is shorter than the time between two interrupts mostly meets none: what they
// take on average comes off no typical run. 28 runs of 40 take 300 µs, and 12 meet one of 10.
func TestShorterThanBetweenInterrupts(t *testing.T) {
	noisy := Setting{CPUs: 1, Noise: machine.Noise{WatchedNs: 5e9, LostShare: 0.01, LossesPerSecond: 1000, LongestLossNs: 12e3, SwitchNs: math.NaN()}}
	s := &series{probed: true}
	for i := range 40 {
		took := 0.3
		if i%10 >= 7 {
			took = 0.31
		}
		run := begun().at(took, process.Exited, 1, 1, 0).run(took, took, process.Thread{ID: 1, CPUNs: int64(took * ms), ReadNs: int64(took * ms)})
		run.CoreHz, run.StealNs, run.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		s.take(background, &run, 1)
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
	}
	if r := conclude(s, DefaultPlan, noisy, noisy.checks()); r.Estimate.Lo > 300e3 || r.Estimate.Hi < 300e3 {
		t.Errorf("300 µs: %+v", r.Estimate)
	}
}

// Seven runs of 40 s need more time than is given to a command, and that is said.
func TestLongPrograms(t *testing.T) {
	run := begun().at(40e3, process.Exited, 1, 1, 0).run(40e3, 40e3, process.Thread{ID: 1, CPUNs: 40e3 * ms, ReadNs: 40e3 * ms})
	if r := concluded(0, run); len(r.Reasons) == 0 || !strings.Contains(r.Reasons[0], "MaxTime 5m0s") {
		t.Errorf("%q", r.Reasons)
	}
}

// A program that sleeps, and that also blocks for a moment, blocks as often as it is known to:
// what it was kept waiting before it slept the same 50 ms is no part of its time.
func TestShortBlocksBesideASleep(t *testing.T) {
	for blocks, want := range map[bool]stats.Verdict{true: stats.Trusted, false: stats.Unusable} {
		s := &series{probed: true, timedWaits: 1, sleeps: 1, otherWaits: 1}
		for i := range 20 {
			events, at := begun(), 2.
			if blocks {
				events = events.at(at, process.Blocked, 1, 1, 0).at(at+0.1, process.SwitchedIn, 1, 1, 0)
			}
			at += 10 * float64(1+i)
			events = events.at(2.2, process.Preempted, 1, 1, 0).at(at, process.SwitchedIn, 1, 1, 0).
				at(at+3, process.Blocked, 1, 1, 0).at(at+53, process.SwitchedIn, 1, 1, 0).at(at+54, process.Exited, 1, 1, 0)
			run := events.run(at+54, 6.2, process.Thread{ID: 1, CPUNs: 6.2 * ms, WaitNs: int64((at - 2.2) * ms), ReadNs: int64((at + 54) * ms)})
			run.CoreHz, run.StealNs, run.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
			s.take(background, &run, 1)
			s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
		}
		r := conclude(s, DefaultPlan, quiet, quiet.checks())
		if r.Verdict != want || r.Estimate.Lo > 56.3*ms || want == stats.Trusted && r.Estimate.Hi < 56.1*ms {
			t.Errorf("blocks %v: %s, %+v, %q", blocks, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// A few runs had to read from a disk first: that is no sleep that the others made up for.
func TestReadsAreNoSleeps(t *testing.T) {
	s := &series{probed: true, timedWaits: 1, sleeps: 1}
	for i := range 20 {
		events, at := begun(), 0.
		if i%7 == 3 {
			for range 7 {
				events, at = events.at(at+0.1, process.Blocked, 1, 1, 0).at(at+2, process.SwitchedIn, 1, 1, 0), at+2
			}
		}
		kept := at + 2 + 10*float64(1+i)
		events = events.at(at+2, process.Preempted, 1, 1, 0).at(kept, process.SwitchedIn, 1, 1, 0).
			at(kept+3, process.Blocked, 1, 1, 0).at(kept+53, process.SwitchedIn, 1, 1, 0).at(kept+54, process.Exited, 1, 1, 0)
		run := events.run(kept+54, 6, process.Thread{ID: 1, CPUNs: 6 * ms, WaitNs: int64((kept - at - 2) * ms), ReadNs: int64((kept + 54) * ms)})
		run.CoreHz, run.StealNs, run.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		if at > 0 {
			run.MajorFaults = 7
		}
		s.take(background, &run, 1)
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
	}
	if r := conclude(s, DefaultPlan, quiet, quiet.checks()); r.Verdict != stats.Trusted || r.Estimate.Lo > 56.1*ms || r.Estimate.Hi < 55.9*ms {
		t.Errorf("56 ms: %s, %+v, %q", r.Verdict, r.Estimate, r.Reasons)
	}
}
