package gobench

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Limits of what is taken for granted.
const (
	// calmShare of waiting does not matter.
	calmShare = 0.004
	// aloneWithin is which share of the CPU time may pass without a thread that could
	// run, or with a second one; twice that where repetitions differ so much.
	aloneWithin = 0.04
	// nothingMissing is a share of that kind that does not matter.
	nothingMissing = 0.003
	// untimedShare of the time that passes outside of the benchmark's timer is worth a
	// word.
	untimedShare = 0.02
	// mostlyUntimed is such a share that little is left to be timed.
	mostlyUntimed = 0.5
	// noiseError is how far what a CPU loses to interrupts may differ from the trace.
	noiseError = 0.3
	// switchNs is what a preemption takes where the trace does not tell; coldNs what
	// others may leave of the caches, and usualColdNs what they typically leave.
	switchNs, coldNs, usualColdNs = 3e3, 25e3, 8e3
	uselessShare                  = 0.25
)

// Conclude says what the repetitions of a benchmark show.
func Conclude(s *Series, plan Plan, setting Setting) *Result {
	r := &Result{Benchmark: s.Benchmark, Iterations: s.many, Repetitions: s.Repetitions, Judgement: stats.NewJudgement()}
	unknown := stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "ns", Statistic: "median"}
	r.Estimate, r.Wall, r.CPU, r.Cycles = unknown, unknown, unknown, unknown
	r.Cycles.Unit = "cycles"
	r.WaitShare, r.waitPerTimed, r.Runnable = math.NaN(), math.NaN(), math.NaN()
	if s.Failure != nil {
		r.Lower(stats.Unusable, "%s", s.Failure.reason())
	}
	if len(s.Repetitions) == 0 {
		if s.Failure == nil {
			r.Lower(stats.Unusable, "it was not measured: the measurement ended before its first repetition")
		}
		return r
	}
	r.Procs = s.Repetitions[0].Many.Procs
	c := conclusion{Result: r, series: s, plan: plan, setting: setting}
	c.weigh()
	if c.reject() {
		c.weigh() // without what a standstill does to sums
	}
	c.untimed = c.untimedShare()
	c.estimate()
	c.judge()
	return r
}

// conclusion is a result in the making.
type conclusion struct {
	*Result
	series  *Series
	plan    Plan
	setting Setting

	used        []Repetition // whose times count
	cpuPerTimed float64      // CPU time of an iteration beside its time by the timer
	untimed     float64      // share of time outside of the benchmark's timer
	blocks      bool         // at times no thread could run
	missing     float64      // share of the CPU time that passed beside it, without a thread that could run
}

// weigh finds out what kind of benchmark it is, and whether it had to wait. What the
// tracer disturbs is told by it, and timed without it.
func (c *conclusion) weigh() {
	var timed, wall, wait, cpu float64
	var shares []float64 // of the CPU time, when nothing could run
	for i, rep := range c.Repetitions {
		if c.rejected(i) || !rep.Traced || math.IsNaN(rep.perIteration(waitNs)) {
			continue
		}
		timed += rep.perIteration(timedNs)
		wall += rep.perIteration(wallNs)
		wait += rep.perIteration(waitNs)
		cpu += rep.perIteration(cpuNs)
		shares = append(shares, rep.perIteration(idleNs)/rep.perIteration(cpuNs))
	}
	if wall > 0 && timed > 0 {
		c.waitPerTimed = math.Max(0, wait/timed)
		c.WaitShare, c.Runnable = math.Max(0, wait/math.Max(wall, cpu+wait)), (cpu+wait)/wall
	}
	missing := stats.MedianOrRange(shares, "")
	c.missing = missing.Value
	c.blocks = !(missing.Lo <= aloneWithin && missing.Value <= 2*aloneWithin)
	c.alone = !c.blocks && missing.Hi >= -aloneWithin && missing.Value >= -2*aloneWithin
	c.used, c.at = nil, nil
	untraced := slices.ContainsFunc(c.Repetitions, func(rep Repetition) bool { return !rep.Traced })
	for i, rep := range c.Repetitions {
		if !c.rejected(i) && (!c.series.shy || !rep.Traced || !untraced) {
			c.used, c.at = append(c.used, rep), append(c.at, i)
		}
	}
}

// untimedShare is which part of the time of an iteration passes while the benchmark's
// timer stands still; 0 where that may be chance.
func (c *conclusion) untimedShare() float64 {
	shares := c.each(func(rep Repetition) float64 { return 1 - rep.perIteration(timedNs)/rep.perIteration(wallNs) })
	e := stats.MedianOrRange(shares, "")
	if !(e.Lo > 0) {
		return 0
	}
	return e.Value
}

