package kbest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/env"
	"chronoscope/stats"
)

// Result is the result for one subject. Its times are per call.
type Result struct {
	Name string
	// Estimate is the time of one call on a machine of its own, in nanoseconds, at the core's rate here: the
	// value is at CoreHz, and the interval allows for how far the rate wandered.
	Estimate stats.Estimate
	// Mean is the mean cost of a call if calls differ by more than disturbances explain; else NaN. If it is
	// known well enough, it is the Estimate. Otherwise the Estimate is the time of a fast call, and suspect.
	Mean stats.Estimate
	// Cycles is the Estimate in cycles of the core. Its bounds and value are NaN if the core's rate is unknown.
	Cycles stats.Estimate
	// CoreHz is the rate that the core had most of the time; NaN if unknown.
	CoreHz float64
	// Wander is the standard deviation of the core's rate during the measurement, as a share; NaN if unknown.
	// The interval of the time includes twice Wander, whatever the number of trials; that of the cycles does
	// not.
	Wander float64
	// Ticks is the Estimate in ticks of the clock that measured it. If the clock is a processor's counter, its
	// ticks are no cycles of the core.
	Ticks stats.Estimate
	// Counted is the number of core cycles per call that a hardware counter counted in user space, from the
	// least to the K-th least sample; NaN if there is no counter, or if it had to share its hardware with others. It
	// lacks cycles that pass while the core is halted, or in the kernel.
	Counted stats.Estimate
	// Wall is the result of Bryant's scheme by the clock alone, from its fastest sample to the K-th. WallClaim
	// is the error that the scheme claims, (v_K - v_1)/v_1. The bounds are no confidence interval.
	Wall      stats.Estimate
	WallClaim float64
	// CPU is the CPU time of a call, from the least to the K-th least sample; NaN if the kernel does not tell.
	CPU stats.Estimate
	// Converged says whether the K least corrected samples agree within epsilon; Best has these, per call.
	Converged bool
	Best      []float64
	// Trials is the number of trials. Most of them have Calls calls each. Some have half as many, to show that time
	// grows with the number of calls, and some have more, to catch slow calls that are rare. Timed is the number of
	// calls in all trials.
	Trials, Calls, Timed int
	// Watched is the time from the first trial to the last.
	Watched time.Duration
	// Corrected and Rejected count samples by the reason for which they were corrected or rejected.
	Corrected, Rejected map[Reason]int
	// Samples has all samples, in order.
	Samples []Sample
	// Caveats say what to keep in mind, whatever the verdict.
	Caveats []string
	stats.Judgement
	// from is the conclusion that the result comes from, for a comparison with another.
	from *conclusion
}

// conclude returns the result of a subject from the samples so far.
func (m *measurement) conclude(s *series) *Result {
	r := &Result{
		Name: s.subject.Name, Trials: s.trials, Calls: s.n, Samples: s.samples, Watched: m.watched,
		Corrected: map[Reason]int{}, Rejected: map[Reason]int{}, Judgement: stats.NewJudgement(),
		Estimate: stats.NoEstimate("ns", MinK), Cycles: stats.NoEstimate("cycles", MinK), CPU: stats.NoEstimate("ns", MinK), Wall: stats.NoEstimate("ns", MinK),
		Mean:  stats.NoEstimate("ns", Mean),
		Ticks: stats.NoEstimate("ticks", MinK), Counted: stats.NoEstimate("cycles", MinK),
		WallClaim: inf,
	}
	c := &conclusion{Result: r, m: m, series: s, speed: coreSpeedOf(s.samples), meanwhile: nan}
	r.from = c
	r.CoreHz, r.Wander = c.speed.referenceHz, c.speed.spread
	c.screen()
	c.publish()
	c.infer()
	c.Ticks = c.Estimate.Scaled(1/m.station.Clock.TickNs.Value, "ticks")
	c.judge()
	return r
}

// conclusion is a result while it is computed.
type conclusion struct {
	*Result
	m      *measurement
	series *series
	speed  coreSpeed
	blocks bool
	// full has the accepted samples of Calls calls, half those of half as many.
	full, half []*Sample
	// surveys has the accepted samples of more calls.
	surveys []*Sample
	sharing env.Sharing
	// keepShared keeps samples on a shared core in any case.
	keepShared bool
	// meanwhile is the relative half width of the interval without the part for the core's wandering rate,
	// which more trials don't narrow.
	meanwhile float64
	// above is the share by which the mean of all calls exceeds the time of a fast one, if only rare
	// disturbances may explain it; 0 if usual ones do.
	above float64
}

