package program

import (
	"errors"
	"math"
	"slices"

	"chronoscope/process"
)

// state tells what a thread does.
type state uint8

const (
	running state = iota
	kept          // waits for a CPU that another thread has
	blocked
)

// span is a stretch of time that a thread spends in one state.
type span struct {
	state    state
	from, to float64
	// cpu is the CPU that the thread has, lost or gave up. next is the CPU on which the span ended.
	cpu, next int
	// wake tells how a block ended; nil if unknown. woken says that a thread that is kept from a CPU was
	// woken before.
	wake  *wakeup
	woken bool
	// within says that another thread of the program got the CPU that the thread is kept from.
	within bool
	// byInterrupt says that an interrupt ended a block, as nothing else goes unnoted.
	byInterrupt bool
}

// line is the life of one thread: its spans in order of time.
type line struct {
	id, process, parent int
	foreign             bool // belongs to another program
	// independent is set for a thread of another program that is active of its own accord. servedNs are the times
	// at which a thread of another program worked for an independent one.
	independent bool
	servedNs    []float64
	starter     *line // the thread that started it; nil if unknown
	spans       []span
	order       int // index among the threads by their starts
	// exitNs is the time of its exit; NaN if no exit was noted.
	exitNs float64
	// blockedNs is the total time for which it was blocked after the program's exec.
	blockedNs float64
	// wake is the time for which the thread waited for a CPU after wake-ups, from its exec to its exit.
	wake wait
	// allWoken says that the end of each of its blocks is known. latencyNs is the time that idle CPUs then
	// took to run it.
	allWoken  bool
	latencyNs float64
	// sinceExits caches the result of [schedule.sinceExits]; nil if not computed yet.
	sinceExits *float64
	// visited is the number of spans and exits that were looked at for this thread. A test checks that it
	// grows no faster than the number of events.
	visited int
}

// wait bounds the time for which threads waited for a CPU without switches that show it.
type wait struct{ lowNs, highNs float64 }

// unknownWait is the wait if nothing is known.
var unknownWait = wait{0, math.Inf(1)}

func (w wait) known() bool { return !math.IsInf(w.highNs, 1) }

// ns returns the upper bound; 0 if there is none.
func (w wait) ns() float64 {
	if !w.known() {
		return 0
	}
	return w.highNs
}

func (w wait) plus(v wait) wait { return wait{w.lowNs + v.lowNs, w.highNs + v.highNs} }

// accounts bounds l.wake by the thread's run-queue wait, as the kernel counted it. The waits that the noted switches
// don't show came after blocks. Some of them don't belong to l.wake: those after blocks before the exec, and those
// between the event of the thread's exit and its end. Of the last thread to exit it is known how late its end was seen,
// which bounds its waits after the event of its exit from below.
func (l *line) accounts(t process.Thread, lastToExit bool) {
	l.blockedNs = l.during(blocked, 0, math.Inf(1))
	if l.allWoken {
		l.wake = wait{}
		return
	}
	unseen := float64(t.WaitNs) - l.latencyNs - l.during(kept, math.Inf(-1), float64(t.ReadNs))
	before := l.during(blocked, math.Inf(-1), 0)
	after := known(math.Max(0, float64(t.ReadNs)-l.exitNs))
	certain := 0.0
	if lastToExit {
		certain = math.Max(0, after-exitTailNs-float64(t.LateNs))
	}
	l.wake = wait{math.Max(0, unseen-before-after), math.Max(0, unseen-certain)}
}

// schedule holds what all threads of a run did, in nanoseconds from the program's exec.
type schedule struct {
	threads map[int]*line
	order   []*line // in order of their starts
	leader  *line   // the thread that became the program
	last    *line   // the last thread of the leader's process to exit
	// awaited holds, by process, the exits for which a thread of that process can have waited: those of its
	// own threads, and of processes that they started.
	awaited map[int][]exit
	// lives holds, by number, the threads that had the number, in order of time. foreign are threads of other
	// programs that woke threads of the program. wakes are the ends of blocks. latency is the time that idle
	// CPUs took to run a woken thread.
	lives   map[int][]life
	foreign []*line
	wakes   []*wakeup
	latency latency
	// recordedNs is the time that recording tracepoints took from the program's threads.
	recordedNs float64
	// heldUpNs, workedForNs and heldUpKnown are described in [trajectory].
	heldUpNs, workedForNs float64
	// workersKept are the times at which threads of other programs that may work for the program were kept from a CPU.
	workersKept []interval
	heldUpKnown bool
	// timedCalls and timesPassed are described in [trajectory].
	timedCalls, timesPassed int
}

// life is a thread, and the time at which it got its number.
type life struct {
	*line
	fromNs float64
}

// mostTailNs is the longest time for which a thread exists after the event of its exit, while it frees its memory.
const mostTailNs = 100e6

