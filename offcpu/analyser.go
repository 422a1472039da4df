package offcpu

import "chronoscope/tracepoint"

// Target are the threads whose time is looked at.
type Target struct {
	Processes map[int32]bool // with all that they start
	Thread    int32          // of a process, alone; 0 for all
	// Parent is a process whose later children are looked at, with all that they start, and which is not
	// itself; 0 for none.
	Parent int32
}

// Analyser follows threads and CPUs by events.
type Analyser struct {
	// WaitsIn names the function of the kernel that a thread waits in when the recording ends; nil where
	// that is not known.
	WaitsIn func(process, thread int32) string

	target  Target
	threads map[int32]*thread
	cpus    map[int32]*cpu
	ordered []*cpu // the same
	startNs int64
	lastNs  int64
	own     int // threads
	living  int // of them are there
	losing  int // CPUs of which events are lost just now
	whole   whole
	tallies []*tally // in order of time; the last counts now
	waits   []wait   // of which it is not known yet whether they were throttled
	quotas  []quota
	late    Period // the longest wait since it was asked for
}

// wait is a run-queue wait of an own thread.
type wait struct {
	Period
	had []turn
	// wholeNs is for how long at its end no thread of the target had a CPU.
	wholeNs int64
}

func (p Period) endNs() int64 { return p.StartNs + p.DurationNs }

// Late is the longest time for which an own thread could have run and had no CPU, or was stopped, of
// what ended since the last call. Its StartNs is a time of events.
func (a *Analyser) Late() (longest Period) {
	longest, a.late = a.late, longest
	return longest
}

// delayed notes that an own thread was kept from running.
func (a *Analyser) delayed(p Period) {
	if p.DurationNs > a.late.DurationNs {
		a.late = p
	}
}

// Quota is for how long the target's control groups have been stopped until a time, for their quota
// was used up.
type Quota struct{ AtNs, StoppedNs int64 }

// quota is a reading, and for how long since the one before the quota stopped the target, as far as no
// wait accounts for it.
type quota struct {
	Quota
	leftNs int64
}

// New follows threads from startNs on: tasks are those that there are then.
func New(tasks []tracepoint.Task, startNs int64, target Target) *Analyser {
	a := &Analyser{
		target: target, threads: map[int32]*thread{}, cpus: map[int32]*cpu{}, tallies: []*tally{newTally(startNs)},
		startNs: startNs, lastNs: startNs, whole: whole{sinceNs: startNs},
	}
	parents := map[int32]int32{}
	for _, task := range tasks {
		parents[task.Process] = task.Parent
	}
	for _, task := range tasks {
		t := a.begin(task.Thread, task.Process, task.Name, startNs)
		t.kernel, t.cgroup, t.blockedIn = task.Kernel, task.CGroup, task.State
		if a.adopt(t, target.holds(task.Process, parents)); task.State == tracepoint.Runnable {
			a.ready(t, task.CPU, startNs) // unless it has the CPU, as that CPU's first event tells
		}
	}
	a.watch(startNs)
	return a
}

// holds reports whether a process is the target's, or was started by one that is.
func (t Target) holds(process int32, parents map[int32]int32) bool {
	for range len(parents) {
		if t.Processes[process] {
			return true
		}
		process = parents[process]
	}
	return false
}

// Alive reports whether threads of the target are still there.
func (a *Analyser) Alive() bool {
	for _, t := range a.threads {
		if t.ours && t.state != ended {
			return true
		}
	}
	return a.target.Parent != 0
}

// begin is a thread that was not known until then.
func (a *Analyser) begin(id, process int32, name string, atNs int64) *thread {
	t := &thread{id: id, process: process, name: name, cpu: -1, sinceNs: atNs}
	a.threads[id] = t
	return t
}

// adopt makes a thread one of the target's.
func (a *Analyser) adopt(t *thread, ours bool) {
	if t.ours = ours && (a.target.Thread == 0 || a.target.Thread == t.id); t.ours {
		a.own++
		a.living++
	}
}

