package program

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// wakeup tells how a block ended, by the kernel's tracepoints.
type wakeup struct {
	atNs   float64
	source tracepoint.WakeSource
	by     *line // the thread that ended the block; nil if something else did
	// inKernel says that no signal could wake the thread, as while it waits for a disk. What such a thread waits
	// for begins with the block.
	inKernel bool
	// low and high are the progress that by would have made alone until the wake-up, if known is set. linked
	// says that this progress follows from the measured program's own path.
	low, high     progress
	linked, known bool
	// tailNs is the time for which by ran between the note of its exit and the wake-up.
	tailNs float64
}

// wakeupEvents are the events of all threads of the machine during a run of a program.
type wakeupEvents struct {
	events []tracepoint.Event
	execNs int64 // the time 0 of the program's events, in ns of the monotonic clock
	// watcher is the process number of this process. kernel are the threads of the kernel.
	watcher int32
	kernel  map[int32]bool
	// eachNs is the most time that the kernel took to record one event.
	eachNs float64
}

func (e wakeupEvents) at(ns int64) float64 { return float64(ns - e.execNs) }

// turn is the moment when a thread got a CPU.
type turn struct {
	atNs   float64
	thread int32 // 0 is the idle thread, unknownThread one that is not known
}

// unknownThread stands in a CPU's turns where the kernel left out a switch.
const unknownThread = -1

// waking is a wake-up of a thread.
type waking struct {
	atNs   float64
	thread int32
	waker  tracepoint.Waker
}

// leaving is the moment when a thread gave up or lost its CPU.
type leaving struct {
	atNs  float64
	state tracepoint.State
}

// wakeups adds the tracepoints' events to the schedule of a run.
type wakeups struct {
	*schedule
	turns    map[int32][]turn   // by CPU
	wakings  map[int32][]waking // by thread
	leavings map[int32][]leaving
	foreign  map[int32]*line
	// idleNoted holds the CPUs whose idle thread left events. Some kernels, such as those of virtual machines that were
	// restored, note nothing of it: neither a wake-up by an interrupt that comes while the CPU is idle.
	idleNoted map[int32]bool
}

// mostForeign is the largest number of threads of other programs that are followed.
const mostForeign = 10_000

// earlyNs is the longest time by which the event of a wake-up may come before the event with which the block begins
// that the wake-up ends: a thread can be woken while it is still giving up its CPU.
const earlyNs = 50e3

// addWakeups finds out who ended the blocks of all threads, and follows the threads of other programs that ended some.
// The run took wallNs on the given number of CPUs.
func (s *schedule) addWakeups(e wakeupEvents, wallNs float64, cpus int) {
	w := &wakeups{s, map[int32][]turn{}, map[int32][]waking{}, map[int32][]leaving{}, map[int32]*line{}, map[int32]bool{}}
	all := w.read(e)
	w.findPassed(e)
	w.findForeign(all)
	w.followForeign(e)
	w.findIndependent(e, all)
	var latencies []float64
	for _, l := range slices.Concat(s.order, s.foreign) {
		latencies = append(latencies, w.attach(l)...)
	}
	s.latency = usualLatency(latencies)
	s.heldUpNs, s.workedForNs, s.workersKept = w.heldUp(e, all, wallNs, cpus)
	s.heldUpKnown = true
}

// latency holds the 10th and the 90th percentile of the time from a wake-up until an idle CPU runs the thread.
type latency struct{ lowNs, highNs float64 }

// fewestLatencies is the least number of wake-ups for these percentiles.
const fewestLatencies = 10

func usualLatency(all []float64) latency {
	if len(all) < fewestLatencies {
		return latency{0, wakeLatencyNs}
	}
	slices.Sort(all)
	return latency{math.Min(stats.Quantile(all, 0.1), wakeLatencyNs), math.Min(stats.Quantile(all, 0.9), wakeLatencyNs)}
}

