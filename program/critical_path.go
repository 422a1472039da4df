package program

import (
	"math"

	"chronoscope/tracepoint"
)

// wakes notes how far a thread that wakes another one would have come alone.
func (w *way) wakes(c change) {
	p := w.positions[c.line]
	if p == nil {
		return
	}
	p.unlink(c)
	low, high := p.low, p.high
	switch since := c.atNs - p.ranToNs; {
	case p.running:
		low, high = low.ran(math.Max(0, c.atNs-p.since)), high.ran(math.Max(0, c.atNs-p.since))
	case since == 0:
	case w.ended[c.line]: // it frees its memory after the event of its exit
		low, high = low.ran(c.wakes.tailNs), high.ran(c.wakes.tailNs)
	default: // the kernel left out a switch of it
		return
	}
	c.wakes.low, c.wakes.high, c.wakes.known, c.wakes.linked = low, high, true, !c.foreign || p.linked
}

// woken advances a thread that returns from a block of length ns, if it is known how the block ended.
func (w *way) woken(c change, p *position, ns float64) {
	k := c.of().wake
	told := c.atNs - math.Max(k.atNs, p.since) // the time that an idle CPU took to run it
	if !c.foreign && (k.by == nil || k.by.foreign) && (k.inKernel || k.source == tracepoint.ByDevice) {
		w.waitsForDisk(c.atNs-ns, c.atNs)
	}
	// An independent thread does not work for the program because a server wakes it.
	if k.linked && !(c.foreign && c.independent && k.by.foreign) {
		usual := math.Min(told, w.schedule.latency.highNs)
		if !c.foreign && !k.by.foreign && k.low.atNs > p.low.atNs && !(k.by.exitNs-k.atNs <= wakeLatencyNs) {
			w.handed++
		}
		p.low, p.high = p.low.later(k.low), p.high.later(k.high)
		p.low.atNs, p.high.atNs, p.linked, p.linkedNs = p.low.atNs+usual, p.high.atNs+told, true, c.atNs
		return
	}
	if c.line == w.schedule.leader {
		w.sleeps++
		w.keptBeforeNs = p.before.keptNs
	}
	if k.source == tracepoint.ByTimer && !c.foreign && !k.inKernel {
		w.timers = append(w.timers, timerWait{c.line.order, ns, math.Max(0, c.atNs-ns-p.low.atNs)})
	}
	end := progress{atNs: c.atNs}
	switch {
	case k.by != nil:
		p.low.atNs += math.Min(ns, math.Max(0, k.low.atNs+told-p.low.atNs))
		end.atNs = math.Min(end.atNs, k.high.atNs+told)
		p.linked = false
		if !c.foreign {
			w.awaitedOthersNs += ns
		}
	case c.foreign, k.inKernel:
		p.low.atNs += ns
	default: // a time limit may have passed only because another thread was late with what this one waited for
		w.sinceBlocked(p, ns)
		w.endedByNoneNs, w.endedByNoneAtNs = w.endedByNoneNs+ns, c.atNs
	}
	switch moves := k.source == tracepoint.ByTimer && !c.foreign; {
	case moves && w.timersMove, k.inKernel && k.by == nil:
		p.high.atNs += ns
	case ns <= w.passableNs && !c.foreign && k.source != tracepoint.ByTimer: // the rest of a sleep may be short because it began late
		w.passableNs -= ns
		p.high.atNs += ns
	default: // it may have come at a time that did not depend on when the wait began
		p.high = p.high.later(end)
	}
}

// waitsForDisk adds a block that may be for a disk to forDisksNs. Blocks come in order of their ends; those that overlap become
// one.
func (w *way) waitsForDisk(fromNs, toNs float64) {
	n := len(w.diskBlocks)
	for ; n > 0 && w.diskBlocks[n-1].toNs >= fromNs; n-- {
		before := w.diskBlocks[n-1]
		fromNs = math.Min(fromNs, before.fromNs)
		w.forDisksNs -= before.toNs - before.fromNs
	}
	w.diskBlocks = append(w.diskBlocks[:n], diskBlock{fromNs, toNs})
	w.forDisksNs += toNs - fromNs
}

// allowForOrder lowers the lower bounds of a program whose threads end one another's blocks. It subtracts the spread of
// the critical paths' lengths between runs, as far as it exceeds the spread of the CPU time. If the order in which
// threads get a lock or a job did not matter, the lengths would be the same in all runs. That order depends on when
// others kept threads from CPUs; alone the path may be shorter.
func (c *conclusion) allowForOrder() {
	handed := c.typical(func(r *Run) float64 { return float64(r.traced.handed) })
	if !(handed > 0) {
		return
	}
	ns := spread(c.each(func(r *Run) float64 { return r.traced.low.atNs })) - spread(c.each(func(r *Run) float64 { return r.traced.ranNs }))
	for i, r := range c.used {
		if ns > 0 && r.traced.handed > 0 {
			c.low[i] = math.Min(c.low[i], max(r.leastNs, r.calmNs, c.low[i]-ns))
		}
	}
}
