package program

import (
	"context"
	"math"

	"chronoscope/process"
)

// trajectory is the way of one run through the scheduler, as the kernel noted it. All
// times are in nanoseconds, from the program's exec to its end.
type trajectory struct {
	wallNs float64
	// threads is how many there were.
	threads int
	// ranNs is the time for which they had CPUs, all together.
	ranNs float64
	// idleNs is the time for which none of them ran, or could have run as far as switches tell.
	idleNs float64
	// deficientNs is the time for which one of them was kept from a CPU, while they had not all
	// of the CPUs that they may use.
	deficientNs float64
	// haltedNs is the time for which one of them was kept from a CPU and none had one.
	haltedNs float64
	// low and high are when the program would have ended alone, at the earliest and at the
	// latest.
	low, high progress
	// preemptions are how often other programs took a CPU away.
	preemptions int
	// wake is the time for which woken threads waited for a CPU, which switches don't tell: the
	// first one, and the others.
	leaderWake, othersWake wait
	// othersKnown says that the accounts of the others tell, and not what other runs showed.
	othersKnown bool
	// sleeps are how often the first thread blocked for longer than is passable, and
	// keptBeforeNs for how long threads had been kept from CPUs when it last did.
	sleeps       int
	keptBeforeNs float64
	// startNs is the time for which the first thread ran before its exec.
	startNs float64
	// stolenNs is what a hypervisor took while the first thread had a CPU.
	stolenNs float64
	// spunNs is the time for which threads ran while others of the program were kept from CPUs that
	// somebody else had: some may have spun, waiting for those. Processes share memory, too. A thread
	// that exited before any of those ran again did not.
	spunNs float64
	// blocksKnown is the number of blocks whose end is known, blocksUnknown that of the others.
	blocksKnown, blocksUnknown int
	// handed is the number of blocks that other threads of the program ended, not by exiting, and that
	// raise the earliest end. Where threads fight for a lock, their order may be another one alone.
	handed int
	// strangersNs is the time for which threads waited for other programs that are known, but not
	// from when on these worked for them.
	strangersNs float64
	// strangersKeptNs is the time for which other programs were kept from CPUs while they worked for
	// this one.
	strangersKeptNs float64
	// timers are the blocks that were ended by timers. moved is high if the end of each of these
	// moves with its begin.
	timers []timerWait
	moved  progress
	// timedCalls counts the calls that wait until some time, timesPassed those whose time had passed
	// before the thread gave up its CPU.
	timedCalls, timesPassed int
	// heldUpNs is the time for which others can have delayed the program, and workedForNs that for which others had
	// CPUs that may have worked for it, where the tracepoints' events tell these.
	heldUpNs, workedForNs float64
	heldUpKnown           bool
	// recordedNs is the time that recording tracepoints took from the threads. Not all of it delayed
	// the end.
	recordedNs float64
}

// progress is how far a thread would have come, alone on the machine, by the time that it
// really was at some point.
type progress struct {
	atNs float64
	// ranNs and preemptions are of the way that led there, as far back as it is all a
	// program's own: what disturbed it there delayed it.
	ranNs       float64
	preemptions int
	// hiddenNs is what was taken off for waits that switches don't show.
	hiddenNs float64
	// own says that the way leads back to the exec.
	own bool
}

// later returns the later of the two.
func (p progress) later(q progress) progress {
	if q.atNs > p.atNs {
		return q
	}
	return p
}

// atMost is the progress with an earlier end, if that is earlier.
func (p progress) atMost(ns float64) progress {
	p.atNs = math.Min(p.atNs, ns)
	return p
}

// wakeLatencyNs is how long a thread may take from being woken to running on a machine
// of its own: an idle CPU has to be told, and on a virtual machine to be scheduled by
// the host.
const wakeLatencyNs = 200e3

// exitLatencyNs is how long after the record of an exit the one that waits for it may
// be woken on a machine of its own.
const exitLatencyNs = 0.6e6

// Waits for something else than the program itself that are too short, in all, to have
// absorbed anything: page faults, locks of the kernel.
const passableNs, passableShare = 0.5e6, 0.005

