package program

import (
	"math"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// leastSliceNs is the least time, on average, for which a thread has its CPU before others take it away. A thread that
// lost its CPU more often gave it away itself (sched_yield(2)), which takes between nothing and the cost of a
// preemption from its time.
const leastSliceNs = 1.5e6

// bound bounds the time alone of the run, with interrupts and preemptions still in it, on the given number of CPUs; 0
// if unknown.
func (r *Run) bound(cpus int) {
	if r.noted {
		r.byEvents(cpus)
	} else {
		r.byAccounts(cpus)
	}
	r.grossLowNs, r.grossHighNs = r.LowNs, r.HighNs
}

// byEvents bounds the time alone by the kernel's events.
func (r *Run) byEvents(cpus int) {
	t := &r.traced
	r.BlockedNs = math.Max(0, t.idleNs-t.leaderWake.ns()-t.othersWake.highNs)
	if r.WaitOf == process.NoThread { // all of the idle time may have been waits for a CPU
		r.BlockedNs = math.NaN()
	}
	stopped, stolen := float64(r.StoppedNs), t.stolenNs
	if t.threads > 1 { // only the process's account tells of their steal, and not when it was
		stolen = math.Max(stolen, t.ranNs-r.OwnCPUNs())
	}
	r.LowNs, r.HighNs = t.low.atNs-stopped-stolen, math.Min(t.high.atNs, t.wallNs)
	if t.high.own && t.threads == 1 { // else it may have been stolen from a thread for which the end did not wait
		r.HighNs -= t.stolenNs
	}
	// Time that threads may have spun while others of the program were kept from a CPU is subtracted if it is
	// short. If it is long, the verdict tells of it instead.
	spun := r.mayHaveSpunNs()
	if spun > stats.WideShare*t.wallNs {
		spun = 0
	}
	unspunNs := r.LowNs
	r.LowNs -= spun
	// The other lower bounds hold the interrupts and preemptions of all threads.
	atLeast := func(ns, ranNs float64, preemptions int) {
		if ns > r.LowNs {
			r.LowNs = ns
			t.low.ranNs, t.low.preemptions = math.Max(t.low.ranNs, ranNs), max(t.low.preemptions, preemptions)
		}
	}
	if lost := t.deficientNs + t.serversKeptNs; lost <= littleLost*t.wallNs && t.leaderWake.known() && t.othersKnown {
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
			r.HighNs = t.wallNs // threads waited for idle CPUs while nobody ran, as they do alone
		}
	}
	r.spunOffNs = math.Max(0, unspunNs-r.LowNs)
	r.settle()
}

// othersAtMostNs returns the longest time by which others can have delayed the run; infinite if unknown. This delay is
// at most the CPU time of others, including this measuring process. Others include what a program waits for, such as a
// server on this machine; so a program of one thread was delayed by at most the time for which it and all others waited
// for a CPU. Tracepoints give a narrower limit: they tell which thread waited while others ran. Threads of other programs
// that were not known to work for this one may have slept, or worked for others, while it waited for them.
func (r *Run) othersAtMostNs() float64 {
	most := r.othersRanNs()
	if r.noted {
		most += r.traced.awaitedOthersNs
	}
	return most
}