// thread is the one of this number.
func (a *Analyser) thread(id, process int32, atNs int64) *thread {
	t := a.threads[id]
	if t == nil {
		t = a.begin(id, 0, "", atNs)
	}
	if process > 0 && process != t.process {
		t.process = process
		if !t.ours { // its start was not noted
			a.adopt(t, a.owns(process))
		}
	}
	return t
}

// owns reports whether a process is one of the target's.
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

// Add follows events, which are in order of time.
func (a *Analyser) Add(events []tracepoint.Event) {
	for _, e := range events {
		if e.AtNs < a.startNs && e.Kind < tracepoint.Losing {
			continue
		}
		e.AtNs = max(e.AtNs, a.lastNs)
		a.lastNs = e.AtNs
		a.tally().events++
		a.add(e)
		a.watch(e.AtNs)
		a.cpu(e.CPU).atNs = e.AtNs
	}
}

// mostQuotas are kept: readings come twenty times a second.
const mostQuotas = 20_000

// settledNs is how long after a wait the quota's account has it.
const settledNs = 1e9

// AddQuota takes a reading of the target's quotas, in order of time.
func (a *Analyser) AddQuota(q Quota) {
	next := quota{Quota: q}
	if n := len(a.quotas); n > 0 {
		next.leftNs = max(0, q.StoppedNs-a.quotas[n-1].StoppedNs)
	}
	a.quotas = append(a.quotas[max(0, len(a.quotas)-mostQuotas):], next)
}

// Settle puts down what is known for certain, and forgets threads that are gone. Without it all is kept.
func (a *Analyser) Settle() {
	a.settle(a.lastNs - settledNs)
	for id, t := range a.threads {
		if t.state == ended && t.sinceNs < a.lastNs-settledNs {
			delete(a.threads, id)
		}
	}
}

func (a *Analyser) add(e tracepoint.Event) {
	c := a.cpu(e.CPU)
	if c.current == nil && e.Kind < tracepoint.Losing { // who has the CPU has had it since the last switch
		c.current = a.thread(e.Thread, e.Process, e.AtNs)
		if t := c.current; t.state == waiting && t.sinceNs == a.startNs { // it was listed as runnable
			delete(c.waiters, t.id)
			if t.state, t.had = running, nil; t.ours && a.whole.doing == queues && a.whole.sinceNs == a.startNs {
				a.whole.doing = runs
			}
		}
	}
	if a.losing > 0 && e.Kind < tracepoint.Forked {
		return
	}
	if e.Kind < tracepoint.Losing && e.Kind != tracepoint.Executed && c.current.id != e.Thread {
		a.missed(c, e)
	}
	switch e.Kind {
	case tracepoint.Switched:
		a.switched(c, e)
	case tracepoint.Waking:
		a.wakes(c, e)
	case tracepoint.Started:
		t := a.thread(e.Other, 0, e.AtNs)
		if t.forked { // it was not there before
			t.forked, t.sinceNs = false, e.AtNs
		}
		a.close(t, Unknown, Who{}, e.AtNs)
		a.ready(t, e.Value, e.AtNs)
	case tracepoint.Migrated:
		if t := a.thread(e.Other, 0, e.AtNs); t.state == waiting {
			a.charge(t, e.AtNs)
			delete(a.cpu(t.cpu).waiters, t.id)
			a.queue(t, e.Value)
		} else {
			t.cpu = e.Value
		}
	case tracepoint.Interrupt:
		c.interrupt, c.handlerNs = &Who{Name: e.Name, Interrupt: e.Value}, e.AtNs
	case tracepoint.InterruptEnd:
		c.interrupt = nil
	case tracepoint.TimerExpired:
		c.timerNs = e.AtNs
	case tracepoint.Softirq:
		c.vector = e.Value
	case tracepoint.SoftirqEnd:
		if c.vector == tracepoint.NetworkVector {
			c.raised = false
		}
		c.vector = tracepoint.OtherVector
	case tracepoint.Raised:
		a.raise(c, e)
	case tracepoint.Forked:
		a.forked(e)
	case tracepoint.Executed:
		a.executed(c, e)
	case tracepoint.Renamed:
		a.thread(e.Thread, e.Process, e.AtNs).name = e.Name
	case tracepoint.Losing:
		a.losing++
		a.forget(e.AtNs)
	case tracepoint.Lost:
		a.losing--
		a.tally().lost += int64(e.Value)
		a.forget(e.AtNs)
	}
}

