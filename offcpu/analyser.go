package offcpu

import "chronoscope/tracepoint"

// Target selects the threads whose time is recorded.
type Target struct {
	Processes map[int32]bool // with all their descendants
	Thread    int32          // only this thread of a process; 0 for all threads
	// Parent is a process whose future children are recorded with all their descendants, from when they become another
	// program (exec). The process itself is not recorded, nor are children that never do. 0 for none.
	Parent int32
}

// Analyser derives from scheduler events what threads and CPUs do.
type Analyser struct {
	// WaitsIn returns the kernel function in which a thread waits when the recording ends, empty if unknown, and whether it
	// waits at all. It may be nil.
	WaitsIn func(process, thread int32) (function string, waits bool)

	target  Target
	wakers  *tracepoint.Wakers
	threads map[int32]*thread
	cpus    map[int32]*cpu
	ordered []*cpu // the values of cpus
	startNs int64
	lastNs  int64
	// runnable are the threads that the list of tasks calls runnable, until the events reach listedNs, the end of its
	// reading. Time before listedNs is not counted.
	runnable []*thread
	listedNs int64
	own      int // number of the target's threads
	living   int // number of the target's threads that have not ended
	losing   int // number of CPUs that are losing events now
	whole    whole
	lost     map[*thread]bool // those of the target's threads that had or wanted a CPU before events of them were missing
	tallies  []*tally         // in order of time; the last one is counting
	waits    []wait           // run-queue waits that settle has yet to split into throttling and competition
	late     Period           // the longest delay since the last call of Late
	// fresh are the target's processes that have started, or become another program, since their groups were looked up.
	// regroupedNs is the time of the last event before the last call of Regroup.
	fresh       map[int32]bool
	regroupedNs int64
}

// wait is a run-queue wait of a thread of the target.
type wait struct {
	Period
	of     *thread
	cpu    int32
	quotas []*Quota // of the groups in which the thread was
	had    []turn
	// wholeNs is the length of the time, up to the end of the wait, during which no thread of the target had a
	// CPU. It may be longer than the wait.
	wholeNs int64
}

func (p Period) endNs() int64 { return p.StartNs + p.DurationNs }

// Late returns the longest period since the last call in which a thread of the target was
// runnable without a CPU, or stopped. Its StartNs is in the time of events, not relative to the
// start of the recording.
func (a *Analyser) Late() (longest Period) {
	longest, a.late = a.late, longest
	return longest
}

// delayed notes a period in which a thread of the target was kept from running.
func (a *Analyser) delayed(p Period) {
	if beforeNs := a.listedNs - p.StartNs; beforeNs > 0 {
		p.StartNs, p.DurationNs = a.listedNs, p.DurationNs-beforeNs
	}
	if p.DurationNs > a.late.DurationNs {
		a.late = p
	}
}

// New starts an analysis of what happens from listedNs on. tasks are the threads that existed at some time between startNs,
// from which on the events tell what happened, and listedNs, when all were listed.
func New(tasks []tracepoint.Task, startNs, listedNs int64, target Target) *Analyser {
	a := &Analyser{
		target: target, wakers: tracepoint.NewWakers(), threads: map[int32]*thread{}, cpus: map[int32]*cpu{}, tallies: []*tally{newTally(listedNs)}, fresh: map[int32]bool{}, lost: map[*thread]bool{},
		startNs: startNs, lastNs: startNs, listedNs: listedNs, runnable: []*thread{}, whole: whole{sinceNs: startNs},
	}
	parents := map[int32]int32{}
	for _, task := range tasks {
		parents[task.Process] = task.Parent
	}
	for _, task := range tasks {
		t := a.begin(task.Thread, task.Process, task.Name, startNs)
		t.kernel, t.cgroup, t.blockedIn = task.Kernel, task.CGroup, task.State
		if task.State == tracepoint.Ended { // a zombie has no time left
			t.state, t.ours = ended, target.holds(task.Process, parents)
			continue
		}
		if a.adopt(t, target.holds(task.Process, parents)); task.State == tracepoint.Runnable {
			t.cpu, a.runnable = task.CPU, append(a.runnable, t)
		}
	}
	a.watch(startNs)
	a.reach(startNs)
	return a
}

