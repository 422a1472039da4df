package clocktest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Run runs a program once.
func (c Crowd) Run(rng *rand.Rand, script []Step) CrowdRun {
	r := &crowdRun{given: c, rng: rng, posts: map[int]int{}, out: CrowdRun{CPUNs: map[int]float64{}, WaitNs: map[int]float64{}}}
	r.cpus = make([]crowdCPU, max(1, c.CPUs))
	for i := range r.cpus {
		for range c.load(i) - 1 {
			r.competitors++
			r.cpus[i].queue = append(r.cpus[i].queue, &crowdThread{number: -r.competitors, left: math.Inf(1)})
		}
	}
	r.threads = 1
	first := &crowdThread{id: 1, number: 1, process: 1, script: script}
	r.put(0, first) // the program starts with a CPU, as right after exec
	r.cpus[0].sliceEnd = r.slice() * rng.Float64()
	for _, does := range c.Beside {
		script := does(rng)
		r.competitors++
		r.enqueue(&crowdThread{number: -r.competitors, does: does, script: script[rng.IntN(len(script)):]}, false)
	}
	for i := range r.cpus {
		if r.cpus[i].running == nil {
			r.next(i)
		}
	}
	for !first.ended {
		r.step()
	}
	r.out.WallNs = r.now
	return r.out
}

// load returns how many threads want a CPU, including one of the program.
func (c Crowd) load(cpu int) int {
	if cpu < len(c.Loads) {
		return max(1, c.Loads[cpu])
	}
	return max(1, c.Load)
}

type crowdThread struct {
	id, process int // 0 for threads of other programs
	number      int // number among the threads of all programs
	bound       int // the CPU to which it is bound, counted from 1; 0 for none
	script      []Step
	does        func(*rand.Rand) []Step // the steps of another program that runs at the same time; nil for all other threads
	left        float64                 // remaining work of the present step; infinite for a competitor
	parent      *crowdThread
	children    int // number of children that have not ended
	joining     bool
	waiting     int // number of the semaphore that it waits for; 0 for none
	wakeAt      float64
	ended       bool
	asks        bool // it waits for a device
	told        bool // the waking was reported already
	queuedAt    float64
	cpu         int
	preempted   bool
}

type crowdCPU struct {
	had      int // the thread that ran last on the CPU, 0 for none
	hadState CrowdEventKind
	running  *crowdThread
	queue    []*crowdThread
	sliceEnd float64
}

type crowdRun struct {
	given                Crowd
	rng                  *rand.Rand
	now                  float64
	cpus                 []crowdCPU
	sleeper              []*crowdThread
	threads, competitors int
	posts                map[int]int // the count of each semaphore
	out                  CrowdRun
}

func (r *crowdRun) note(t *crowdThread, kind CrowdEventKind) {
	if t.id == 0 {
		return
	}
	parent := 0
	if t.parent != nil {
		parent = t.parent.id
	}
	r.out.Events = append(r.out.Events, CrowdEvent{AtNs: r.now, Kind: kind, Thread: t.id, Process: t.process, Parent: parent, CPU: t.cpu})
}

func (r *crowdRun) slice() float64 {
	if r.given.SliceNs <= 0 {
		return math.Inf(1)
	}
	return r.given.SliceNs * (1 + r.given.SliceJitter*(2*r.rng.Float64()-1))
}

func (r *crowdRun) fork(parent *crowdThread, script []Step, process, otherProgram bool) {
	r.threads++
	t := &crowdThread{id: r.threads, number: r.threads, process: r.threads, script: script, parent: parent}
	parent.children++
	if !process {
		t.process = parent.process
	}
	if otherProgram || parent.id == 0 {
		t.id, t.process, t.parent = 0, 0, nil
		parent.children--
	}
	r.note(t, CrowdForked)
	if otherProgram { // it was started long before the program
		r.rest(t)
		return
	}
	r.enqueue(t, false)
}

// rest makes a thread wait for the first step of its script: a semaphore or a time.
func (r *crowdRun) rest(t *crowdThread) {
	t.waiting, t.wakeAt = t.script[0].Wait, math.Inf(1)
	if t.waiting == 0 {
		t.wakeAt = r.now + t.script[0].SleepNs
	}
	t.script = t.script[1:]
	r.sleeper = append(r.sleeper, t)
}