// missed puts down that another thread has a CPU than the last event said: the kernel left out a switch.
// It is not our reader that does: on Linux 6.18 the kernel's own trace buffer, recorded during the same 4 s,
// lacks the same 44 of 18,480 switches. Who had the CPU since the last event is not known.
func (a *Analyser) missed(c *cpu, e tracepoint.Event) {
	a.tally().missed++
	had := c.current
	c.current = nil
	for _, t := range c.waiters {
		a.charge(t, e.AtNs)
	}
	if had.id != 0 && had.state == running && had.cpu == e.CPU {
		had.state = unknown
		a.close(had, Unknown, Who{}, e.AtNs)
	}
	c.current = a.thread(e.Thread, e.Process, e.AtNs)
	if t := c.current; t.id != 0 {
		if t.state == waiting {
			delete(a.cpu(t.cpu).waiters, t.id)
		}
		if t.state != ended {
			t.state = unknown
			a.close(t, Unknown, Who{}, e.AtNs)
		}
		t.state, t.sinceNs, t.cpu, t.early = running, e.AtNs, e.CPU, nil
	}
}

// raise notes who has network packets delivered: a process that sends to this machine, or a device.
func (a *Analyser) raise(c *cpu, e tracepoint.Event) {
	if e.Value != tracepoint.NetworkVector || e.Context == tracepoint.InSoftirq {
		return
	}
	c.raised, c.raisedBy = true, Who{}
	switch {
	case e.Context == tracepoint.InThread && e.Thread != 0:
		c.raisedBy = a.whoever(a.thread(e.Thread, e.Process, e.AtNs))
	case c.interrupt != nil:
		c.raisedBy = *c.interrupt
	}
}

func (a *Analyser) forked(e tracepoint.Event) {
	parent := a.threads[e.Thread]
	if listed := a.threads[e.Other]; listed != nil && listed.ours && listed.state == unknown { // it is the same one
		a.own--
		a.living--
	}
	t := a.begin(e.Other, e.Value, "", e.AtNs)
	t.forked = true
	if parent != nil {
		t.name, t.cgroup = parent.name, parent.cgroup
		t.kernel = parent.kernel || parent.id == kthreadd
	}
	inherits := parent != nil && parent.ours || a.owns(e.Value)
	begun := a.target.Parent != 0 && e.Process == a.target.Parent && e.Value != a.target.Parent
	a.adopt(t, inherits || begun)
}

// kthreadd is the thread that starts those of the kernel.
const kthreadd = 2

// executed is that a thread became another program: it is the first of its process then, and the others
// are gone.
func (a *Analyser) executed(c *cpu, e tracepoint.Event) {
	leader := a.thread(e.Thread, e.Process, e.AtNs)
	for _, t := range a.threads {
		if t.process != e.Process || t == leader || t.state == ended {
			continue
		}
		if t == c.current { // it takes the number of the first
			a.close(t, Ran, Who{}, e.AtNs)
			a.close(leader, Unknown, Who{}, e.AtNs)
			leader.ours, leader.state, leader.sinceNs = t.ours, running, e.AtNs
			c.current = leader
		}
		a.end(t, e.AtNs)
	}
	leader.name = e.Name
}

// switched is that a CPU goes from a thread to another.
func (a *Analyser) switched(c *cpu, e tracepoint.Event) {
	prev := a.thread(e.Thread, e.Process, e.AtNs) // first, since an event tells the process of a thread that has a CPU
	for _, t := range c.waiters {
		a.charge(t, e.AtNs)
	}
	next := a.thread(e.Other, 0, e.AtNs)
	if prev.id != 0 {
		a.leaves(prev, c, e)
	}
	c.current = next
	if next.id != 0 {
		if next.name == "" || next.process != next.id {
			next.name = e.Name
		}
		a.gets(next, e.CPU, e.AtNs)
	}
}

