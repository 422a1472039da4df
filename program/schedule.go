package program

import (
	"errors"
	"math"
	"slices"

	"chronoscope/process"
)

// state is what a thread does.
type state uint8

const (
	running state = iota
	kept          // from a CPU: others have it
	blocked
)

// span is a stretch in one state.
type span struct {
	state    state
	from, to float64
	// cpu is the CPU that the thread had, lost or gave up, next the one on which the
	// stretch ended.
	cpu, next int
	// wake is how a block ended; nil if unknown. woken says that a thread that is kept from a CPU
	// was woken before.
	wake  *wakeup
	woken bool
	// within says that another thread of the program got the CPU that a thread is kept from.
	within bool
}

// line is the life of one thread.
type line struct {
	id, process, parent int
	foreign             bool  // of another program
	starter             *line // that started it; nil for none that is known
	spans               []span
	order               int // its place among the threads, by their starts
	// exitNs is when it exited, as far as that is noted; NaN where it did not.
	exitNs float64
	// blockedNs is the time for which it was blocked after the program's exec, all together.
	blockedNs float64
	// wake is the time for which it waited for a CPU after it was woken, from its exec to its exit.
	wake wait
	// allWoken says that the end of each of its blocks is known; latencyNs is the time that idle
	// CPUs then took to run it.
	allWoken  bool
	latencyNs float64
	// sinceExits is what [schedule.sinceExits] found; nil before.
	sinceExits *float64
	// visited is how many spans and exits were looked at on its behalf: a test holds that this
	// grows no faster than the number of events.
	visited int
}

// wait is the time for which threads waited for a CPU where switches don't show it: at least, and
// at most.
type wait struct{ lowNs, highNs float64 }

// unknownWait is one of which nothing is known.
var unknownWait = wait{0, math.Inf(1)}

func (w wait) known() bool { return !math.IsInf(w.highNs, 1) }

// ns is the most that is known of.
func (w wait) ns() float64 {
	if !w.known() {
		return 0
	}
	return w.highNs
}

func (w wait) plus(v wait) wait { return wait{w.lowNs + v.lowNs, w.highNs + v.highNs} }

// accounts holds what the kernel counted of the thread against its switches. What it waited
// beyond those that show was after blocks; but some of these were before its exec, and on
// its way from the event of its exit to its end it may have waited, too. Where the thread was
// the last to exit, it is known for how long its end was seen later than that.
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

// schedule is what all threads did, in nanoseconds from the program's exec.
type schedule struct {
	threads map[int]*line
	order   []*line // by their starts
	leader  *line   // that became the program
	last    *line   // of its process to exit
	// awaited are, by process, the exits that a thread of it can have waited for: of its own
	// threads, and of processes that they started.
	awaited map[int][]exit
	// lives are the threads that had a number, in order. foreign are threads of other programs that
	// woke the program's, wakes the ends of blocks, and latency the time that idle CPUs took to run
	// a woken thread.
	lives   map[int][]life
	foreign []*line
	wakes   []*wakeup
	latency latency
	// recordedNs is the time that recording tracepoints took from the program's threads.
	recordedNs float64
	// heldUpNs, workedForNs and heldUpKnown are those of [trajectory].
	heldUpNs, workedForNs float64
	heldUpKnown           bool
	// timedCalls and timesPassed are those of [trajectory].
	timedCalls, timesPassed int
}

// life is a thread and the moment from which on it has its number.
type life struct {
	*line
	fromNs float64
}

// mostTailNs is the longest time for which a thread exists after the note of its exit, to free its
// memory.
const mostTailNs = 100e6

// named returns the program's thread that had a number at a time; nil if none had it. After the
// thread's end another program may have the number.
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

// add enters a thread that is seen for the first time.
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

// exit enters the end of a thread.
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

// newSchedule reads the kernel's notes. They come from outside: what does not fit is
// passed over.
func newSchedule(events []process.Event) *schedule {
	s := &schedule{threads: map[int]*line{}, awaited: map[int][]exit{}, lives: map[int][]life{}, latency: usualLatency(nil)}
	open := map[int]span{}
	preempted := map[int]int{} // the thread that lost a CPU last
	for _, e := range events {
		at := float64(e.AtNs)
		l := s.threads[e.Thread]
		if l == nil || e.Kind == process.Forked && l.exited() { // whose number is given anew
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
		if x, ok := open[l.id]; ok && x.state == kept && s.threads[l.id] == l { // it still had no CPU when the run ended
			x.to, x.next = float64(events[len(events)-1].AtNs), x.cpu
			l.spans = append(l.spans, x)
		}
	}
	if s.last == nil {
		s.leader = nil
	}
	return s
}

// switchNs is the longest time between the two notes of a switch: one thread leaves a CPU, and the next has it. A
// program that ran in between had the CPU for less.
const switchNs = 10e3

// missed says whether the kernel charged for much more time on CPUs than it noted: it stops
// noting a program at its exec where that gives it other rights, or may not be read, and
// notes nothing of a CPU that came up since.
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

// What a program is charged for may be so much more than was noted, since each thread goes on
// after the note of its exit: on a busy host that was seen to take 1 ms.
const missedNs, missedShare = 3e6, 0.05

// exited says whether it has.
func (l *line) exited() bool { return !math.IsNaN(l.exitNs) }

// takeOver gives the number of a process's first thread, which has exited, to the one that
// called exec: it is the only one left (execve(2)).
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

// exitBefore is the last exit, while a thread was blocked, that it can have waited for.
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

// exitAfter is the first exit of a thread of the same process after a time.
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

// after is the index of the first exit after a time.
func after(exits []exit, ns float64) int {
	i, _ := slices.BinarySearchFunc(exits, ns, func(e exit, ns float64) int {
		if e.atNs <= ns {
			return -1
		}
		return 1
	})
	return i
}

// total is the time for which the thread was in a state.
func (l *line) total(in state) (ns float64) {
	l.visited += len(l.spans)
	for _, x := range l.spans {
		if x.state == in {
			ns += x.to - x.from
		}
	}
	return ns
}

// during is the time for which the thread was in a state, between two times.
func (l *line) during(in state, from, to float64) (ns float64) {
	l.visited += len(l.spans)
	for _, x := range l.spans {
		if x.state == in {
			ns += math.Max(0, math.Min(x.to, to)-math.Max(x.from, from))
		}
	}
	return ns
}

// wakeOf is how long the thread waited for a CPU at the end of a block that took ns, at
// least: all that it waited after blocks, less what may have been waited after the others.
func (l *line) wakeOf(ns float64) float64 {
	others := math.Max(0, l.blockedNs-ns)
	return math.Min(ns, math.Max(0, l.wake.lowNs-others))
}

// ender is the thread that ended the program: the last to exit, or, where that was ended
// by another one of its process, the other.
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

// dyingNs is how long a thread may run whose process another one has ended.
const dyingNs = 1e6

// sinceExits is the time for which, all together, the thread was still blocked after the exits that it
// can have waited for.
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

// lastCPU is the CPU that the thread was on last; -1 if it never had one.
func (l *line) lastCPU() int {
	if len(l.spans) == 0 {
		return -1
	}
	return l.spans[len(l.spans)-1].cpu
}

// lastBlock is the thread's last one.
func (l *line) lastBlock() (fromNs, toNs float64, ok bool) {
	for _, x := range slices.Backward(l.spans) {
		if x.state == blocked {
			return x.from, x.to, true
		}
	}
	return 0, 0, false
}