// screen corrects, rejects and sorts the samples.
func (c *conclusion) screen() {
	s := screen{overhead: c.m.overhead, speed: c.speed, known: c.m.station.Use != nil}
	slept := 0
	for i := range c.Samples {
		if s.slept(&c.Samples[i]) {
			slept++
		}
	}
	c.blocks = 2*slept > len(c.Samples)
	s.blocks = c.blocks
	for i := range c.Samples {
		x := &c.Samples[i]
		s.judge(x)
		switch {
		case x.Rejected != "":
		case x.N == c.Calls:
			c.full = append(c.full, x)
		case x.N < c.Calls:
			c.half = append(c.half, x)
		default:
			c.surveys = append(c.surveys, x)
		}
	}
	if c.sharing = c.sharingOf(c.full); !c.keepShared && c.leavesOutShared() {
		c.rejectShared()
	}
	for _, x := range c.Samples {
		switch {
		case x.Rejected != "":
			c.Rejected[x.Rejected]++
		case x.Corrected != "":
			c.Corrected[x.Corrected]++
		}
	}
}

// leastCountedShare is the least share of the time in which the counter of cycles has to count.
const leastCountedShare = 0.999

// publish sets the figures of Bryant's scheme, and the CPU time.
func (c *conclusion) publish() {
	wall, cpu, counted := NewBest(c.m.plan.K), NewBest(c.m.plan.K), NewBest(c.m.plan.K)
	n := float64(c.Calls)
	for _, x := range c.Samples {
		if x.N != c.Calls || x.isImpossible() {
			continue
		}
		if !wall.Converged(c.m.plan.Epsilon) {
			wall.Add((x.WallNs - c.m.overhead.clockNs) / n)
		}
		cpu.Add((float64(x.Use.CPUNs) - c.m.overhead.lookNs - c.m.overhead.clockNs) / n)
		if !x.Migrated {
			counted.Add((float64(x.Counted) - c.m.overhead.counted) / n)
		}
	}
	c.Wall, c.WallClaim = fromBest(wall, "ns"), wall.Claim()
	if c.m.station.Use != nil {
		c.CPU = fromBest(cpu, "ns")
	}
	switch share := ask(c.m.station.CountedShare, 1); {
	case c.m.station.Counted == nil:
	case share < leastCountedShare: // the least samples are those in which it counted least
		c.Caveats = append(c.Caveats, fmt.Sprintf("the core cycles were counted for %.3g %% of the time, as the counter had to share the hardware with others, and are left out: end what else counts, such as perf", 100*share))
	default:
		c.Counted = fromBest(counted, "cycles")
	}
}

// fromBest returns the least value, with the K-th least as its upper bound.
func fromBest(b *Best, unit string) stats.Estimate {
	v := b.Values()
	if len(v) == 0 {
		return stats.NoEstimate(unit, MinK)
	}
	return stats.Estimate{Value: v[0], Lo: v[0], Hi: v[len(v)-1], Unit: unit, Statistic: MinK, N: len(v)}
}

// infer sets the estimate, if there are enough accepted samples.
func (c *conclusion) infer() {
	if !c.sufficient() {
		return
	}
	if c.blocks {
		c.Estimate = c.blocked()
		return
	}
	v := c.inference(c.m.rng())
	c.Estimate = v.estimate()
	switch mean, varies := c.onTheWhole(v, c.Estimate); {
	case !varies:
		c.Estimate = c.withRareCalls(c.Estimate, mean)
	case mean.RelativeHalfWidth() <= stats.UselessShare:
		c.Mean, c.Estimate = mean, mean
	default:
		c.Mean = mean
	}
	c.Estimate.Discarded = len(c.Samples) - c.Estimate.N
	c.keepBest(v.runNs)
	c.widen(v.typicalRunNs())
}

// inference returns the inference from the accepted samples.
func (c *conclusion) inference(rng *rand.Rand) inference {
	model := disturbances{looks: &c.m.looks}
	if !c.m.station.off.switches {
		model.switches = newSwitchCost(c.full, c.speed, c.m.looks.share())
	}
	return newInference(c.full, model, c.m.station.Clock.AccuracyNs, c.m.overhead, c.speed, c.m.plan.K, rng)
}

// sufficient reports whether there are enough accepted samples for an estimate.
func (c *conclusion) sufficient() bool { return len(c.full) >= max(fewestSamples, c.m.plan.K) }

// fewestSamples is the smallest number of samples for an estimate.
const fewestSamples = 3