// leaves is that a thread gives up its CPU.
func (a *Analyser) leaves(t *thread, c *cpu, e tracepoint.Event) {
	if t.state != ended {
		if t.state == unknown { // it has run since the recording began, or since events were lost
			t.state, t.cpu = running, e.CPU
		}
		a.close(t, Unknown, Who{}, e.AtNs)
	}
	t.cpu = e.CPU
	switch state := tracepoint.State(e.Value); state {
	case tracepoint.Runnable:
		a.ready(t, e.CPU, e.AtNs)
	case tracepoint.Ended:
		a.end(t, e.AtNs)
	default:
		t.state, t.sinceNs, t.blockedIn = blocked, e.AtNs, state
	}
}

// gets is that a thread gets a CPU.
func (a *Analyser) gets(t *thread, number int32, atNs int64) {
	switch {
	case t.state == waiting:
		a.finish(t, atNs)
	case t.state == blocked && t.early != nil: // woken while it was about to give up its CPU
		a.close(t, t.early.cause, t.early.who, atNs)
	case t.state == running: // when it gave up its CPU was missed
		t.state = unknown
		fallthrough
	default:
		a.close(t, Unknown, Who{}, atNs)
	}
	t.state, t.sinceNs, t.cpu, t.early = running, atNs, number, nil
}

// wakes is that a thread is woken.
func (a *Analyser) wakes(c *cpu, e tracepoint.Event) {
	t := a.thread(e.Other, 0, e.AtNs)
	w := a.waker(c, e, t)
	switch t.state {
	case running, waiting:
		t.early = &w
		return
	case ended:
		return
	case unknown:
		if t.sinceNs == a.startNs { // else events were lost, and with them in which state it was
			t.state = blocked
		}
	}
	a.close(t, w.cause, w.who, e.AtNs)
	t.woken, t.wokenNs = w, e.AtNs
	a.ready(t, e.Value, e.AtNs)
}

// waker is who wakes a thread, or what.
func (a *Analyser) waker(c *cpu, e tracepoint.Event, woken *thread) wake {
	w := wake{cause: Interrupt, atNs: e.AtNs}
	const since = 1e6 // a handler wakes within this time of its timer
	switch {
	case e.Context == tracepoint.InInterrupt && c.timerNs > c.handlerNs && e.AtNs-c.timerNs < since:
		w.cause = Timer
	case e.Context == tracepoint.InInterrupt && c.interrupt != nil:
		w.cause, w.who = Device, *c.interrupt
	case e.Context == tracepoint.InInterrupt:
	case e.Context == tracepoint.InSoftirq && c.vector == tracepoint.TimerVector:
		w.cause = Timer
	case e.Context == tracepoint.InSoftirq && c.vector == tracepoint.NetworkVector:
		w.cause, w.who = Network, c.raisedBy
		if c.raised && c.raisedBy.Process != 0 {
			w.cause = a.relation(c.raisedBy.Process, woken)
		}
	case e.Context == tracepoint.InSoftirq && c.vector == tracepoint.BlockVector:
		w.cause, w.who = Device, Who{Name: "block device"}
	case e.Context == tracepoint.InSoftirq:
	case e.Thread == 0:
	default:
		by := a.thread(e.Thread, e.Process, e.AtNs)
		w.cause, w.who = a.relation(by.process, woken), a.whoever(by)
		if !by.kernel {
			break
		}
		w.cause = KernelThread
		if by.woken.cause == Device && woken.state == blocked && by.wokenNs >= woken.sinceNs {
			w.cause, w.who = Device, by.woken.who // the thread of the kernel passes on what the device has done
		}
	}
	return w
}

func (a *Analyser) relation(process int32, woken *thread) Cause {
	switch {
	case process == woken.process:
		return OwnThread
	case a.owns(process):
		return OwnProcess
	}
	return OtherProcess
}