// othersRanNs returns the longest time by which others can have delayed the run by having a CPU.
func (r *Run) othersRanNs() float64 {
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

// mayHaveSpunNs returns the longest time for which threads may have spun while others kept the threads that they waited
// for from a CPU.
func (r *Run) mayHaveSpunNs() float64 { return math.Min(r.traced.spunNs, r.othersAtMostNs()) }

// settle swaps bounds that are in the wrong order. If they contradict each other clearly, something unknown happened to
// the run, and the upper bound is at least the wall time.
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

// contradicting returns the number of runs that count whose bounds contradict each other.
func (c *conclusion) contradicting() (n int) {
	for _, r := range c.used {
		if r.contradicts {
			n++
		}
	}
	return n
}

// littleLost is the share of the wall time for which threads may be kept from CPUs before they may run in another order
// than alone.
const littleLost = 0.02

// byAccounts bounds the time alone by nothing but the kernel's accounts. For a single thread that never blocked these
// give that time. They hold what the thread did before its exec, too, which is taken off as far as the kernel noted it: the
// wall time, if the kernel noted the exec, begins there.
func (r *Run) byAccounts(cpus int) {
	wall, start := float64(r.WallNs), float64(r.WallErrorNs)
	cpu := r.OwnCPUNs()
	r.BlockedNs = math.NaN()
	if cpus > 0 {
		each := math.Min(wall, cpu/float64(cpus))
		r.least = progress{atNs: each - start, ranNs: each, preemptions: int(r.InvoluntarySwitches) / cpus}
	}
	if r.WaitOf == process.NoThread {
		r.LowNs, r.HighNs = math.Max(0, r.least.atNs), wall
		return
	}
	wait, own := math.Max(0, float64(r.WaitNs())-r.traced.startKeptNs), -r.traced.startNs
	for _, thread := range r.Threads {
		own += float64(thread.CPUNs)
	}
	own = math.Max(0, own)
	idle := wall - own - wait
	r.LowNs, r.HighNs = math.Max(0, wall-wait-start-float64(r.StoppedNs)), wall
	alone := math.Abs(cpu-own) <= math.Max(aloneNs, aloneShare*cpu) && len(r.Threads) == 1
	switch {
	case alone:
		r.BlockedNs = math.Max(0, idle-start)
		if idle-start <= math.Max(passableNs, passableShare*wall) {
			r.LowNs, r.HighNs = math.Max(0, own-start), math.Min(wall, own+math.Max(0, idle-start))
		}
	case r.WaitOf == process.FirstThread: // other threads may have waited while it was blocked
		r.LowNs = math.Max(0, math.Min(wall, cpu/float64(max(1, cpus)))-start)
	}
	r.settle()
}

// aloneNs and aloneShare bound the CPU time, besides its first thread's, of a program that counts as having one thread.
const aloneNs, aloneShare = 0.3e6, 0.01

// A preemption displaces at most what others can read meanwhile, at readPerNs bytes a nanosecond: an idle machine's kernel
// threads have a CPU for 0.1 ms at a time. If the program goes on at another CPU, whose own cache holds none of its data,
// it is ownCacheBytes at least. A last-level cache that the two CPUs don't share is not allowed for.
const ownCacheBytes, readPerNs = 2 << 20, 40

// takeOffDisturbance subtracts from the bounds the typical time that interrupts and preemptions took of the time on the
// CPU, and sets the slack to the uncertainty of that time. bytes is the memory that the program used, and mostColdNs the
// longest time for which it refills caches after a preemption; infinite if the runs don't tell.
func (r *Run) takeOffDisturbance(noise env.Disturbance, bytes, mostColdNs float64) {
	r.LowNs, r.HighNs, r.unsharedFactor = r.grossLowNs, r.grossHighNs, 1
	low := progress{ranNs: math.Min(r.LowNs, float64(r.CPUNs())), preemptions: int(r.InvoluntarySwitches)}
	high := low
	if r.noted {
		low, high = r.traced.low, r.traced.high
	}
	share := math.Min(env.MostLost, noise.LostShare)
	if r.InterruptsNs = low.ranNs * share; !noise.Known() {
		r.InterruptsNs = math.NaN()
	}
	// The kernel notes the loss of a CPU after the interrupt that caused it, and its return before the thread goes on.
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
	up := func(p progress) float64 { return noise.LessShare*p.ranNs + certain(p)*(each-least) }
	down := func(p progress) float64 {
		here, elsewhere := bytes, p.preemptions
		// The first thread may have waited for others. Nobody displaces anything for longer than others, or the host's
		// guests, ran.
		if wait := math.Min(math.Max(r.RunqueueWaitNs, r.traced.deficientNs), r.othersRanNs()+known(r.StealNs)); wait >= 0 {
			here = math.Min(bytes, readPerNs*wait/math.Max(1, float64(p.preemptions)))
		}
		if r.noted {
			elsewhere = min(elsewhere, r.traced.moves)
		}
		cold := func(n int, mostNs float64) float64 { return float64(n) * (mostNs - machine.UsualColdNs) }
		hereNs, elsewhereNs := math.Min(mostColdNs, noise.MostColdNs(here)), noise.MostColdNs(math.Max(here, math.Min(bytes, ownCacheBytes)))
		return noise.MoreShare*p.ranNs + cold(p.preemptions-elsewhere, hereNs) + cold(elsewhere, elsewhereNs)
	}
	r.slackNs, r.surelyNs = down(low), r.leastNs-down(r.least)
	r.allowFor(r.traced.recordedNs)
	r.slackUpNs, r.slackUpOfLowNs = up(high), up(low)
	// The estimate is a median, and so is the number of interrupts in it. That of a Poisson distribution is less than ln 2 below
	// its mean and less than 1/3 above. If the mean is at most ln 2, the median is 0.
	if n := noise.LossesPerSecond; n > 0 {
		each := 1e9 * share / n
		fewer := func(p progress) float64 { return math.Min(share*p.ranNs, math.Ln2*each) }
		if low.ranNs*n > math.Ln2*1e9 {
			r.allowFor(each / 3)
		}
		r.slackUpNs += fewer(high)
		r.slackUpOfLowNs += fewer(low)
	}
	r.HighNs = math.Max(r.HighNs, r.unsleptNs)
}
