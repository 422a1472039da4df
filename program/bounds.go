package program

import (
	"math"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// leastSliceNs is how long a thread has its CPU before others take it away, at the least and on
// average. A thread that lost it more often gave it away itself (sched_yield(2)), which takes
// anything between nothing and a preemption's cost from its time.
const leastSliceNs = 1.5e6

// mostLost is the largest share that interrupts are believed to take.
const mostLost = 0.5

// bound bounds the time that the run would have taken without competitors, interrupts and
// preemptions still in it. cpus is how many it may use.
func (r *Run) bound(cpus int) {
	if r.noted {
		r.byEvents(cpus)
	} else {
		r.byAccounts(cpus)
	}
	r.grossLowNs, r.grossHighNs = r.LowNs, r.HighNs
}

// byEvents bounds it by what the switches tell.
func (r *Run) byEvents(cpus int) {
	t := &r.traced
	r.BlockedNs = math.Max(0, t.idleNs-t.leaderWake.ns()-t.othersWake.highNs)
	stopped, stolen := float64(r.StoppedNs), t.stolenNs
	if t.threads > 1 { // only the process's account tells of them, and not when it was
		stolen = math.Max(stolen, t.ranNs-float64(r.CPUNs()))
	}
	r.LowNs, r.HighNs = t.low.atNs-stopped-stolen, math.Min(t.high.atNs, t.wallNs)
	if t.high.own && t.threads == 1 { // else it may have been stolen from a thread that the end did not wait for
		r.HighNs -= t.stolenNs
	}
	// What threads may have spun while others of the program were kept from a CPU is theirs, where it is
	// little; where it is much, the verdict says so.
	spun := r.mayHaveSpunNs()
	if spun > stats.WideShare*t.wallNs {
		spun = 0
	}
	unspunNs := r.LowNs
	r.LowNs -= spun
	// What else bounds it from below holds the interrupts and preemptions of all threads.
	atLeast := func(ns, ranNs float64, preemptions int) {
		if ns > r.LowNs {
			r.LowNs = ns
			t.low.ranNs, t.low.preemptions = math.Max(t.low.ranNs, ranNs), max(t.low.preemptions, preemptions)
		}
	}
	if lost := t.deficientNs + t.strangersKeptNs; lost <= littleLost*t.wallNs && t.leaderWake.known() && t.othersKnown {
		atLeast(t.wallNs-lost-t.wake().highNs-stopped-stolen, math.Min(t.ranNs, t.wallNs-t.idleNs), t.preemptions)
	}
	if cpus > 0 {
		r.least = progress{atNs: (t.ranNs - stolen) / float64(cpus), ranNs: t.ranNs / float64(cpus), preemptions: t.preemptions / cpus}
		atLeast(r.least.atNs, r.least.ranNs, r.least.preemptions)
	}
	if others := r.othersAtMostNs(); !math.IsInf(others, 1) {
		r.calm = progress{atNs: t.wallNs - others - stopped - stolen, ranNs: math.Min(t.ranNs, t.wallNs-t.idleNs), preemptions: t.preemptions}
		atLeast(r.calm.atNs, r.calm.ranNs, r.calm.preemptions)
		if late := r.calm.atNs - r.HighNs; late > 0 && late <= wakeLatencyNs*float64(t.blocksKnown+t.blocksUnknown) {
			r.HighNs = t.wallNs // threads waited while nobody ran, for idle CPUs, as they do alone
		}
	}
	r.spunOffNs = math.Max(0, unspunNs-r.LowNs)
	r.settle()
}

// othersAtMostNs is by how much others can have delayed the run at most; infinite where that is not
// known. It was delayed by no more than the CPU time that others had, this process among them. What
// a program of one thread waits for, such as a server on this machine, is one of the others: it was
// delayed by no more than all of these waited for a CPU, and itself did. Tracepoints tell more narrowly who
// waited while others ran.
func (r *Run) othersAtMostNs() float64 {
	most, t := math.Inf(1), r.traced
	if r.noted && t.heldUpKnown {
		most = t.heldUpNs
	}
	if !r.Others.Known {
		return most
	}
	most = math.Min(most, float64(r.Others.CPUNs+r.BesideNs))
	if r.noted && t.threads == 1 && t.leaderWake.known() {
		most = math.Min(most, t.deficientNs+t.leaderWake.highNs+float64(r.Others.WaitNs))
	}
	return most
}

// mayHaveSpunNs is the time for which threads may have spun, at most, while others kept those that they waited
// for from a CPU.
func (r *Run) mayHaveSpunNs() float64 { return math.Min(r.traced.spunNs, r.othersAtMostNs()) }

// settle swaps bounds that are in the wrong order. A lower bound above the upper one is a contradiction:
// something happened to the run that is not known, so that all of its time is possible.
func (r *Run) settle() {
	if r.LowNs <= r.HighNs {
		return
	}
	r.LowNs, r.HighNs = r.HighNs, r.LowNs
	if wall := float64(r.WallNs); r.HighNs-r.LowNs > math.Max(passableNs, passableShare*wall) {
		r.contradicts = true
		r.HighNs = math.Max(r.HighNs, wall)
	}
}

// contradicting is how many runs that count contradict themselves.
func (c *conclusion) contradicting() (n int) {
	for _, r := range c.used {
		if r.contradicts {
			n++
		}
	}
	return n
}

// littleLost is which share of the time threads may be kept from running before the order
// in which they run may be another one than alone.
const littleLost = 0.02

// byAccounts bounds it by the kernel's accounts alone. Of one thread that never blocked
// they tell it, but for the start: what the thread did before its exec is charged to it.
func (r *Run) byAccounts(cpus int) {
	wall, start := float64(r.WallNs), float64(r.WallErrorNs)
	cpu := float64(r.CPUNs())
	r.BlockedNs = math.NaN()
	if cpus > 0 {
		each := math.Min(wall, cpu/float64(cpus))
		r.least = progress{atNs: each - start, ranNs: each, preemptions: int(r.InvoluntarySwitches) / cpus}
	}
	if r.WaitOf == process.NoThread {
		r.LowNs, r.HighNs = math.Max(0, r.least.atNs), wall
		return
	}
	wait := float64(r.WaitNs())
	var own float64
	for _, thread := range r.Threads {
		own += float64(thread.CPUNs)
	}
	idle := wall - own - wait
	r.LowNs, r.HighNs = math.Max(0, wall-wait-start-float64(r.StoppedNs)), wall
	alone := math.Abs(cpu-own) <= math.Max(aloneNs, aloneShare*cpu) && len(r.Threads) == 1
	switch {
	case alone:
		r.BlockedNs = math.Max(0, idle-start)
		if idle-start <= math.Max(passableNs, passableShare*wall) {
			r.LowNs, r.HighNs = math.Max(0, own-start), math.Min(wall, own+math.Max(0, idle-start))
		}
	case r.WaitOf == process.FirstThread: // others may have waited while it was blocked
		r.LowNs = math.Max(0, math.Min(wall, cpu/float64(max(1, cpus)))-start)
	}
	r.settle()
}

// A program had no other thread if its first one had all of the program's CPU time but this.
const aloneNs, aloneShare = 0.3e6, 0.01

// takeOffDisturbance takes off what interrupts and preemptions took of the time on the
// CPU: typically, and within what is known of them by now.
func (r *Run) takeOffDisturbance(noise machine.Noise, shareError float64) {
	r.LowNs, r.HighNs = r.grossLowNs, r.grossHighNs
	low := progress{ranNs: math.Min(r.LowNs, float64(r.CPUNs())), preemptions: int(r.InvoluntarySwitches)}
	high := low
	if r.noted {
		low, high = r.traced.low, r.traced.high
	}
	share := math.Min(mostLost, noise.ShareLost())
	r.InterruptsNs = low.ranNs * share
	// The kernel notes that a thread lost its CPU after the interrupt that took it away, and
	// that it has it again before it goes on.
	each, least := machine.UsualSwitchNs+machine.UsualColdNs, 0.0
	if ns := noise.SwitchNs; ns > 0 {
		each, least = ns+machine.UsualColdNs, ns/2
	}
	certain := func(p progress) float64 {
		return math.Min(math.Max(0, float64(p.preemptions-r.yields)), p.ranNs/leastSliceNs+1)
	}
	off := func(p progress) float64 { return p.ranNs*share + float64(p.preemptions)*each }
	r.leastNs = math.Max(0, r.least.atNs-off(r.least))
	if r.calm.atNs > 0 {
		r.calmNs = r.calm.atNs - off(r.calm)
	}
	r.LowNs = max(r.leastNs, r.calmNs, r.LowNs-off(low))
	r.HighNs = math.Max(r.LowNs, r.HighNs-high.ranNs*share-certain(high)*each)
	up := func(p progress) float64 { return shareError*p.ranNs + certain(p)*(each-least) }
	down := func(p progress) float64 {
		return shareError*p.ranNs + float64(p.preemptions)*(machine.ColdNs-machine.UsualColdNs)
	}
	r.slackNs, r.surelyNs = down(low), r.leastNs-down(r.least)
	r.slackNs, r.surelyNs = r.slackNs+r.traced.recordedNs, r.surelyNs-r.traced.recordedNs
	r.slackUpNs, r.slackUpOfLowNs = up(high), up(low)
	// The share is a mean, and the estimate a median: that of a Poisson distribution lies
	// less than ln 2 below its mean, and less than 1/3 above. Of a mean of at most ln 2 it is 0.
	if n := interruptsPerSecond(noise); n > 0 {
		each := 1e9 * share / n
		fewer := func(p progress) float64 { return math.Min(share*p.ranNs, math.Ln2*each) }
		if low.ranNs*n > math.Ln2*1e9 {
			r.slackNs += each / 3
			r.surelyNs -= each / 3
		}
		r.slackUpNs += fewer(high)
		r.slackUpOfLowNs += fewer(low)
	}
	r.HighNs = math.Max(r.HighNs, r.unsleptNs)
}

// interruptsPerSecond of running time.
func interruptsPerSecond(noise machine.Noise) float64 {
	n := noise.IrregularPerSecond
	for _, timer := range noise.Regular {
		if timer.PeriodNs > 0 {
			n += 1e9 / timer.PeriodNs * (1 - timer.Missing)
		}
	}
	return n
}