// whoever names a thread: one of the target's own processes by itself, another by its process.
func (a *Analyser) whoever(t *thread) Who {
	if t.id == 0 {
		return Who{}
	}
	if t.ours {
		return Who{Process: t.process, Thread: t.id, Name: t.name, CGroup: t.cgroup}
	}
	who := Who{Process: t.process, Name: t.name, CGroup: t.cgroup}
	if leader := a.threads[t.process]; leader != nil && leader.name != "" {
		who.Name, who.CGroup = leader.name, leader.cgroup
	}
	return who
}

// ready is that a thread waits for a CPU.
func (a *Analyser) ready(t *thread, number int32, atNs int64) {
	t.state, t.sinceNs, t.had = waiting, atNs, nil
	t.chargedNs = atNs
	a.queue(t, number)
}

func (a *Analyser) queue(t *thread, number int32) {
	if t.cpu = number; t.ours && number >= 0 {
		a.cpu(number).waiters[t.id] = t
	}
}

// charge puts the wait since the last change down to who has the CPU.
func (a *Analyser) charge(t *thread, atNs int64) {
	if !t.ours {
		return
	}
	who := nobodyKnown
	if c := a.cpus[t.cpu]; c != nil && c.current != nil {
		who = a.whoever(c.current)
	}
	if n := len(t.had); n > 0 && t.had[n-1].who == who {
		t.had[n-1].ns += atNs - t.chargedNs
	} else {
		t.had = append(t.had, turn{who, atNs - t.chargedNs})
	}
	t.chargedNs = atNs
}

// nobodyKnown stands for a CPU of which it is not known what it did.
var nobodyKnown = Who{Process: -1}

// finish ends a wait for a CPU.
func (a *Analyser) finish(t *thread, atNs int64) {
	if !t.ours {
		return
	}
	a.charge(t, atNs)
	if c := a.cpus[t.cpu]; c != nil {
		delete(c.waiters, t.id)
	}
	if atNs > t.sinceNs {
		w := wait{Period: Period{t.process, t.id, t.name, t.sinceNs, atNs - t.sinceNs, RunqueueWait, Who{}}, had: t.had}
		a.waits = append(a.waits, w)
		a.delayed(w.Period)
	}
	a.live(t.sinceNs, atNs)
}

// close ends what a thread did until now. The cause is that of a block.
func (a *Analyser) close(t *thread, cause Cause, who Who, atNs int64) {
	d := atNs - t.sinceNs
	switch t.state {
	case ended:
		return
	case waiting:
		a.finish(t, atNs)
		t.state, t.sinceNs = unknown, atNs
		return
	case running:
		a.tally().busyNs[t.cpu] += d
		if t.ours {
			a.tally().ranOnNs[t.cpu] += d
		}
		cause, who = Ran, Who{}
	case unknown:
		cause, who = Unknown, Who{}
	case blocked:
		if t.blockedIn == tracepoint.Stopped || t.blockedIn == tracepoint.Traced {
			cause = Stopped
		}
	}
	if t.sinceNs = atNs; !t.ours || d <= 0 {
		return
	}
	a.live(atNs-d, atNs)
	a.count(key{cause, who}, atNs-d, d)
	if cause == Ran {
		return
	}
	p := Period{t.process, t.id, t.name, atNs - d, d, cause, who}
	a.tally().keep(p)
	a.whole.ended, a.whole.endedNs = key{cause, who}, atNs
	if cause == Stopped {
		a.delayed(p)
	}
}

// end is that a thread is gone.
func (a *Analyser) end(t *thread, atNs int64) {
	if a.close(t, Unknown, Who{}, atNs); t.ours && t.state != ended {
		a.living--
	}
	t.state = ended
}

// forget is that events were lost: what threads and CPUs did since their last event is not known. A
// thread that was to be moved, woken or given a CPU on one CPU may have been so on another.
func (a *Analyser) forget(atNs int64) {
	for _, t := range a.threads {
		if t.state == ended {
			continue
		}
		if t.state == waiting {
			delete(a.cpu(t.cpu).waiters, t.id)
		}
		t.state, t.early = unknown, nil
		a.close(t, Unknown, Who{}, atNs)
	}
	for _, c := range a.cpus {
		c.current, c.interrupt, c.raised = nil, nil, false
	}
}
