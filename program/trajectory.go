package program

import (
	"context"
	"math"

	"chronoscope/process"
)

// trajectory is how one run went through the scheduler, as the kernel noted it. All times are in nanoseconds, from the
// program's exec to its end.
type trajectory struct {
	wallNs float64
	// threads is the number of the program's threads.
	threads int
	// ranNs is the total time for which they had CPUs.
	ranNs float64
	// idleNs is the time for which no thread had a CPU or was kept from one. It includes waits for a CPU after
	// wake-ups that switches don't show.
	idleNs float64
	// deficientNs is the time for which a thread was kept from a CPU while the program had fewer CPUs than it
	// may use.
	deficientNs float64
	// haltedNs is the time for which a thread was kept from a CPU and no thread had one.
	haltedNs float64
	// low and high are the earliest and the latest time at which the program would have ended alone.
	low, high progress
	// preemptions is the number of times that other programs took a CPU away.
	// moves is how many of these were preemptions of a thread that went on at another CPU.
	preemptions, moves int
	// displaced is how many of these were preemptions of a thread for whose CPU others of the program waited.
	displaced int
	// leaderWake and othersWake bound the time for which the first thread, and all others together, waited for
	// a CPU after they were woken, as far as switches don't show it.
	leaderWake, othersWake wait
	// othersKnown says that othersWake follows from the accounts of the threads, not from other runs.
	othersKnown bool
	// sleeps is the number of blocks of the first thread that were longer than passable. keptBeforeNs is the
	// time for which threads had been kept from CPUs before the last of these blocks.
	sleeps       int
	keptBeforeNs float64
	// startNs is the time for which the first thread ran before the exec, startKeptNs the time for which it waited for a
	// CPU.
	startNs, startKeptNs float64
	// stolenNs is the steal while the first thread had a CPU.
	stolenNs float64
	// spunNs is the time, summed over threads, for which a thread of the program ran while other programs kept another
	// thread of it, in any of its processes, from a CPU. The running thread may have spun meanwhile, waiting for the
	// other. Threads that exited before a kept thread got a CPU again are left out.
	spunNs float64
	// blocksKnown is the number of blocks with a known end, blocksUnknown that of the others.
	blocksKnown, blocksUnknown int
	// handed is the number of blocks that other threads of the program ended, other than by exiting, and that
	// raise the earliest end. If threads compete for a lock, they may get it in another order alone.
	handed int
	// awaitedOthersNs is the time for which threads of the program were blocked until a thread of another program
	// woke them, if no event shows when that thread began to work for the program. For a part of this time it may
	// have slept, or worked for other programs.
	awaitedOthersNs float64
	// forDisksNs is the time for which at least one thread of the program was blocked and may have waited for a disk: no
	// signal could wake it, or a device did.
	forDisksNs float64
	// polledNs bounds the delay of threads of other programs that may work for the program, up to the program's last
	// wait that no thread ended. A program may sleep until it finds that another has done its work.
	polledNs float64
	// serversKeptNs is the time for which other programs were kept from CPUs while they worked for this one.
	serversKeptNs float64
	// timers are the blocks that timers ended. moved is what high would be if all of these blocks were sleeps of
	// a fixed length.
	timers []timerWait
	moved  progress
	// timedCalls is the number of calls that wait until some time, timesPassed that of the calls whose time
	// had passed before the thread gave up its CPU.
	timedCalls, timesPassed int
	// heldUpNs is the most time for which others can have delayed the program, and workedForNs the time for
	// which others that are known to work for it had CPUs. heldUpKnown says that tracepoints told both.
	heldUpNs, workedForNs float64
	heldUpKnown           bool
	// recordedNs is the time that recording tracepoints took from the threads. Only a part of it delayed the end.
	recordedNs float64
}

// progress is how far a thread would have come by some moment of the run if it had been alone on the machine.
type progress struct {
	atNs float64
	// ranNs and preemptions are the running time and the preemptions on the path to here, as far back as the
	// path belongs to the program alone: what disturbed the program there delayed it.
	ranNs       float64
	preemptions int
	// hiddenNs is what was subtracted for waits that switches don't show.
	hiddenNs float64
	// own says that the path leads back to the exec.
	own bool
}

// later returns p or q, whichever is later.
func (p progress) later(q progress) progress {
	if q.atNs > p.atNs {
		return q
	}
	return p
}

// atMost returns the progress with atNs limited to ns.
func (p progress) atMost(ns float64) progress {
	p.atNs = math.Min(p.atNs, ns)
	return p
}