func (t *crowdThread) may(cpu int) bool { return t.bound == 0 || t.bound == cpu+1 }

// enqueue puts a thread into the queue in which the fewest threads wait.
func (r *crowdRun) enqueue(t *crowdThread, eager bool) {
	best, least := 0, math.MaxInt
	for i := range r.cpus {
		if !t.may(i) {
			continue
		}
		n := len(r.cpus[i].queue)
		if r.cpus[i].running != nil {
			n++
		}
		if n < least {
			best, least = i, n
		}
	}
	t.cpu, t.queuedAt = best, r.now
	cpu := &r.cpus[best]
	if eager {
		cpu.queue = slices.Insert(cpu.queue, 0, t)
	} else {
		cpu.queue = append(cpu.queue, t)
	}
	if cpu.running == nil {
		r.next(best)
	}
}

// next gives a CPU to the next thread in its queue, or to a thread from another queue.
func (r *crowdRun) next(i int) {
	cpu := &r.cpus[i]
	if cpu.running != nil {
		return
	}
	if len(cpu.queue) == 0 {
		r.steal(i)
	}
	if len(cpu.queue) == 0 {
		r.turnTo(i, 0)
		return
	}
	t := cpu.queue[0]
	cpu.queue = cpu.queue[1:]
	r.put(i, t)
	cpu.sliceEnd = r.now + r.slice()
}

func (r *crowdRun) steal(i int) {
	for j := range r.cpus {
		at := slices.IndexFunc(r.cpus[j].queue, func(t *crowdThread) bool { return t.id != 0 && t.may(i) })
		if j != i && at >= 0 {
			r.cpus[i].queue = append(r.cpus[i].queue, r.cpus[j].queue[at])
			r.cpus[j].queue = slices.Delete(r.cpus[j].queue, at, at+1)
			return
		}
	}
}

// turnTo records that a CPU goes to a thread.
func (r *crowdRun) turnTo(i, number int) {
	cpu := &r.cpus[i]
	if cpu.had == number && number == 0 {
		return
	}
	r.out.Turns = append(r.out.Turns, CrowdTurn{r.now, i, cpu.had, number, cpu.hadState})
	cpu.had = number
}

// wakes records that the thread by, or a timer if by is nil, wakes t.
func (r *crowdRun) wakes(by, t *crowdThread) {
	w := CrowdWaking{AtNs: r.now, Thread: t.number, ByCPU: t.cpu, ByDevice: t.asks}
	if by != nil {
		w.By, w.ByCPU, w.ByProcess = by.number, by.cpu, by.process
	}
	r.out.Wakings = append(r.out.Wakings, w)
}

func (r *crowdRun) put(i int, t *crowdThread) {
	r.turnTo(i, t.number)
	t.cpu = i
	r.cpus[i].running = t
	if t.id == 0 {
		r.out.OthersWaitNs += r.now - t.queuedAt
		r.proceed(i, t)
		return
	}
	r.out.WaitNs[t.id] += r.now - t.queuedAt
	r.note(t, CrowdIn)
	if t.preempted {
		t.preempted = false
		for _, d := range []Distribution{r.given.SwitchNs, r.given.ColdNs} {
			if d != nil {
				t.left += d(r.rng)
			}
		}
	}
	r.proceed(i, t)
}

func (r *crowdRun) step() {
	at := math.Inf(1)
	for i := range r.cpus {
		if t := r.cpus[i].running; t != nil {
			at = math.Min(at, math.Max(r.now, math.Min(r.now+t.left, r.cpus[i].sliceEnd)))
		}
	}
	for _, t := range r.sleeper {
		at = math.Min(at, t.wakeAt)
	}
	ns := at - r.now
	for i := range r.cpus {
		if t := r.cpus[i].running; t != nil {
			if t.left -= ns; at+t.left == at { // the rest is too short to change the time, a float64
				t.left = 0
			}
			if t.id != 0 {
				r.out.CPUNs[t.id] += ns
			} else {
				r.out.OthersNs += ns
			}
		}
	}
	r.now = at
	for i := range r.cpus {
		r.turn(i)
	}
	r.wake()
}