// each is a figure of each repetition that counts.
func (c *conclusion) each(of func(Repetition) float64) []float64 {
	var all []float64
	for _, rep := range c.used {
		all = append(all, of(rep))
	}
	return all
}

// estimate bounds the time of each repetition from below and above, and takes the
// medians.
func (c *conclusion) estimate() {
	c.Basis = c.basis()
	c.cpuPerTimed = c.typical(func(rep Repetition) float64 { return rep.perIteration(cpuNs) / rep.perIteration(timedNs) })
	var lower, upper []float64
	for _, rep := range c.used {
		own := c.boundsOn(c.Basis, rep)
		lower, upper = append(lower, own.lo), append(upper, own.hi)
		c.Times = append(c.Times, c.undisturbedNs((own.lo+own.hi)/2, rep))
		if c.Basis == Bounds || !c.undelayed && c.waitedNs(rep) > 0 {
			c.Corrected++
		}
	}
	c.comparable = map[Basis][]bounds{}
	for _, basis := range []Basis{Timer, CPUTime, Bounds} {
		for _, rep := range c.used {
			on := c.boundsOn(basis, rep)
			c.comparable[basis] = append(c.comparable[basis], bounds{c.undisturbedNs(on.lo, rep), c.undisturbedNs(on.hi, rep)})
		}
	}
	low, high := stats.MedianOrRange(lower, "ns"), stats.MedianOrRange(upper, "ns")
	rounding := c.typical(Repetition.roundingNs)
	if c.Basis == CPUTime {
		rounding = 0
	}
	c.roundingShare = rounding / middleOf(low, high)
	middle := middleOf(low, high)
	c.Estimate = stats.Estimate{Unit: "ns", Statistic: "median", N: len(c.used), Discarded: len(c.Repetitions) - len(c.used)}
	c.Estimate.Value = stats.Median(c.Times)
	c.Estimate.Lo = low.Lo - rounding - c.disturbanceNs(middle, noiseError, coldNs)
	c.Estimate.Hi = high.Hi + rounding - c.disturbanceNs(middle, -noiseError, 0)
	c.Wall = stats.MedianOrRange(c.each(func(rep Repetition) float64 { return rep.perIteration(timedNs) }), "ns")
	c.CPU = stats.MedianOrRange(c.each(func(rep Repetition) float64 { return rep.perIteration(cpuNs) }), "ns")
	c.Estimate, c.Wall, c.CPU = notNegative(c.Estimate), notNegative(c.Wall), notNegative(c.CPU)
	if hz := c.setting.CoreHz; hz.Value > 0 && c.alone {
		c.Cycles = stats.Estimate{
			Value: c.Estimate.Value * hz.Value / 1e9, Lo: c.Estimate.Lo * hz.Lo / 1e9, Hi: c.Estimate.Hi * hz.Hi / 1e9,
			Unit: "cycles", Statistic: c.Estimate.Statistic, N: c.Estimate.N, Discarded: c.Estimate.Discarded,
		}
	}
	c.metrics()
}

// notNegative is an estimate of a time. A difference of two runs may be below 0 where chance
// is larger than what they differ by: then the value is not known.
func notNegative(e stats.Estimate) stats.Estimate {
	if e.Value <= 0 {
		e.Value = math.NaN()
	}
	if e.Hi <= 0 {
		e.Lo, e.Hi = math.NaN(), math.NaN()
	}
	if e.Lo < 0 {
		e.Lo = 0
	}
	return e
}

func middleOf(low, high stats.Estimate) float64 { return (low.Value + high.Value) / 2 }

// basis is what the figure rests on.
func (c *conclusion) basis() Basis {
	c.undelayed = c.waitPerTimed <= calmShare
	switch {
	case c.alone && (!c.undelayed || c.missing > nothingMissing): // it waited, slept, or a hypervisor had the CPU
		return CPUTime
	case c.undelayed:
		return Timer
	}
	return Bounds
}

// bounds are those between which the time of an iteration lies, on a machine of its own.
type bounds struct{ lo, hi float64 }

// boundsOn are those of a repetition, interrupts included, by what it may rest on.
func (c *conclusion) boundsOn(basis Basis, rep Repetition) bounds {
	timed, wait, cpu := rep.perIteration(timedNs), c.waitedNs(rep), c.timedCPUNs(rep)
	switch {
	case basis == CPUTime && c.missing > nothingMissing:
		return bounds{cpu, cpu * (1 + c.missing)}
	case basis == CPUTime:
		return bounds{cpu, cpu}
	case basis == Timer && c.alone && c.missing <= nothingMissing:
		return bounds{timed - wait, timed - wait}
	case basis == Timer:
		return bounds{timed - wait, timed}
	case math.IsNaN(wait):
		return bounds{math.Min(timed, cpu/float64(max(1, c.setting.CPUs))), timed}
	}
	lo, hi := math.Max(timed-wait, cpu/float64(max(1, c.setting.CPUs))), timed
	if c.setting.CPUs == 1 && !c.blocks {
		hi = math.Min(timed, cpu)
	}
	return bounds{math.Min(lo, hi), hi}
}