// named returns the program's thread that had the number id at a time; nil if there was none. After that thread's end
// another program may have the number.
func (s *schedule) named(id int32, atNs float64) (l *line) {
	for _, x := range s.lives[int(id)] {
		if l == nil || x.fromNs <= atNs {
			l = x.line
		}
	}
	if l != nil && l.exited() && atNs > l.exitNs+mostTailNs {
		return nil
	}
	return l
}

type exit struct {
	*line
	atNs float64
}

// add adds a thread on its first event.
func (s *schedule) add(e process.Event) *line {
	l := &line{
		id: e.Thread, process: e.Process, parent: e.Parent, starter: s.threads[e.Parent],
		order: len(s.order), exitNs: math.NaN(), wake: unknownWait,
	}
	s.threads[e.Thread] = l
	s.lives[e.Thread] = append(s.lives[e.Thread], life{l, float64(e.AtNs)})
	s.order = append(s.order, l)
	return l
}

// exit records the end of a thread.
func (s *schedule) exit(l *line, atNs float64) {
	l.exitNs = atNs
	x := exit{l, atNs}
	s.awaited[l.process] = append(s.awaited[l.process], x)
	if l.parent != l.process {
		s.awaited[l.parent] = append(s.awaited[l.parent], x)
	}
	if by := l.starter; by != nil && by.process != l.parent && by.process != l.process {
		s.awaited[by.process] = append(s.awaited[by.process], x)
	}
	if s.leader != nil && l.process == s.leader.process {
		s.last = l
	}
}

// newSchedule builds the schedule from the kernel's events. Events that don't fit are skipped.
func newSchedule(events []process.Event) *schedule {
	s := &schedule{threads: map[int]*line{}, awaited: map[int][]exit{}, lives: map[int][]life{}, latency: usualLatency(nil)}
	open := map[int]span{}
	preempted := map[int]int{} // by CPU, the thread that lost it last
	for _, e := range events {
		at := float64(e.AtNs)
		l := s.threads[e.Thread]
		if l == nil || e.Kind == process.Forked && l.exited() { // its number is in use again
			l = s.add(e)
		}
		if e.Kind == process.Executed {
			switch {
			case e.AtNs == 0 && s.leader == nil:
				s.leader = l
			case l.exited():
				s.takeOver(l, at, open)
			}
			continue
		}
		if before, ok := open[e.Thread]; ok && at > before.from {
			before.to, before.next = at, e.CPU
			l.spans = append(l.spans, before)
		}
		switch e.Kind {
		case process.SwitchedIn:
			open[e.Thread] = span{state: running, from: at, cpu: e.CPU}
			if lost, ok := open[preempted[e.CPU]]; ok && lost.state == kept && lost.cpu == e.CPU && at-lost.from <= switchNs {
				lost.within = true
				open[preempted[e.CPU]] = lost
			}
		case process.Preempted, process.Forked:
			open[e.Thread] = span{state: kept, from: at, cpu: e.CPU}
			if e.Kind == process.Preempted {
				preempted[e.CPU] = e.Thread
			}
		case process.Blocked:
			open[e.Thread] = span{state: blocked, from: at, cpu: e.CPU}
		case process.Exited:
			delete(open, e.Thread)
			s.exit(l, at)
		}
	}
	for _, l := range s.order {
		if x, ok := open[l.id]; ok && x.state == kept && s.threads[l.id] == l { // it had no CPU when the run ended
			x.to, x.next = float64(events[len(events)-1].AtNs), x.cpu
			l.spans = append(l.spans, x)
		}
	}
	if s.last == nil {
		s.leader = nil
	}
	return s
}

// switchNs is the longest time between the two events of a switch: one thread leaves a CPU, and the next one gets it.
// A program that ran in between had the CPU for less.
const switchNs = 10e3

// missed reports whether the kernel charged for much more CPU time than its events show. The kernel records no more
// events of a program after an exec that changes the program's rights, or of a file that may not be read. The kernel
// records none of a CPU that came up after the start.
func (s *schedule) missed(r *process.Run) bool {
	more := func(chargedNs, notedNs float64, threads int) bool {
		return chargedNs-notedNs > missedNs*float64(threads)+missedShare*chargedNs
	}
	var notedNs float64
	for _, l := range s.order {
		notedNs += l.total(running)
	}
	for _, t := range r.Threads {
		if l := s.threads[t.ID]; l != nil && more(float64(t.CPUNs), l.total(running), 1) {
			return true
		}
	}
	return more(float64(r.CPUNs()), notedNs, len(s.order))
}

var errMissed = errors.New("it was charged for more time than the kernel noted, as where it has rights of its own, or may not be read")

// missedNs (for each thread) and missedShare (of the CPU time) bound the time that a program may be charged for beyond
// its events, since each thread goes on after the event of its exit: on a busy host for 1 ms.
const missedNs, missedShare = 3e6, 0.05