// reach applies the list of tasks if the events have reached listedNs. A thread that was listed as runnable and has had no
// event until then was so from the start; the state of any other follows from its events.
func (a *Analyser) reach(atNs int64) {
	if a.runnable == nil || atNs < a.listedNs {
		return
	}
	has := map[*thread]bool{}
	for _, c := range a.cpus {
		has[c.current] = true
	}
	for _, t := range a.runnable {
		switch untouched := t.state == unknown && t.sinceNs == a.startNs && a.threads[t.id] == t; {
		case !untouched:
		case has[t]:
			t.state = running
		default:
			a.ready(t, t.cpu, a.listedNs) // if it already has the CPU, that CPU's first event will correct this
		}
	}
	a.runnable = nil
	a.watch(a.listedNs)
}

// holds reports whether a process belongs to the target or descends from a process that does.
func (t Target) holds(process int32, parents map[int32]int32) bool {
	for range len(parents) {
		if t.Processes[process] {
			return true
		}
		process = parents[process]
	}
	return false
}

// Alive reports whether the target has threads, or may still get some.
func (a *Analyser) Alive() bool {
	for _, t := range a.threads {
		if t.ours && t.state != ended {
			return true
		}
	}
	return a.target.Parent != 0
}

// begin adds a thread that was not known before.
func (a *Analyser) begin(id, process int32, name string, atNs int64) *thread {
	t := &thread{id: id, process: process, name: name, cpu: -1, sinceNs: atNs}
	a.threads[id] = t
	return t
}

// adopt marks a thread as the target's if ours is true and the target includes it.
func (a *Analyser) adopt(t *thread, ours bool) {
	if t.ours = ours && (a.target.Thread == 0 || a.target.Thread == t.id); t.ours {
		a.own++
		a.living++
		if t.id == t.process {
			a.fresh[t.process] = true
		}
	}
}

// Join adds processes that exist already to the target. Their time counts from the latest event on.
func (a *Analyser) Join(processes map[int32]bool) {
	for _, t := range a.threads {
		if t.ours || t.state == ended || !processes[t.process] {
			continue
		}
		if t.state == unknown && t.sinceNs == a.startNs && t.blockedIn != tracepoint.Runnable {
			t.state = blocked // it has had no event since the start
		}
		queued := t.state == waiting
		a.close(t, Unknown, Who{}, a.lastNs)
		if a.adopt(t, true); queued && t.ours {
			a.ready(t, t.cpu, a.lastNs)
		}
	}
	a.watch(a.lastNs)
}

// thread returns the thread with this number, and adds it if it is new. process is 0 if unknown.
func (a *Analyser) thread(id, process int32, atNs int64) *thread {
	t := a.threads[id]
	if t == nil {
		t = a.begin(id, 0, "", atNs)
	}
	if process > 0 && process != t.process {
		t.process = process
		if !t.ours { // the recording missed its start
			a.adopt(t, a.owns(process))
		}
	}
	return t
}

// owns reports whether the main thread of a process is the target's.
func (a *Analyser) owns(process int32) bool {
	first := a.threads[process]
	return first != nil && first.ours
}

func (a *Analyser) cpu(number int32) *cpu {
	c := a.cpus[number]
	if c == nil {
		c = &cpu{waiters: map[int32]*thread{}, atNs: a.startNs}
		a.cpus[number], a.ordered = c, append(a.ordered, c)
	}
	return c
}

// Add processes events, which must be in order of time.
func (a *Analyser) Add(events []tracepoint.Event) {
	for _, e := range events {
		if e.AtNs < a.startNs && e.Kind < tracepoint.Losing {
			continue
		}
		e.AtNs = max(e.AtNs, a.lastNs)
		a.reach(e.AtNs)
		a.lastNs = e.AtNs
		a.tally().events++
		a.add(e)
		a.watch(e.AtNs)
		a.settleShort()
		a.cpu(e.CPU).atNs = e.AtNs
	}
}

// settledNs is the time after the end of a wait by which the kernel has added it to the quota's
// counters.
const settledNs = 1e9

// Settle assigns waits to causes once those are certain, and forgets threads that have ended. A
// long recording calls it regularly to bound its memory.
func (a *Analyser) Settle() {
	a.settle(a.lastNs - settledNs)
	for id, t := range a.threads {
		if t.state == ended && t.sinceNs < a.lastNs-settledNs {
			delete(a.threads, id)
		}
	}
	a.forgetStops()
}
