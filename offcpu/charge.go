package offcpu

import "chronoscope/tracepoint"

// ready starts a thread's wait for a CPU.
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

// charge assigns the part of the wait since chargedNs to the thread that has the CPU.
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

// nobodyKnown stands for the unknown user of a CPU, and nobody for its number.
var nobodyKnown = Who{Process: nobody}

const nobody = -1

// finish ends a thread's wait for a CPU.
func (a *Analyser) finish(t *thread, atNs int64) {
	if !t.ours {
		return
	}
	a.charge(t, atNs)
	if c := a.cpus[t.cpu]; c != nil {
		delete(c.waiters, t.id)
	}
	if p := a.waited(t, atNs); p.DurationNs > 0 {
		a.delayed(p)
	}
}

// finishUnseen ends a thread's wait for a CPU at an event that shows that it has had one since an unknown time. A quota may
// have stopped it before: the rest of the wait is unknown.
func (a *Analyser) finishUnseen(t *thread, atNs int64) {
	if !t.ours || t.state != waiting {
		return
	}
	t.had = []turn{{nobodyKnown, atNs - t.sinceNs}}
	a.waited(t, atNs)
	t.sinceNs = atNs
}

// waited keeps a wait for a CPU until it is settled.
func (a *Analyser) waited(t *thread, atNs int64) Period {
	w := wait{Period: Period{t.process, t.id, t.name, t.sinceNs, atNs - t.sinceNs, RunqueueWait, Who{}}, of: t, cpu: t.cpu, quotas: t.quotas, had: t.had}
	if w.DurationNs > 0 {
		a.waits = append(a.waits, w)
	}
	a.live(t.sinceNs, atNs)
	return w.Period
}

// close ends the present state of a thread and counts its time. cause and who apply if the thread
// was blocked.
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
		if cause != Unknown && (t.blockedIn == tracepoint.Stopped || t.blockedIn == tracepoint.Traced) {
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
	if a.whole.ended.cause != NotWoken { // at the end one thread that waits tells more than the others, which are stopped
		a.whole.ended, a.whole.endedNs = key{cause, who}, atNs
	}
	if cause == Stopped {
		a.delayed(p)
	}
}

func (a *Analyser) end(t *thread, atNs int64) {
	if a.close(t, Unknown, Who{}, atNs); t.ours && t.state != ended {
		a.living--
	}
	t.state = ended
}

// forget makes the states of all threads and CPUs unknown, because events were lost. It includes
// CPUs that lost none: a lost event may have moved a thread there.
func (a *Analyser) forget(atNs int64) {
	for _, t := range a.threads {
		if t.state != ended {
			a.lose(t)
			a.close(t, Unknown, Who{}, atNs)
		}
	}
	for _, c := range a.cpus {
		c.current = nil
	}
	a.wakers.Forget()
}

// lose makes the state of a thread unknown since it began, because events are missing.
func (a *Analyser) lose(t *thread) {
	if t.state == waiting {
		delete(a.cpu(t.cpu).waiters, t.id)
	}
	for _, c := range a.ordered { // t.cpu may be the one to which it has been moved since
		if c.current == t {
			c.current = &thread{id: nobody}
		}
	}
	if t.ours && t.state == running {
		a.doubt(t.sinceNs)
	}
	if t.ours && t.state != blocked {
		a.lost[t] = true
	}
	t.state, t.early = unknown, nil
}