// exited reports whether the thread has exited.
func (l *line) exited() bool { return !math.IsNaN(l.exitNs) }

// takeOver handles the exec of a thread that is not the first one of its process: that thread is the only one left, and
// takes over the number of the first one, which has exited (execve(2)).
func (s *schedule) takeOver(first *line, atNs float64, open map[int]span) {
	for _, l := range s.order {
		if l.process != first.process || l.exited() {
			continue
		}
		if now, ok := open[l.id]; ok {
			delete(open, l.id)
			open[first.id] = now
		}
		s.threads[first.id] = l
		s.lives[first.id] = append(s.lives[first.id], life{l, atNs})
		if s.leader == first {
			s.leader = l
		}
		return
	}
}

// exitBefore returns the thread for whose exit l may have waited while it was blocked from began to woken, and the
// time of that exit, at most woken. Of several exits it takes the last one. It leaves out l itself and the threads in
// but. The thread is nil if there is no such exit.
func (s *schedule) exitBefore(l *line, began, woken float64, but map[*line]bool) (*line, float64) {
	// A thread wakes the one that joins it a little before its exit is noted.
	exits := s.awaited[l.process]
	for _, e := range slices.Backward(exits[:after(exits, woken+wakeLatencyNs)]) {
		l.visited++
		if e.atNs < began {
			break
		}
		if e.line != l && !but[e.line] {
			return e.line, math.Min(e.atNs, woken)
		}
	}
	return nil, 0
}

// exitAfter returns the first exit of a thread of the same process after a time; nil if there is none.
func (s *schedule) exitAfter(l *line, atNs float64, but map[*line]bool) *line {
	exits := s.awaited[l.process]
	for _, e := range exits[after(exits, atNs):] {
		l.visited++
		if e.process == l.process && !but[e.line] {
			return e.line
		}
	}
	return nil
}

// after returns the index of the first exit after a time.
func after(exits []exit, ns float64) int {
	i, _ := slices.BinarySearchFunc(exits, ns, func(e exit, ns float64) int {
		if e.atNs <= ns {
			return -1
		}
		return 1
	})
	return i
}

// total returns the time that the thread spent in a state.
func (l *line) total(in state) (ns float64) {
	l.visited += len(l.spans)
	for _, x := range l.spans {
		if x.state == in {
			ns += x.to - x.from
		}
	}
	return ns
}

// during returns the time that the thread spent in a state between two times.
func (l *line) during(in state, from, to float64) (ns float64) {
	l.visited += len(l.spans)
	for _, x := range l.spans {
		if x.state == in {
			ns += math.Max(0, math.Min(x.to, to)-math.Max(x.from, from))
		}
	}
	return ns
}

// wakeOf returns the least time for which the thread waited for a CPU at the end of a block of ns: its waits after all
// blocks, less what may have been after the other blocks.
func (l *line) wakeOf(ns float64) float64 {
	others := math.Max(0, l.blockedNs-ns)
	return math.Min(ns, math.Max(0, l.wake.lowNs-others))
}

// ender returns the thread that ended the program: the last one to exit, or the thread of the same process that ended
// that one.
func (s *schedule) ender() *line {
	l := s.last
	seen := map[*line]bool{nil: true}
	for !seen[l] {
		seen[l] = true
		from, woken, ok := l.lastBlock()
		if !ok || l == s.leader || l.during(running, woken, math.Inf(1)) > dyingNs {
			return l
		}
		other, _ := s.exitBefore(l, from, woken, seen)
		if other == nil || other.process != l.process {
			other = s.exitAfter(l, woken, seen)
		}
		if other == nil {
			return l
		}
		l = other
	}
	return l
}

// dyingNs is the longest time for which a thread runs after another thread has ended their process.
const dyingNs = 1e6

// sinceExits returns the total time for which the thread was still blocked after exits for which it can have waited.
func (s *schedule) sinceExits(l *line) (ns float64) {
	if l.sinceExits == nil {
		for _, x := range l.spans {
			if exited, atNs := s.exitBefore(l, x.from, x.to, nil); x.state == blocked && exited != nil {
				ns += x.to - atNs
			}
		}
		l.sinceExits = &ns
	}
	return *l.sinceExits
}

// lastCPU returns the CPU on which the thread was last; -1 if it never had one.
func (l *line) lastCPU() int {
	if len(l.spans) == 0 {
		return -1
	}
	return l.spans[len(l.spans)-1].cpu
}

// lastBlock returns the bounds of the thread's last block; ok is false if it never blocked.
func (l *line) lastBlock() (fromNs, toNs float64, ok bool) {
	for _, x := range slices.Backward(l.spans) {
		if x.state == blocked {
			return x.from, x.to, true
		}
	}
	return 0, 0, false
}