// read sorts the events by CPU and by thread, and returns all wake-ups in order of time.
func (w *wakeups) read(e wakeupEvents) (all []waking) {
	wakers := tracepoint.NewWakers()
	for _, x := range e.events {
		wakers.Note(x)
		if w.named(x.Thread, e.at(x.AtNs)) != nil && x.AtNs >= e.execNs {
			w.recordedNs += e.eachNs
		}
		if x.Thread == 0 {
			w.idleNoted[x.CPU] = true
		}
		switch at := e.at(x.AtNs); x.Kind {
		case tracepoint.Waking:
			k := waking{at, x.Other, wakers.Of(x)}
			all = append(all, k)
			w.wakings[x.Other] = append(w.wakings[x.Other], k)
		case tracepoint.Started: // who starts a thread lets it run
			all = append(all, waking{at, x.Other, tracepoint.Waker{Source: tracepoint.ByThread, Thread: x.Thread}})
		case tracepoint.Switched:
			turns := w.turns[x.CPU]
			switch n := len(turns); {
			case n == 0 && x.Thread != 0: // it had this CPU before the events begin, or got it from the idle thread
				turns = append(turns, turn{w.leftIdle(x.Thread, int(x.CPU), e.at(e.events[0].AtNs), at), x.Thread})
			case n == 0 || turns[n-1].thread == x.Thread:
			case turns[n-1].thread == 0:
				turns = append(turns, turn{w.leftIdle(x.Thread, int(x.CPU), turns[n-1].atNs, at), x.Thread})
			default:
				turns[n-1].thread = unknownThread
			}
			w.turns[x.CPU] = append(turns, turn{at, x.Other})
			w.leavings[x.Thread] = append(w.leavings[x.Thread], leaving{at, tracepoint.State(x.Value)})
		}
	}
	return all
}

// leftIdle returns the earliest time, from `from` to `to`, at which a thread can have got a CPU that was idle. Some
// kernels, such as those of restored virtual machines, record no event of a CPU's idle thread.
func (w *wakeups) leftIdle(id int32, cpu int, from, to float64) float64 {
	if l := w.named(id, to); l != nil {
		i, _ := slices.BinarySearchFunc(l.spans, to-earlyNs, func(x span, ns float64) int { return cmp.Compare(x.to, ns) })
		for ; i < len(l.spans) && l.spans[i].from < to; i++ {
			if l.visited++; l.spans[i].state == running && l.spans[i].cpu == cpu {
				return math.Max(from, l.spans[i].from)
			}
		}
		return from
	}
	if all := w.wakings[id]; len(all) > 0 {
		return math.Max(from, all[len(all)-1].atNs)
	}
	return from
}

// findPassed counts the calls that wait until some time, and those calls in which the thread did not give up its CPU,
// since the time had passed or may have passed.
func (w *wakeups) findPassed(e wakeupEvents) {
	began := map[int32]float64{}
	for _, x := range e.events {
		at := e.at(x.AtNs)
		if at < 0 || x.Kind != tracepoint.TimedCall && x.Kind != tracepoint.TimedOut && x.Kind != tracepoint.OtherTimer {
			continue
		}
		l := w.named(x.Thread, at)
		if l == nil {
			continue
		}
		switch x.Kind {
		case tracepoint.TimedCall:
			w.timedCalls++
			began[x.Thread] = at
			continue
		case tracepoint.OtherTimer: // whether its time had passed is not known
			w.timesPassed++
			continue
		}
		if from, timed := began[x.Thread]; timed && !l.blockedWithin(from, at) {
			w.timesPassed++
		}
		delete(began, x.Thread)
	}
}

// blockedWithin reports whether the thread gave up its CPU between two times.
func (l *line) blockedWithin(from, to float64) bool {
	i, _ := slices.BinarySearchFunc(l.spans, from, func(x span, ns float64) int { return cmp.Compare(x.to, ns) })
	for ; i < len(l.spans) && l.spans[i].from <= to; i++ {
		if l.visited++; l.spans[i].state == blocked {
			return true
		}
	}
	return false
}

// findForeign finds the threads of other programs that woke threads of the program, directly or through others. Threads
// that woke it only before its exec, as its starter did, do not work for it.
func (w *wakeups) findForeign(all []waking) {
	for _, k := range slices.Backward(all) {
		by := k.waker.Thread
		if k.waker.Source != tracepoint.ByThread || w.foreign[by] != nil || w.named(by, k.atNs) != nil {
			continue
		}
		if w.foreign[k.thread] == nil && (k.atNs < 0 || w.named(k.thread, k.atNs) == nil) {
			continue
		}
		if len(w.foreign) < mostForeign {
			w.foreign[by] = &line{id: int(by), foreign: true, exitNs: math.NaN()}
		}
	}
}

