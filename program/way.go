package program

import (
	"context"
	"math"
	"slices"
)

// way follows all threads through a run, in order of time. It computes when each thread would have come to the same
// point alone: the length of the longest path to that point, through the work of threads and their waits for one
// another.
type way struct {
	*trajectory
	schedule   *schedule
	cpus       int
	passableNs float64
	hiddenNs   float64 // the longest total time for which woken threads waited for a CPU unseen
	timersMove bool    // alone blocks that timers end would end earlier by as much as they begin earlier
	enoughCPUs bool    // alone no thread waits for a CPU that another thread of the program has

	atNs       float64
	ran, could int
	// endedByNoneNs is how long threads were blocked until something else than a thread woke them, such as a timer,
	// and endedByNoneAtNs when that last happened.
	endedByNoneNs, endedByNoneAtNs float64
	// has holds the number of threads on each CPU, ownNs the time for which each CPU was the program's.
	has   map[int]int
	ownNs map[int]float64
	sums
	positions map[*line]*position
	ended     map[*line]bool
	// front is the largest high that a thread had at the end of a span so far. onCPU are the threads that have a
	// CPU now.
	front progress
	onCPU []*position
	// diskBlocks are the blocks in forDisksNs, which do not overlap, in order.
	diskBlocks []diskBlock
	// spinning are the threads that may have spun since a thread was kept from a CPU that still has none.
	spinning []*position
}

// diskBlock is a time in which a thread was blocked and may have waited for a disk.
type diskBlock struct{ fromNs, toNs float64 }

// sums are totals of the whole program up to a moment.
type sums struct {
	contendedNs float64 // time for which more threads of the program could run than it has CPUs
	keptNs      float64 // time for which a thread was kept from a CPU
	busyNs      float64 // time for which a thread had a CPU
	lost        int     // number of preemptions
}

// position is how far a thread has come.
type position struct {
	low, high progress
	running   bool
	since     float64 // when its present state began
	before    sums    // the sums at since
	ownNs     float64 // ownNs of the CPU that it had, at since; nextOwnNs is of the CPU that it gets next
	nextOwnNs float64
	ranToNs   float64 // when it last stopped running
	linked    bool    // set for another program's thread that does what follows from the program's own path
	linkedNs  float64 // since when
	foreign   bool
	spunNs    float64 // time that it may have spent spinning, until a thread gets a CPU again
}

// sweep goes through all changes of state in order of time.
func (w *way) sweep(ctx context.Context) error {
	w.positions, w.ended = map[*line]*position{}, map[*line]bool{}
	w.has, w.ownNs = map[int]int{}, map[int]float64{}
	const changesPerLook = 4096 // between two checks of ctx, which takes some 2 ms
	for i, c := range w.schedule.changes() {
		if i%changesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.atNs > w.wallNs {
			break
		}
		w.pass(c.atNs)
		if !c.foreign && c.wakes == nil {
			w.count(c)
		}
		switch {
		case c.wakes != nil:
			w.wakes(c)
		case c.begins:
			w.begin(c)
		default:
			w.finish(c)
		}
	}
	w.pass(w.wallNs)
	if p := w.positions[w.schedule.ender()]; p != nil {
		w.low, w.high = p.low, p.high
	} else {
		w.high = progress{atNs: w.wallNs}
	}
	return nil
}

// count updates the numbers of threads that run and that are kept from a CPU.
func (w *way) count(c change) {
	by := 1
	if !c.begins {
		by = -1
	}
	switch x := c.of(); x.state {
	case running:
		w.ran += by
		if w.has[x.cpu] += by; w.has[x.cpu] <= 0 {
			delete(w.has, x.cpu)
		}
	case kept:
		w.could += by
	}
}

// pass adds the time since the last change to the sums.
func (w *way) pass(atNs float64) {
	ns := atNs - math.Max(0, w.atNs)
	w.atNs = math.Max(w.atNs, atNs)
	if ns <= 0 {
		return
	}
	w.ranNs += ns * float64(w.ran)
	if w.ran > 0 {
		w.busyNs += ns
	}
	if w.could > 0 {
		w.keptNs += ns
	}
	if w.could > 0 && w.ran == 0 {
		w.haltedNs += ns
	}
	switch {
	case w.could == 0 && w.ran == 0:
		w.idleNs += ns
	case w.could > 0 && (w.cpus == 0 || w.ran < w.cpus):
		w.deficientNs += ns
	}
	if w.cpus > 0 && w.could > w.cpus-w.ran {
		w.contendedNs += ns
		return
	}
	if w.ran > 0 && w.could > 0 {
		w.maySpin(ns)
	}
	for cpu := range w.has {
		w.ownNs[cpu] += ns
	}
}