// keepBest keeps the K least of the samples that were used.
func (c *conclusion) keepBest(runNs []float64) {
	best := NewBest(c.m.plan.K)
	for _, ns := range runNs {
		best.Add((ns - c.m.overhead.clockNs) / float64(c.Calls))
	}
	c.Best, c.Converged = best.Values(), best.Converged(c.m.plan.Epsilon)
}

// unseenShare is the share that unknown noise may take of a sample longer than escapeNs: Bryant lost up to 5 %
// (section 9.1.2).
const unseenShare = 0.05

// escapeNs is the length of a sample that timers at 1,000 Hz seldom hit, in nanoseconds.
const escapeNs = 200e3

// widen subtracts the time of the empty loop from the estimate, and widens the interval by what the samples can't
// show: the errors of the clock's rate, of the empty loop and of the core's rate, fixed time in each trial, and
// unknown noise. If the core's rate is known, it also sets the cycles.
func (c *conclusion) widen(runNs float64) {
	e := &c.Estimate
	defer func() {
		if math.IsNaN(c.meanwhile) {
			c.meanwhile = e.RelativeHalfWidth()
		}
	}()
	if rate := c.m.station.Clock.TickNs.RelativeHalfWidth(); rate > 0 {
		e.Lo -= rate * e.Value
		e.Hi += rate * e.Value
	}
	if !c.m.looks.known() && runNs > escapeNs {
		e.Lo -= unseenShare * e.Value
	}
	if fixed := c.fixedNs(); fixed > 0 {
		e.Lo -= fixed / float64(c.Calls)
	}
	e.Lo /= 1 + c.sharing.Most(c.Rejected[Shared] > 0)
	if loop, ok := c.m.loops[c.series]; ok {
		e.Value -= loop.Value
		e.Lo -= loop.Hi
		e.Hi -= loop.Lo
	}
	*e = widened(*e, 0)
	if hz := c.speed.referenceHz; hz > 0 {
		c.Cycles = widened(e.Scaled(hz/1e9, "cycles"), 2*c.speed.standardError+c.m.station.CoreHzError)
		*e = widened(*e, 2*c.speed.standardError)
		c.meanwhile = e.RelativeHalfWidth()
		*e = widened(*e, 2*c.speed.spread)
	}
}

// widened returns an estimate whose interval is wider by a share of its value on either side. The lower bound
// is cut at zero, unless the value is below zero.
func widened(e stats.Estimate, share float64) stats.Estimate {
	e.Lo = math.Max(e.Lo-share*e.Value, math.Min(0, e.Value))
	e.Hi += share * e.Value
	return e
}

// fixedNs returns the time that each trial takes beyond its calls and the clock, less what may be chance. It
// follows from trials of two sizes. If a trial is one call, surveys are the larger ones.
func (c *conclusion) fixedNs() float64 {
	few, many := c.half, c.full
	if c.Calls == 1 {
		few, many = c.full, c.surveys
	}
	if min(len(few), len(many)) < fewestSamples {
		return 0
	}
	calls, manyCalls := float64(few[0].N), float64(many[0].N)
	fixed := (manyCalls*leastRun(few)-calls*leastRun(many))/(manyCalls-calls) - c.m.overhead.clockNs
	return fixed - 3*c.m.station.Clock.AccuracyNs - c.m.plan.Epsilon*leastRun(c.full)
}

// leastRun returns the least running time of samples.
func leastRun(samples []*Sample) float64 {
	least := inf
	for _, x := range samples {
		least = math.Min(least, x.RunNs)
	}
	return least
}

// blocked returns the estimate for a subject that gives up its CPU. Its time lies between wall time less the
// wait and wall time, since a sleep may hide a wait. It is no less than CPU time: the kernel also counts a wait
// that began or ended outside of the sample.
func (c *conclusion) blocked() stats.Estimate {
	s := screen{overhead: c.m.overhead}
	run, wall := NewBest(c.m.plan.K), NewBest(c.m.plan.K)
	for _, x := range c.full {
		run.Add((math.Max(x.RunNs, s.cpuNs(x)) - c.m.overhead.clockNs) / float64(x.N))
		wall.Add((x.WallNs - c.m.overhead.clockNs) / float64(x.N))
	}
	e := fromBest(wall, "ns")
	clock := (c.m.station.Clock.AccuracyNs + c.m.overhead.clockNs - c.m.overhead.leastNs()) / float64(c.Calls)
	e.Lo = math.Max(0, math.Min(slices.Min(run.Values()), e.Value)-clock)
	e.Hi += clock
	return e
}