// followForeign adds the spans of the foreign threads to the schedule.
func (w *wakeups) followForeign(e wakeupEvents) {
	open := map[*line]span{}
	enter := func(l *line, in state, x tracepoint.Event) {
		at := e.at(x.AtNs)
		if before, ok := open[l]; ok && at > before.from {
			before.to, before.next = at, int(x.CPU)
			l.spans = append(l.spans, before)
		}
		open[l] = span{state: in, from: at, cpu: int(x.CPU)}
	}
	for _, x := range e.events {
		if x.Kind == tracepoint.Started {
			if l := w.foreign[x.Other]; l != nil {
				l.starter = w.foreign[x.Thread]
				enter(l, kept, x)
			}
		}
		if x.Kind != tracepoint.Switched {
			continue
		}
		if l := w.foreign[x.Other]; l != nil {
			if _, seen := open[l]; !seen { // it had no CPU since the recording began
				enter(l, blocked, e.first(x))
			}
			enter(l, running, x)
		}
		l := w.foreign[x.Thread]
		if l == nil {
			continue
		}
		if before, seen := open[l]; !seen || before.state != running {
			began, ok := w.turnBefore(x.CPU, e.at(x.AtNs))
			switch {
			case ok && began.thread == x.Thread: // the kernel left out the switch before this one
				if !seen {
					enter(l, blocked, e.first(x))
				}
				y := x
				y.AtNs = e.execNs + int64(began.atNs)
				enter(l, running, y)
			case !seen: // it had the CPU since the recording began
				enter(l, running, e.first(x))
			}
		}
		if in := blocked; tracepoint.State(x.Value) != tracepoint.Runnable {
			enter(l, in, x)
		} else {
			enter(l, kept, x)
		}
	}
	for _, l := range w.foreign {
		if last, ok := open[l]; ok && len(e.events) > 0 && last.state == running {
			x := e.events[len(e.events)-1]
			x.CPU = int32(last.cpu)
			enter(l, running, x)
		}
		if l.order = len(w.order) + len(w.schedule.foreign); len(l.spans) > 0 {
			w.schedule.foreign = append(w.schedule.foreign, l)
		}
	}
	slices.SortFunc(w.schedule.foreign, func(a, b *line) int { return a.id - b.id })
}

// turnBefore returns the last turn of a CPU that began before a time; false if none did in the recording.
func (w *wakeups) turnBefore(cpu int32, ns float64) (turn, bool) {
	turns := w.turns[cpu]
	i, _ := slices.BinarySearchFunc(turns, ns, func(t turn, ns float64) int { return cmp.Compare(t.atNs, ns) })
	if i == 0 {
		return turn{}, false
	}
	return turns[i-1], true
}

// first returns the event x with the time of the first recorded event.
func (e wakeupEvents) first(x tracepoint.Event) tracepoint.Event {
	x.AtNs = e.events[0].AtNs
	return x
}

// attach finds out how the blocks of a thread ended, and separates the wait for a CPU after each wake-up from the
// block. It returns the times that idle CPUs took to run the thread.
func (w *wakeups) attach(l *line) (latencies []float64) {
	spans := make([]span, 0, len(l.spans))
	l.allWoken = true
	for i, x := range l.spans {
		if x.state != blocked || x.to <= 0 {
			spans = append(spans, x)
			continue
		}
		k, queuedNs, ok := w.wakeupOf(l, x)
		if !ok {
			l.allWoken = false
			x.byInterrupt = !w.idleNoted[int32(x.next)] && !w.wokenWithin(int32(l.id), x.from, x.to)
			if l.foreign && i == 0 { // it could run since before the recording
				x.state = kept
			}
			spans = append(spans, x)
			continue
		}
		w.wakes = append(w.wakes, k)
		told := x.to - queuedNs - math.Max(k.atNs, x.from)
		l.latencyNs += told
		if queuedNs == 0 {
			latencies = append(latencies, told)
		}
		woken := span{state: kept, from: x.to - queuedNs, to: x.to, cpu: x.next, next: x.next, woken: true}
		if x.to, x.wake = woken.from, k; x.to > x.from { // else it was woken as it gave up its CPU
			spans = append(spans, x)
		}
		if queuedNs > 0 {
			spans = append(spans, woken)
		}
	}
	l.spans = spans
	return latencies
}