// maySpin adds ns to the time for which each running thread may have spun.
func (w *way) maySpin(ns float64) {
	for _, p := range w.onCPU {
		if p.foreign {
			continue
		}
		if p.spunNs == 0 {
			w.spinning = append(w.spinning, p)
		}
		p.spunNs += ns
	}
}

// spun adds the time for which threads may have spun to spunNs: a thread for which they may have waited gets a CPU now.
func (w *way) spun() {
	for _, p := range w.spinning {
		w.spunNs += p.spunNs
		p.spunNs = 0
	}
	w.spinning = w.spinning[:0]
}

// own returns the time for which a thread was kept from a CPU while the program's own threads had that CPU, or while
// more of them could run than the program has CPUs; 0 if alone no thread would wait for another (enoughCPUs). Whether
// the thread would have got another CPU on a machine of its own is not known, since it may be bound to this one.
func (w *way) own(c change, p *position) float64 {
	if w.enoughCPUs {
		return 0
	}
	x := c.of()
	own := w.ownNs[x.next] - p.nextOwnNs
	if x.state == kept && !c.first() {
		own = math.Max(own, w.ownNs[x.cpu]-p.ownNs)
	}
	return own + w.contendedNs - p.before.contendedNs
}

// begin opens a span that a thread enters.
func (w *way) begin(c change) {
	p := w.positions[c.line]
	if p == nil {
		p = w.start(c.line)
	}
	x := c.of()
	if p.running = x.state == running; p.running && (!c.foreign || p.linked) {
		w.onCPU = append(w.onCPU, p)
	}
	p.since, p.before = math.Max(0, c.atNs), w.sums
	p.ownNs, p.nextOwnNs = w.ownNs[x.cpu], w.ownNs[x.next]
	if x.state == kept && !x.within && !c.first() && !x.woken && !c.foreign && c.atNs >= 0 && p.low.ranNs > freshNs {
		w.preemptions++
		w.lost++
		if x.next != x.cpu {
			w.moves++
		}
		if w.could > 1 && w.cpus > 0 && w.could > w.cpus-w.ran { // another one waits for this CPU
			w.displaced++
		}
		p.low.preemptions++
		p.high.preemptions++
	}
}

// freshNs is a running time on the path to a moment (ranNs of [progress]). Up to it, the loss of a CPU does not
// count as a preemption: the caches hardly hold any data of the program yet that others can displace. Mostly no
// timer took the CPU, but the thread that started the program and waited for its exec. That thread wakes up when the
// exec is complete, 40 to 45 µs after the event of the exec (seen in a KVM guest, Intel Xeon, Linux 6.18).
const freshNs = 60e3

// start creates the position of a thread from that of the thread that started it.
func (w *way) start(l *line) *position {
	p := &position{low: progress{own: true}, high: progress{own: true}}
	if p.foreign = l.foreign; p.foreign { // what it did before is not part of the program
		p.low, p.high = progress{atNs: w.atNs}, progress{atNs: w.atNs}
	}
	if q := w.positions[l.starter]; q != nil && (q.linked || !l.foreign) {
		p.low, p.high = q.low, q.high
		p.linked, p.linkedNs = l.foreign, w.atNs
		if q.running {
			ns := math.Max(0, w.atNs-q.since)
			p.low, p.high = p.low.ran(ns), p.high.ran(ns)
		}
	}
	w.positions[l] = p
	return p
}

func (p progress) ran(ns float64) progress {
	p.atNs += ns
	p.ranNs += ns
	return p
}

// furthest returns the largest high that a thread has by now.
func (w *way) furthest() progress {
	best := w.front
	for _, p := range w.onCPU {
		best = best.later(p.high.ran(math.Max(0, w.atNs-p.since)))
	}
	return best
}

