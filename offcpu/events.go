package offcpu

import "chronoscope/tracepoint"

func (a *Analyser) add(e tracepoint.Event) {
	c := a.cpu(e.CPU)
	if c.current == nil && e.Kind < tracepoint.Losing { // this thread has had the CPU since the last switch
		c.current = a.thread(e.Thread, e.Process, e.AtNs)
		if t := c.current; t.state == waiting && t.sinceNs == a.listedNs { // the list of tasks called it runnable; it was running
			delete(c.waiters, t.id)
			if t.state, t.had = running, nil; t.ours && a.whole.doing == queues && a.whole.sinceNs == a.listedNs {
				a.whole.doing = runs
			}
		}
	}
	if a.losing > 0 && e.Kind < tracepoint.Forked {
		return
	}
	if e.Kind < tracepoint.Losing && e.Kind != tracepoint.Executed && c.current.id != e.Thread {
		a.missed(c, e)
		a.watch(e.AtNs) // the thread has run, even if this event ends that
	}
	a.wakers.Note(e)
	switch e.Kind {
	case tracepoint.Switched:
		a.switched(c, e)
	case tracepoint.Waking:
		a.wakes(e)
	case tracepoint.Started:
		t := a.thread(e.Other, 0, e.AtNs)
		if t.forked { // its wait begins now, not at the fork
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

// missed handles a thread that has a CPU although no event switched to it: the kernel left out a switch. This is
// not an error of our reader: on Linux 6.18 the kernel's own trace buffer (tracefs) lacks the same switches. On some
// virtual machines it reports nothing of a CPU's idle thread, for seconds or for as long as it was watched, and
// nothing of the threads of some processes. On CPUs that were kept busy, hardly any was left out. Who had the CPU since the last
// event is unknown.
func (a *Analyser) missed(c *cpu, e tracepoint.Event) {
	a.tally().missed++
	had := c.current
	if had.id == 0 {
		a.tally().missedIdle++
	}
	c.current, had.silent = nil, had.id != 0
	for _, t := range c.waiters {
		if a.charge(t, e.AtNs); t.silent { // it may have had the CPU, and may be blocked by now
			a.lose(t)
		}
	}
	if had.id != 0 && had.state == running && had.cpu == e.CPU {
		a.lose(had)
		a.close(had, Unknown, Who{}, e.AtNs)
	}
	if t := a.thread(e.Thread, e.Process, e.AtNs); t.id != 0 && t.state != ended {
		a.finishUnseen(t, e.AtNs)
		a.lose(t)
		a.close(t, Unknown, Who{}, e.AtNs)
		t.state, t.sinceNs, t.cpu, t.early = running, e.AtNs, e.CPU, nil
	}
	c.current = a.threads[e.Thread]
}

func (a *Analyser) forked(e tracepoint.Event) {
	parent := a.threads[e.Thread]
	if listed := a.threads[e.Other]; listed != nil && listed.ours && listed.state == unknown { // the list of tasks already has this thread
		a.own--
		a.living--
	}
	t := a.begin(e.Other, e.Value, "", e.AtNs)
	t.forked = true
	if parent != nil {
		t.name, t.cgroup, t.quotas = parent.name, parent.cgroup, parent.quotas
		t.kernel = parent.kernel || parent.id == kthreadd
	}
	inherits := parent != nil && parent.ours || a.owns(e.Value)
	t.begun = a.target.Parent != 0 && e.Process == a.target.Parent && e.Value != a.target.Parent
	a.adopt(t, inherits)
}

// kthreadd is the thread that starts all other kernel threads.
const kthreadd = 2

// executed handles exec: the calling thread becomes the main thread of its process, and the other
// threads end.
func (a *Analyser) executed(c *cpu, e tracepoint.Event) {
	leader := a.thread(e.Thread, e.Process, e.AtNs)
	for _, t := range a.threads {
		if t.process != e.Process || t == leader || t.state == ended {
			continue
		}
		if t == c.current { // it takes over the number of the main thread
			a.close(t, Ran, Who{}, e.AtNs)
			a.end(leader, e.AtNs)
			if leader.ours, leader.state, leader.sinceNs = t.ours, running, e.AtNs; leader.ours {
				a.living++
			}
			c.current = leader
		}
		a.end(t, e.AtNs)
	}
	if leader.begun && !leader.ours {
		a.close(leader, Unknown, Who{}, e.AtNs)
		a.adopt(leader, true)
	}
	if leader.name = e.Name; leader.ours {
		a.fresh[leader.process] = true
	}
}

// switched handles a switch of a CPU from one thread to another.
func (a *Analyser) switched(c *cpu, e tracepoint.Event) {
	prev := a.thread(e.Thread, e.Process, e.AtNs) // before next: the event also tells the process of the thread that has the CPU
	for _, t := range c.waiters {
		a.charge(t, e.AtNs)
	}
	next := a.thread(e.Other, 0, e.AtNs)
	if prev.id != 0 {
		a.leaves(prev, c, e)
	}
	if next.id != 0 {
		if next.name == "" || next.process != next.id {
			next.name = e.Name
		}
		a.gets(next, e.CPU, e.AtNs)
	}
	c.current = next
}

func (a *Analyser) leaves(t *thread, c *cpu, e tracepoint.Event) {
	switch t.state {
	case ended: // the list of tasks already has it as a zombie
		return
	case unknown: // it has been running since the recording began, or since events were lost
		t.state, t.cpu = running, e.CPU
	}
	a.close(t, Unknown, Who{}, e.AtNs)
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

func (a *Analyser) gets(t *thread, number int32, atNs int64) {
	switch {
	case t.state == ended:
		return
	case t.state == waiting:
		a.finish(t, atNs)
	case t.state == blocked && t.early != nil: // woken while it was about to give up its CPU
		a.close(t, t.early.cause, t.early.who, atNs)
	case t.state == running: // the event in which it gave up its CPU was missed
		a.lose(t)
		t.silent = true
		fallthrough
	default:
		a.close(t, Unknown, Who{}, atNs)
	}
	t.state, t.sinceNs, t.cpu, t.early = running, atNs, number, nil
}

func (a *Analyser) wakes(e tracepoint.Event) {
	t := a.thread(e.Other, 0, e.AtNs)
	w := a.waker(e, t)
	switch t.state {
	case running, waiting:
		t.silent = t.silent || t.state == waiting && t.wokenNs == t.sinceNs // it was woken before: meanwhile it had a CPU
		if !t.silent {
			t.early = &w
			return
		}
		a.lose(t) // it was blocked
	case ended:
		return
	case unknown:
		if t.sinceNs == a.startNs { // otherwise its state is unknown because events were lost
			t.state = blocked
		}
	}
	a.close(t, w.cause, w.who, e.AtNs)
	t.woken, t.wokenNs = w, e.AtNs
	a.ready(t, e.Value, e.AtNs)
}

// causeOf maps the source of a wake-up to the cause of the wait that it ends.
var causeOf = map[tracepoint.WakeSource]Cause{
	tracepoint.ByInterrupt: Interrupt, tracepoint.ByTimer: Timer, tracepoint.ByDevice: Device, tracepoint.ByNetwork: Network,
}

// waker returns the source of a wake-up.
func (a *Analyser) waker(e tracepoint.Event, woken *thread) wake {
	waker := a.wakers.Of(e)
	if waker.Source != tracepoint.ByThread {
		return wake{causeOf[waker.Source], Who{Name: waker.Name, Interrupt: waker.Interrupt}, e.AtNs}
	}
	by := a.thread(waker.Thread, waker.Process, e.AtNs)
	switch {
	case !by.kernel:
		return wake{a.relation(by.process, woken), a.whoever(by), e.AtNs}
	case by.woken.cause == Device && woken.state == blocked && by.wokenNs >= woken.sinceNs:
		return wake{Device, by.woken.who, e.AtNs} // the kernel thread passes on what the device did
	}
	return wake{KernelThread, a.whoever(by), e.AtNs}
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

// whoever identifies a thread of the target by itself, and any other thread by its process.
func (a *Analyser) whoever(t *thread) Who {
	switch {
	case t.id == 0:
		return Who{}
	case t.id == nobody:
		return nobodyKnown
	case t.ours:
		return Who{Process: t.process, Thread: t.id, Name: t.name, CGroup: t.cgroup}
	}
	who := Who{Process: t.process, Name: t.name, CGroup: t.cgroup}
	if leader := a.threads[t.process]; leader != nil && leader.name != "" {
		who.Name, who.CGroup = leader.name, leader.cgroup
	}
	return who
}