// waitedNs is for how long an iteration waited for a CPU: where that is not known of the
// repetition, as long as it usually did; NaN where that isn't known either.
func (c *conclusion) waitedNs(rep Repetition) float64 {
	wait := rep.perIteration(waitNs)
	if !rep.Traced || math.IsNaN(wait) {
		wait = c.waitPerTimed * rep.perIteration(timedNs)
	}
	return math.Max(0, wait)
}

// timedCPUNs is the CPU time of the part of an iteration that is timed. Where the timer
// stands still for a part, its share of the time is taken for its share of the CPU time,
// repetition by repetition, so that chance in that shows in the interval.
func (c *conclusion) timedCPUNs(rep Repetition) float64 {
	cpu := rep.perIteration(cpuNs)
	if c.untimed > 0 {
		cpu *= rep.perIteration(timedNs) / rep.perIteration(wallNs)
	}
	return cpu
}

// undisturbedNs takes off a repetition's time what interrupts and preemptions typically
// take.
func (c *conclusion) undisturbedNs(ns float64, rep Repetition) float64 {
	return ns - c.interruptsNs(ns) - math.Max(0, rep.perIteration(switches))*c.ownSwitches()*(c.switchNs()+usualColdNs)
}

// disturbanceNs is what interrupts and preemptions take of an iteration, with so much
// more than the trace shows, and with caches that take so long to fill again.
func (c *conclusion) disturbanceNs(ns, more, coldNs float64) float64 {
	count := math.Max(0, c.typical(func(rep Repetition) float64 { return rep.perIteration(switches) })) * c.ownSwitches()
	return c.interruptsNs(ns)*(1+more) + count*(c.switchNs()*(1+more)+coldNs)
}

// ownSwitches is 1 where preemptions count: where others had the CPU.
func (c *conclusion) ownSwitches() float64 {
	if c.waitPerTimed > calmShare {
		return 1
	}
	return 0
}

func (c *conclusion) switchNs() float64 {
	if ns := c.setting.Noise.SwitchNs; ns > 0 {
		return ns
	}
	return switchNs
}

// busyShare is for which part of the time an iteration keeps a CPU busy, at most 1.
func (c *conclusion) busyShare() float64 {
	if c.Basis == CPUTime || !(c.cpuPerTimed < 1) {
		return 1
	}
	return math.Max(0, c.cpuPerTimed)
}

// interruptsNs is what interrupts take of a time of which the CPU was busy for a part.
func (c *conclusion) interruptsNs(ns float64) float64 {
	return ns * c.setting.Noise.ShareLost() * c.busyShare()
}

func (c *conclusion) typical(of func(Repetition) float64) float64 { return stats.Median(c.each(of)) }

// metrics are the medians of the other figures. Of those that the testing package divides by
// the iterations, or by the time, the part that is spent only once cancels, as in the time.
func (c *conclusion) metrics() {
	for i, m := range c.used[0].Many.Metrics {
		var values []float64
		for _, rep := range c.used {
			if all := rep.Many.Metrics; i < len(all) && all[i].Unit == m.Unit {
				values = append(values, rep.metric(i))
			}
		}
		c.Metrics = append(c.Metrics, Metric{Unit: m.Unit, Value: stats.Median(values)})
	}
}

// metric is what a repetition shows of one of the metrics of its longer run.
func (r Repetition) metric(i int) float64 {
	many := r.Many.Metrics[i]
	if i >= len(r.Few.Metrics) || r.Few.Metrics[i].Unit != many.Unit {
		return many.Value
	}
	total := func(value float64, o Observation) float64 { return value * float64(o.N) }
	divisor, rounding := r.iterations(), float64(r.Many.N)
	switch many.Unit {
	case "B/op", "allocs/op": // rounded down to whole ones
	case "MB/s":
		total = func(value float64, o Observation) float64 { return value * o.TimedNs }
		divisor, rounding = r.Many.TimedNs-r.Few.TimedNs, 0
	default: // the benchmark's own: what it is divided by is not known
		return many.Value
	}
	few := r.Few.Metrics[i].Value
	slope := (total(many.Value, r.Many) - total(few, r.Few)) / divisor
	switch {
	case !(divisor > 0) || many.Value == few:
		return many.Value
	case rounding == 0:
		return math.Max(0, slope)
	case math.Abs(many.Value-slope) < rounding/divisor: // no more than the rounding
		return many.Value
	}
	return math.Max(0, math.Round(slope))
}
