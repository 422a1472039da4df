package program

import (
	"context"
	"math"
	"slices"
)

// way follows all threads through a run, in order of time, and keeps account of how far
// each would have come alone: the length of the longest way there, through the threads'
// own work, and through what one of them waits for that another does.
type way struct {
	*trajectory
	schedule   *schedule
	cpus       int
	passableNs float64
	hiddenNs   float64 // how long threads waited unseen, at most
	timersMove bool    // blocks that timers end move with their begins
	enoughCPUs bool    // alone no thread waits for a CPU that another of the program has

	atNs       float64
	ran, could int
	// has is how many threads have a CPU, ownNs how long each was theirs.
	has   map[int]int
	ownNs map[int]float64
	sums
	positions map[*line]*position
	ended     map[*line]bool
	// front is how far the thread that came furthest would have come alone, at the latest, by
	// its last change; onCPU are the threads that have a CPU now.
	front progress
	onCPU []*position
	// spinning are the threads that may have spun since a thread was kept from a CPU that still is.
	spinning []*position
}

// sums are of the program as a whole, up to a moment.
type sums struct {
	contendedNs float64 // how long threads of the program kept others of it waiting
	keptNs      float64 // how long some thread was kept from a CPU
	busyNs      float64 // how long some thread had one
	lost        int     // how often one was taken away
}

// position is where a thread is.
type position struct {
	low, high progress
	running   bool
	since     float64 // in its present state
	before    sums    // by then
	ownNs     float64 // by then, of the CPU that it had, and of the one that it got next
	nextOwnNs float64
	ranToNs   float64 // the end of its last run
	linked    bool    // of another program's thread: what it does follows from the program's own way
	foreign   bool
	spunNs    float64 // may have been spent spinning, until a thread gets a CPU again
}

// sweep goes through all changes of state in order of time.
func (w *way) sweep(ctx context.Context) error {
	w.positions, w.ended = map[*line]*position{}, map[*line]bool{}
	w.has, w.ownNs = map[int]int{}, map[int]float64{}
	const changesPerLook = 4096 // at ctx: some 2 ms
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

// count brings the numbers of threads up to date.
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

// maySpin notes that the threads that run may have spun.
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

// spun counts the time for which threads may have waited, spinning, for one that gets a CPU now.
func (w *way) spun() {
	for _, p := range w.spinning {
		w.spunNs += p.spunNs
		p.spunNs = 0
	}
	w.spinning = w.spinning[:0]
}

// own is the time for which the program's own threads had the CPU that one was kept from: whether
// it would have got another alone is not known, as it may be bound to that one.
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

// begin opens the span of a state that a thread enters.
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
		p.low.preemptions++
		p.high.preemptions++
	}
}

// freshNs is the running time up to which a thread has hardly anything in the caches that it can lose with
// its CPU. Mostly it then lost the CPU to the thread that waited for its exec, and to no timer: when the exec is
// complete, 40 to 45 µs after its note on a KVM guest (Intel Xeon, Linux 6.18).
const freshNs = 60e3

// start gives a new thread the position of the thread that starts it.
func (w *way) start(l *line) *position {
	p := &position{low: progress{own: true}, high: progress{own: true}}
	if p.foreign = l.foreign; p.foreign { // what it did before is not the program's
		p.low, p.high = progress{atNs: w.atNs}, progress{atNs: w.atNs}
	}
	if q := w.positions[l.starter]; q != nil {
		p.low, p.high = q.low, q.high
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

// furthest is how far the thread that came furthest would have come alone by now, at the latest.
func (w *way) furthest() progress {
	best := w.front
	for _, p := range w.onCPU {
		best = best.later(p.high.ran(math.Max(0, w.atNs-p.since)))
	}
	return best
}

// finish closes the span that a thread leaves. While a thread was kept from a CPU or blocked,
// the others may have made something that it would have had to wait for alone: a child that has
// exited by the time it is waited for, or what is in a pipe when it is read, shows in no switch.
// At the latest, it would therefore have come here when the furthest of them had.
func (w *way) finish(c change) {
	p := w.positions[c.line]
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
		p.high, p.linked = progress{atNs: c.atNs}, false
	default:
		w.blocksUnknown++
		w.wake(c, p, ns)
		p.high = p.high.later(w.furthest())
	}
}

// finishKept advances a thread that was kept from a CPU. A delay of another program's thread counts
// only once that thread works for the program: before, it may be the same alone.
func (w *way) finishKept(c change, p *position, ns float64) {
	if c.foreign && !p.linked {
		p.high.atNs += ns
		return
	}
	if c.foreign {
		w.strangersKeptNs += ns
	} else {
		w.spun()
	}
	own := w.own(c, p)
	switch {
	case c.first():
		own = math.Min(ns, own+wakeLatencyNs)
	case c.of().woken: // alone the CPU would have been idle
		p.low.atNs += math.Min(ns, w.schedule.latency.lowNs)
		own = math.Min(ns, own+w.schedule.latency.highNs)
	}
	p.high.atNs += own
	p.high = p.high.later(w.furthest())
}

// wake advances a thread that returns from a block of the given length.
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
	// It may have slept to a time that did not depend on when it began to.
	p.high = progress{atNs: atNs - math.Max(0, l.wakeOf(ns)-w.own(c, p)-wakeLatencyNs)}
}

// mayHaveQueued tells whether a thread that comes back from a block may have been woken before
// the other one exited, and have waited for the CPU that this one had: no switch shows when it
// was woken. Alone it may have got another CPU. Its account shows longer waits then than from
// the exits that it waited for to when it ran.
func (w *way) mayHaveQueued(c change, exited *line) bool {
	waited := c.wake
	if !waited.known() {
		waited = w.othersWake
	}
	return w.cpus != 1 && exited.lastCPU() == c.of().next && waited.highNs-w.schedule.sinceExits(c.line) > wakeLatencyNs
}

// sinceBlocked adds a block to the earliest end. The thread may have waited for another of
// the program: whatever kept one of them from a CPU may have made it longer, while it was
// blocked or before, and so may waits that nothing shows.
func (w *way) sinceBlocked(p *position, ns float64) {
	ns = math.Min(ns-(w.keptNs-p.before.keptNs), w.atNs-w.deficientNs-p.low.atNs)
	ns = math.Max(0, ns)
	hidden := math.Min(ns, math.Max(0, w.hiddenNs-p.low.hiddenNs))
	p.low.hiddenNs += hidden
	p.low.atNs += ns - hidden
	p.low.ranNs += math.Min(ns-hidden, w.busyNs-p.before.busyNs)
	p.low.preemptions += w.lost - p.before.lost
}