// turn ends the step or the time slice of the thread on a CPU if it is over.
func (r *crowdRun) turn(i int) {
	cpu := &r.cpus[i]
	t := cpu.running
	if t == nil {
		r.next(i)
		return
	}
	if t.left <= 1e-6 {
		r.proceed(i, t)
		return
	}
	if r.now < cpu.sliceEnd {
		return
	}
	if len(cpu.queue) == 0 {
		cpu.sliceEnd = r.now + r.slice()
		return
	}
	t.preempted = t.id != 0
	r.displace(i, t)
	cpu.queue = append(cpu.queue, t)
	r.next(i)
}

// displace takes the CPU from a thread that is still runnable.
func (r *crowdRun) displace(i int, t *crowdThread) {
	if t.id != 0 {
		r.out.Preemptions++
		r.note(t, CrowdPreempted)
	}
	t.queuedAt = r.now
	r.cpus[i].running, r.cpus[i].hadState = nil, CrowdPreempted
}

// proceed executes the steps of a running thread up to the first one that takes time.
func (r *crowdRun) proceed(i int, t *crowdThread) {
	for t.left <= 1e-6 {
		if t.does != nil && len(t.script) == 0 {
			t.script = t.does(r.rng)
		}
		if len(t.script) == 0 {
			r.exit(i, t)
			return
		}
		s := t.script[0]
		t.script = t.script[1:]
		switch {
		case s.WorkNs > 0:
			t.left = s.WorkNs / (1 - r.given.InterruptShare)
		case s.Start != nil:
			r.fork(t, s.Start, s.Process, s.OtherProgram)
		case s.Bind > 0 && i != s.Bind-1:
			t.bound = s.Bind
			r.displace(i, t)
			r.enqueue(t, false)
			r.next(i)
			return
		case s.Bind > 0:
			t.bound = s.Bind
		case s.Yield && len(r.cpus[i].queue) > 0:
			r.displace(i, t)
			r.cpus[i].queue = append(r.cpus[i].queue, t)
			r.next(i)
			return
		case s.Post > 0:
			r.post(t, s.Post)
		case s.Wait > 0 && r.posts[s.Wait] > 0:
			r.posts[s.Wait]--
		case s.Wait > 0:
			t.waiting = s.Wait
			until := math.Inf(1)
			if s.SleepNs > 0 {
				until = r.now + s.SleepNs
			}
			r.block(i, t, until)
			return
		case s.Join && t.children > 0:
			t.joining = true
			r.block(i, t, math.Inf(1))
			return
		case s.SleepNs > 0, s.AnswerNs > 0:
			t.asks = s.AnswerNs > 0
			r.block(i, t, r.now+s.SleepNs+s.AnswerNs)
			return
		case s.UntilNs > r.now:
			r.block(i, t, s.UntilNs)
			return
		}
	}
}

func (r *crowdRun) block(i int, t *crowdThread, until float64) {
	r.note(t, CrowdBlocked)
	t.left, t.wakeAt = 0, until
	r.sleeper = append(r.sleeper, t)
	r.cpus[i].running, r.cpus[i].hadState = nil, CrowdBlocked
	r.next(i)
}

// post wakes up a thread that waits for the semaphore, or raises the semaphore's count if none
// waits.
func (r *crowdRun) post(by *crowdThread, number int) {
	for _, t := range r.sleeper {
		if t.waiting == number {
			t.waiting, t.wakeAt, t.told = 0, r.now, true
			r.wakes(by, t)
			return
		}
	}
	r.posts[number]++
}

func (r *crowdRun) exit(i int, t *crowdThread) {
	r.note(t, CrowdExited)
	t.ended = true
	r.cpus[i].running, r.cpus[i].hadState = nil, CrowdExited
	if p := t.parent; p != nil {
		p.children--
		if p.joining && p.children == 0 {
			p.joining, p.wakeAt, p.told = false, r.now, true
			r.wakes(t, p)
		}
	}
	r.next(i)
}

func (r *crowdRun) wake() {
	var woken []*crowdThread
	r.sleeper = slices.DeleteFunc(r.sleeper, func(t *crowdThread) bool {
		if t.wakeAt > r.now {
			return false
		}
		woken = append(woken, t)
		return true
	})
	for _, t := range woken {
		if !t.told {
			r.wakes(nil, t)
		}
		t.told, t.waiting = false, 0
		r.enqueue(t, r.rng.Float64() < r.given.EagerWakes)
	}
}