// wakeLatencyNs is the longest time from a thread's wake-up until it runs, on a machine of its own: an idle CPU has to
// be told, and on a virtual machine the host has to schedule it.
const wakeLatencyNs = 200e3

// exitLatencyNs is the longest time from the event of an exit until the thread that waits for it is woken, on a machine
// of its own.
const exitLatencyNs = 0.6e6

// passableNs and passableShare, of the wall time, bound the total of waits for something outside the program that are
// too short to have absorbed a delay, such as page faults and locks of the kernel.
const passableNs, passableShare = 0.5e6, 0.005

// follow finds the trajectory of a run on `cpus` CPUs (0 if unknown), also from the tracepoints' events. It returns
// false if the kernel's events are missing or incomplete, or if ctx ended; the trajectory may then still tell what preceded the
// exec. othersWakeNs bounds the time for which
// threads without accounts waited for a CPU after they were woken.
func follow(ctx context.Context, r *process.Run, cpus int, othersWakeNs float64, e wakeupEvents) (trajectory, bool) {
	if len(r.Events) == 0 || r.WallNs <= 0 {
		return trajectory{}, false
	}
	s := newSchedule(r.Events)
	if r.LostEvents > 0 {
		return s.beforeExec(), false
	}
	if len(e.events) > 0 {
		s.addWakeups(e, float64(r.WallNs), cpus)
	}
	return s.follow(ctx, r, cpus, othersWakeNs)
}

// follow finds the trajectory of the run that has this schedule.
func (s *schedule) follow(ctx context.Context, r *process.Run, cpus int, othersWakeNs float64) (trajectory, bool) {
	if s.leader == nil {
		return trajectory{}, false
	}
	// A traced program is charged for the stops by its tracer, and no exec gives it other rights.
	if r.Untraced != nil && s.missed(r) {
		r.Unwatched = errMissed
		return s.beforeExec(), false
	}
	t := trajectory{wallNs: float64(r.WallNs), threads: len(s.order), recordedNs: s.recordedNs, heldUpNs: s.heldUpNs, workedForNs: s.workedForNs, heldUpKnown: s.heldUpKnown, timedCalls: s.timedCalls, timesPassed: s.timesPassed}
	t.against(s, r, othersWakeNs)
	start := s.beforeExec()
	t.startNs, t.startKeptNs = start.startNs, start.startKeptNs
	passable := math.Max(passableNs, passableShare*t.wallNs)
	w := &way{trajectory: &t, schedule: s, cpus: cpus, passableNs: passable, hiddenNs: t.wake().highNs}
	if w.sweep(ctx) != nil {
		return t, false
	}
	t.polledNs = math.Min(w.endedByNoneNs, sumNs(overlap(s.workersKept, []interval{{0, w.endedByNoneAtNs}})))
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

// beforeExec returns what the first thread did before the exec, which the kernel's accounts hold and the wall time does not.
func (s *schedule) beforeExec() (t trajectory) {
	if s.leader != nil {
		t.startNs, t.startKeptNs = s.leader.during(running, math.Inf(-1), 0), s.leader.during(kept, math.Inf(-1), 0)
	}
	return t
}

// again sweeps once more under other assumptions, and returns the latest end under these.
func (w *way) again(ctx context.Context, timersMove, enoughCPUs bool) (progress, error) {
	t := trajectory{wallNs: w.wallNs}
	passable := math.Max(passableNs, passableShare*t.wallNs)
	next := &way{trajectory: &t, schedule: w.schedule, cpus: w.cpus, passableNs: passable, hiddenNs: w.hiddenNs, timersMove: timersMove, enoughCPUs: enoughCPUs}
	err := next.sweep(ctx)
	return t.high, err
}

// greedyNs bounds the time on a number of CPUs by the longest path through the program, which is its time with a CPU
// for each thread. If no CPU is idle while a thread waits for one, a thread on that path waits only while all CPUs do
// work that is not on the path (Graham, Bounds on Multiprocessing Timing Anomalies, 1969).
func (t *trajectory) greedyNs(path progress, cpus int) float64 {
	return path.atNs + math.Max(0, t.ranNs-path.ranNs)/float64(cpus)
}

// against sets the waits of woken threads, and the steal, by the kernel's accounts of the threads.
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

// wake returns the waits of all woken threads.
func (t *trajectory) wake() wait { return t.leaderWake.plus(t.othersWake) }

// known returns ns, or 0 if it is NaN.
func known(ns float64) float64 {
	if math.IsNaN(ns) {
		return 0
	}
	return ns
}
