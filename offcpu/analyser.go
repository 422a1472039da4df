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
	wakers  *tracepoint.Wakers
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
	// wholeNs is the time for which at its end no thread of the target had a CPU.
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

// Quota is the time for which the target's control groups have been stopped until a time, for their quota
// was used up.
type Quota struct{ AtNs, StoppedNs int64 }

// quota is a reading, and how long the quota stopped the target since the reading before, as far as no
// wait accounts for it.
type quota struct {
	Quota
	leftNs int64
}

// New follows threads from startNs on: tasks are those that there are then.
func New(tasks []tracepoint.Task, startNs int64, target Target) *Analyser {
	a := &Analyser{
		target: target, wakers: tracepoint.NewWakers(), threads: map[int32]*thread{}, cpus: map[int32]*cpu{}, tallies: []*tally{newTally(startNs)},
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