// finish closes the span that a thread leaves. While the thread was kept from a CPU or blocked, others may have made
// something that it would have waited for alone, which no switch shows: a child may have exited before the wait for it,
// and a pipe may have been filled before it was read. The thread's high is therefore at least that of the furthest one.
func (w *way) finish(c change) {
	p := w.positions[c.line]
	p.unlink(c)
	ns := math.Max(0, c.atNs-p.since)
	if p.running {
		p.running = false
		w.onCPU = slices.DeleteFunc(w.onCPU, func(q *position) bool { return q == p })
	}
	defer func() {
		if !c.foreign || p.linked {
			w.front = w.front.later(p.high)
		}
	}()
	switch x := c.of(); {
	case x.state == running:
		p.low, p.high, p.ranToNs = p.low.ran(ns), p.high.ran(ns), c.atNs
		if c.last() {
			w.ended[c.line], p.spunNs = true, 0
		}
	case x.state == kept:
		w.finishKept(c, p, ns)
	case c.atNs <= 0:
	case x.wake != nil && (x.wake.by == nil || x.wake.known):
		if !c.foreign {
			w.blocksKnown++
		}
		w.woken(c, p, ns)
		p.high = p.high.later(w.furthest())
	case c.foreign:
		p.low.atNs += ns
		p.high, p.linked = progress{atNs: c.atNs}, p.linked && c.of().byInterrupt
	default:
		w.blocksUnknown++
		w.wake(c, p, ns)
		p.high = p.high.later(w.furthest())
	}
}

// unlink notes that a thread of another program no longer works for the program alone.
func (p *position) unlink(c change) {
	p.linked = p.linked && !c.served(p.linkedNs, c.atNs)
}

// finishKept advances a thread that was kept from a CPU. A delay of another program's thread counts only when that
// thread works for the program; before, the delay may be the same alone.
func (w *way) finishKept(c change, p *position, ns float64) {
	if c.foreign && !p.linked {
		p.high.atNs += ns
		return
	}
	if c.foreign {
		w.serversKeptNs += ns
	} else {
		w.spun()
	}
	own := w.own(c, p)
	switch {
	case c.first():
		own = math.Min(ns, own+wakeLatencyNs)
	case c.of().woken: // alone the CPU would have been idle, and have taken a while to wake up
		p.low.atNs += math.Min(ns, w.schedule.latency.lowNs)
		own = math.Min(ns, own+w.schedule.latency.highNs)
	}
	p.high.atNs += own
	p.high = p.high.later(w.furthest())
}

// wake advances a thread that returns from a block of length ns, if it is not known who ended the block.
func (w *way) wake(c change, p *position, ns float64) {
	l, atNs := c.line, c.atNs
	exited, exitNs := w.schedule.exitBefore(l, p.since, atNs, nil)
	late := atNs - exitNs
	if q := w.positions[exited]; q != nil && w.ended[exited] && late <= exitLatencyNs+l.wake.ns() && !w.mayHaveQueued(c, exited) {
		p.low = p.low.later(q.low)
		end := q.high
		end.atNs += math.Min(late, exitLatencyNs)
		p.high = p.high.later(end)
		return
	}
	w.sinceBlocked(p, ns)
	if ns <= w.passableNs {
		w.passableNs -= ns
		p.high.atNs += ns
		return
	}
	if l == w.schedule.leader {
		w.sleeps++
		w.keptBeforeNs = p.before.keptNs
	}
	// It may have slept to a time that did not depend on when the sleep began.
	p.high = progress{atNs: atNs - math.Max(0, l.wakeOf(ns)-w.own(c, p)-wakeLatencyNs)}
}

// mayHaveQueued reports whether a thread may have been woken before another thread exited, and have waited for the CPU
// that the other one had; no switch shows when it was woken. Alone it may have got another CPU. If it queued, its
// account shows longer waits than passed between the exits for which it waited and its return to a CPU.
func (w *way) mayHaveQueued(c change, exited *line) bool {
	waited := c.wake
	if !waited.known() {
		waited = w.othersWake
	}
	return w.cpus != 1 && exited.lastCPU() == c.of().next && waited.highNs-w.schedule.sinceExits(c.line) > wakeLatencyNs
}

// sinceBlocked adds a block of length ns to the earliest end. The thread may have waited for another one of the
// program: a wait of any of them for a CPU, during the block or before it, and waits that no event shows, may have made
// it longer.
func (w *way) sinceBlocked(p *position, ns float64) {
	ns = math.Min(ns-(w.keptNs-p.before.keptNs), w.atNs-w.deficientNs-p.low.atNs)
	ns = math.Max(0, ns)
	hidden := math.Min(ns, math.Max(0, w.hiddenNs-p.low.hiddenNs))
	p.low.hiddenNs += hidden
	p.low.atNs += ns - hidden
	p.low.ranNs += math.Min(ns-hidden, w.busyNs-p.before.busyNs)
	p.low.preemptions += w.lost - p.before.lost
}