// follow finds the trajectory of a run on `cpus` CPUs (0 if unknown), with the tracepoints' events;
// false if the kernel noted no events, or ctx ended. othersWakeNs bounds the time for which threads
// without accounts waited for a CPU after they were woken.
func follow(ctx context.Context, r *process.Run, cpus int, othersWakeNs float64, e wakeupEvents) (trajectory, bool) {
	if len(r.Events) == 0 || r.LostEvents > 0 || r.WallNs <= 0 {
		return trajectory{}, false
	}
	s := newSchedule(r.Events)
	if len(e.events) > 0 {
		s.addWakeups(e, float64(r.WallNs))
	}
	return s.follow(ctx, r, cpus, othersWakeNs)
}

// follow finds the trajectory that the schedule of a run shows.
func (s *schedule) follow(ctx context.Context, r *process.Run, cpus int, othersWakeNs float64) (trajectory, bool) {
	if s.leader == nil {
		return trajectory{}, false
	}
	// What a tracer's stops take is charged, and no exec gives a traced program other rights.
	if r.Untraced != nil && s.missed(r) {
		r.Unwatched = errMissed
		return trajectory{}, false
	}
	t := trajectory{wallNs: float64(r.WallNs), threads: len(s.order), recordedNs: s.recordedNs, heldUpNs: s.heldUpNs, workedForNs: s.workedForNs, heldUpKnown: s.heldUpKnown, timedCalls: s.timedCalls, timesPassed: s.timesPassed}
	t.against(s, r, othersWakeNs)
	t.startNs = s.leader.during(running, math.Inf(-1), 0)
	passable := math.Max(passableNs, passableShare*t.wallNs)
	w := &way{trajectory: &t, schedule: s, cpus: cpus, passableNs: passable, hiddenNs: t.wake().highNs}
	if w.sweep(ctx) != nil {
		return t, false
	}
	var err error
	if t.moved = t.high; len(t.timers) > 0 {
		t.moved, err = w.again(ctx, true, false)
	}
	if cpus > 0 && w.contendedNs > 0 {
		var high, moved progress
		high, err = w.again(ctx, false, true)
		if moved = high; len(t.timers) > 0 && err == nil {
			moved, err = w.again(ctx, true, true)
		}
		t.high, t.moved = t.high.atMost(t.greedyNs(high, cpus)), t.moved.atMost(t.greedyNs(moved, cpus))
	}
	return t, err == nil
}

// again sweeps once more, and returns the latest end that results under other assumptions.
func (w *way) again(ctx context.Context, timersMove, enoughCPUs bool) (progress, error) {
	t := trajectory{wallNs: w.wallNs}
	passable := math.Max(passableNs, passableShare*t.wallNs)
	next := &way{trajectory: &t, schedule: w.schedule, cpus: w.cpus, passableNs: passable, hiddenNs: w.hiddenNs, timersMove: timersMove, enoughCPUs: enoughCPUs}
	err := next.sweep(ctx)
	return t.high, err
}

// greedyNs bounds the time on a number of CPUs, from the longest path through the program, which is its
// time on as many CPUs as it has threads: while no CPU is idle that a thread waits for, a thread on that
// path waits only while all CPUs do work that is not on it (Graham, Bounds on Multiprocessing Timing
// Anomalies, 1969).
func (t *trajectory) greedyNs(path progress, cpus int) float64 {
	return path.atNs + math.Max(0, t.ranNs-path.ranNs)/float64(cpus)
}

// against holds the schedule against the kernel's own accounts of the threads.
func (t *trajectory) against(s *schedule, r *process.Run, othersAtMostNs float64) {
	t.leaderWake, t.othersWake = unknownWait, wait{0, othersAtMostNs}
	if r.WaitOf == process.NoThread {
		return
	}
	found, others := 0, wait{}
	for _, thread := range r.Threads {
		l := s.threads[thread.ID]
		if l == nil {
			continue
		}
		l.accounts(thread, l == s.last)
		if l == s.leader {
			t.stolenNs = math.Max(0, l.total(running)-float64(thread.CPUNs))
		}
	}
	for _, l := range s.order {
		if l.allWoken {
			l.wake = wait{}
		}
		if l.wake.known() {
			found++
		}
		if l != s.leader && l.wake.known() {
			others = others.plus(l.wake)
		}
	}
	t.leaderWake = s.leader.wake
	if t.othersKnown = found == len(s.order); t.othersKnown {
		t.othersWake = others
	}
}

// wake is that of all threads.
func (t *trajectory) wake() wait { return t.leaderWake.plus(t.othersWake) }

// known is a figure, 0 where it is not known.
func known(ns float64) float64 {
	if math.IsNaN(ns) {
		return 0
	}
	return ns
}