// wakeupOf returns how a block ended, and the time for which other threads then had the CPU that the thread got; false
// if that is not certain.
func (w *wakeups) wakeupOf(l *line, x span) (k *wakeup, queuedNs float64, ok bool) {
	noted, ok := w.wakingWithin(int32(l.id), x.from, x.to)
	if !ok {
		return nil, 0, false
	}
	k = &wakeup{atNs: noted.atNs, source: noted.waker.Source, inKernel: w.inKernel(int32(l.id), x.from)}
	if k.source == tracepoint.ByThread {
		if k.by = w.named(noted.waker.Thread, k.atNs); k.by == nil {
			k.by = w.foreign[noted.waker.Thread]
		}
		if k.by == nil || k.by == l {
			return nil, 0, false
		}
	}
	if k.by != nil && k.atNs > k.by.exitNs {
		k.tailNs = w.ranNs(noted.waker.Thread, k.by.exitNs, k.atNs)
	}
	return k, w.queued(int32(l.id), int32(x.next), math.Max(k.atNs, x.from), x.to), true
}

// wokenWithin reports whether a wake-up of a thread was noted in a block.
func (w *wakeups) wokenWithin(id int32, from, to float64) bool {
	all := w.wakings[id]
	i, _ := slices.BinarySearchFunc(all, from-earlyNs, func(k waking, ns float64) int { return cmp.Compare(k.atNs, ns) })
	return i < len(all) && all[i].atNs <= to
}

// wakingWithin returns the only wake-up of a thread in a block; false if there is none, or if there are several, since
// then the recording lacks a switch.
func (w *wakeups) wakingWithin(id int32, from, to float64) (waking, bool) {
	all := w.wakings[id]
	first, _ := slices.BinarySearchFunc(all, from, func(k waking, ns float64) int { return cmp.Compare(k.atNs, ns) })
	n := first
	for n < len(all) && all[n].atNs <= to {
		n++
	}
	switch {
	case n == first+1:
		return all[first], true
	case n == first && first > 0 && all[first-1].atNs >= from-earlyNs: // woken as it gave up its CPU
		return all[first-1], true
	}
	return waking{}, false
}

// inKernel reports whether the thread that gave up its CPU at this time waited uninterruptibly.
func (w *wakeups) inKernel(id int32, ns float64) bool {
	all := w.leavings[id]
	i, _ := slices.BinarySearchFunc(all, ns, func(x leaving, ns float64) int { return cmp.Compare(x.atNs, ns) })
	return i < len(all) && all[i].atNs <= ns+earlyNs && all[i].state == tracepoint.Uninterruptible
}

// ranNs returns the time for which a thread had a CPU between two times.
func (w *wakeups) ranNs(id int32, from, to float64) (ns float64) {
	for _, turns := range w.turns {
		i, _ := slices.BinarySearchFunc(turns, from, func(x turn, ns float64) int { return cmp.Compare(x.atNs, ns) })
		for i = max(0, i-1); i < len(turns) && turns[i].atNs < to; i++ {
			end := to
			if i+1 < len(turns) {
				end = math.Min(to, turns[i+1].atNs)
			}
			if turns[i].thread == id {
				ns += math.Max(0, end-math.Max(from, turns[i].atNs))
			}
		}
	}
	return ns
}

// queued returns the time, between two times, for which other threads had the CPU that the thread got at the end. If
// the kernel left out who had the CPU, another thread did: a CPU does not stay idle while a thread waits for it.
func (w *wakeups) queued(id, cpu int32, from, to float64) (ns float64) {
	turns := w.turns[cpu]
	i, _ := slices.BinarySearchFunc(turns, math.Nextafter(to, math.Inf(1)), func(x turn, ns float64) int { return cmp.Compare(x.atNs, ns) })
	end := to
	if i--; i >= 0 && turns[i].thread == id { // its own turn begins just before the event of the switch to it
		end = math.Min(to, turns[i].atNs)
		i--
	}
	for ; i >= 0 && end > from; i-- {
		began := math.Max(from, turns[i].atNs)
		if turns[i].thread != 0 {
			ns += math.Max(0, end-began)
		}
		end = math.Min(end, began)
	}
	return ns
}
