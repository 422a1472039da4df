package program

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

func unknown() stats.Estimate {
	nan := math.NaN()
	return stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ns", Statistic: "median"}
}

// conclude says what the runs of a command show: all of them, or those alone in which nobody else can have
// delayed the program, where these can be trusted further, or as far with a narrower interval.
func conclude(s *series, plan Plan, setting Setting, w *noiseChecks) *Result {
	all, calm := concludeFrom(s, plan, setting, w, false)
	if !calm {
		return all
	}
	undelayed, _ := concludeFrom(s, plan, setting, w, true)
	if all.Verdict.WorseThan(undelayed.Verdict) || all.Verdict == undelayed.Verdict && undelayed.Estimate.RelativeHalfWidth() < all.Estimate.RelativeHalfWidth() {
		return undelayed
	}
	return all
}

// concludeFrom says what all runs of a command show, or the calm ones. calm tells whether there are enough of these.
func concludeFrom(s *series, plan Plan, setting Setting, w *noiseChecks, calmOnly bool) (r *Result, calm bool) {
	noise, shareError := w.joined()
	for i := range s.runs {
		s.runs[i].takeOffDisturbance(noise, shareError)
	}
	r = &Result{
		Command: s.command, Runs: s.runs, Failure: s.failure, Judgement: stats.NewJudgement(), Noise: noise, rounds: s.rounds,
		Summary: Summary{Estimate: unknown(), Wall: unknown(), CPU: unknown(), MaxRSSBytes: Positive(s.peak)},
	}
	c := conclusion{Result: r, series: s, plan: plan, setting: setting}
	c.use()
	undelayed, others := c.calm()
	if calm = undelayed != nil; calm && calmOnly {
		c.keep(undelayed, others)
	}
	c.allowForWaits(s.wokenNs)
	c.Estimate.Discarded = len(c.Runs)
	if len(c.used) > 0 {
		c.Wall = median(c.each(func(r *Run) float64 { return float64(r.WallNs) }))
		c.CPU = median(c.each((*Run).ownCPUNs))
		c.RunqueueWaitNs = stats.FloatOf(c.typical(func(r *Run) float64 { return r.RunqueueWaitNs }))
		c.BlockedNs = stats.FloatOf(c.typical(func(r *Run) float64 { return r.BlockedNs }))
		c.counted = c.used
		c.keepApart()
		c.allowForDeadlines()
		c.allowForLateness()
		c.allowForClocks()
		c.allowForSpinning()
		c.allowForOrder()
		c.ruleOutDeadline()
		c.allowForTimers()
		c.outsideNs = c.allowForOutside()
		c.chooseMethod()
		if nice := c.niceness(); nice != 0 {
			c.Explanation += fmt.Sprintf("; it ran with a niceness of %d", nice)
		}
		if s.untraceable {
			c.Explanation += "; it fails where it is traced, so that its memory is not known, nor whether it asks to wait until some time"
		}
		c.saySharing()
		c.allowForNeighbours()
		c.estimate()
		c.Outliers = c.outliers()
		c.Percentiles = c.percentiles()
	}
	c.judge()
	r.Metrics = MetricsOf(r)
	return r, calm
}

// conclusion is a result in the making.
type conclusion struct {
	*Result
	series  *series
	plan    Plan
	setting Setting

	used   []*Run // that count
	low    []float64
	high   []float64
	widths []float64
	reads  float64 // how often a run waits for a disk, usually
	// disturbedMoreNs is how much more CPU time the runs used that [conclusion.keep] leaves out.
	disturbedMoreNs float64
	// varies says that in some runs the program blocked for much longer than in others.
	varies bool
	// bounded says that what others had of the CPUs bounds the time.
	bounded bool
	// aboveClock says that the runs chosen first lay above what the program took by the clock.
	aboveClock bool
	// spins bounds the share of the possible spinning time in which threads did spin.
	spins float64
	// outsideNs is the delay by others of what the program waits for, beyond what its bounds hold.
	outsideNs float64
	// neighbours is what programs on other CPUs may have added.
	neighbours stats.Exposure
	// counted are the runs that count, with those that leftShared says were left out since they shared a
	// core, and sharing is what these show.
	counted    []*Run
	leftShared int
	sharing    env.Sharing
}

// niceness is what the program was given; 0 where it was none.
func (c *conclusion) niceness() int { return cmp.Or(c.Command.Nice, c.setting.Nice) }

// use finds the runs that count. The others give no figure, also where none is left: to be
// traced takes a program time.
func (c *conclusion) use() {
	for i := range c.Runs {
		if !c.Runs[i].Rejected {
			c.used = append(c.used, &c.Runs[i])
		}
	}
	for _, r := range c.used {
		c.low, c.high = append(c.low, r.LowNs), append(c.high, r.HighNs)
	}
	c.reads = c.typical(func(r *Run) float64 { return float64(r.MajorFaults) })
}

// calm returns the runs in which nobody else can have delayed the program, where there are enough of them, and
// the others: in the calm runs it did what it does alone. They have to agree with the others, since others
// also run in those runs in which the program has them work for it.
func (c *conclusion) calm() (calm, others []int) {
	for i, r := range c.used {
		if r.othersAtMostNs() <= passable(float64(r.WallNs)) {
			calm = append(calm, i)
		} else {
			others = append(others, i)
		}
	}
	if len(calm) < fewestCalm || len(calm) >= len(others) || !c.agree(calm, others) || !c.blockNoLonger(calm, others) {
		return nil, nil
	}
	return calm, others
}

// keep leaves out the runs that are not calm.
func (c *conclusion) keep(calm, others []int) {
	c.disturbedMoreNs = c.moreCPU(calm, others)
	used, low, high := c.used, c.low, c.high
	c.used, c.low, c.high = nil, nil, nil
	for _, i := range calm {
		c.used, c.low, c.high = append(c.used, used[i]), append(c.low, low[i]), append(c.high, high[i])
	}
}

// fewestCalm are the fewest runs that are taken in place of all: the median of 12 runs of a pool of threads was
// off by 5 %.
const fewestCalm = 20

// blockNoLonger tells whether nearly all of the other runs were blocked for no longer than the calm ones.
// Where they had to wait for a CPU, deadlines may have passed, so that they were blocked for less.
func (c *conclusion) blockNoLonger(calm, others []int) bool {
	most := 0.0
	for _, i := range calm {
		most = math.Max(most, c.used[i].BlockedNs)
	}
	longer := 0
	for _, i := range others {
		if r := c.used[i]; !(r.BlockedNs <= most+passable(float64(r.WallNs))) {
			longer++
		}
	}
	return float64(longer) <= strayShare*float64(len(others))
}

// allowForWaits takes runs whose bounds allow for less than threads were found to wait for a
// CPU when they were woken, in a run in which that is known: others may have begun to compete
// with the program in between.
func (c *conclusion) allowForWaits(wokenNs float64) {
	for i, r := range c.used {
		c.low[i] = max(r.leastNs, r.calmNs, c.low[i]-math.Max(0, wokenNs-r.wokenAtMostNs))
	}
}

// each is a figure of each run that counts.
func (c *conclusion) each(of func(*Run) float64) (all []float64) {
	for _, r := range c.used {
		all = append(all, of(r))
	}
	return all
}

// typical is the median of those that are known; NaN where none is.
func (c *conclusion) typical(of func(*Run) float64) float64 {
	return stats.Median(slices.DeleteFunc(c.each(of), math.IsNaN))
}

// median is that of values in any order, with an interval that holds for any distribution;
// where there are too few for one it is their range, which holds less often.
func median(values []float64) stats.Estimate {
	if len(values) == 0 {
		return unknown()
	}
	e := stats.MedianInterval(values, "ns")
	if math.IsNaN(e.Lo) {
		e.Lo, e.Hi = slices.Min(values), slices.Max(values)
	}
	return e
}

// allowForDeadlines keeps a run that had to wait so long that a deadline had passed, and
// that did not sleep therefore, from being taken for one that never sleeps: alone it may
// have taken as long as those that slept did at most. One that others did not keep waiting slept
// less for reasons of its own.
func (c *conclusion) allowForDeadlines() {
	if c.series.probed && !c.series.someUnnoted && c.series.timedWaits == 0 {
		return // it asks for no time
	}
	var slept, ends []float64
	for _, r := range c.used {
		if !math.IsNaN(r.BlockedNs) && !c.readMore(r) {
			slept = append(slept, r.BlockedNs)
		}
	}
	if len(slept) == 0 {
		return
	}
	slices.Sort(slept)
	long := slept[len(slept)-1-len(slept)/50] // one run in fifty may be out of the common
	for _, r := range c.used {
		if r.BlockedNs >= long/2 {
			ends = append(ends, r.HighNs)
		}
	}
	end, shorter := stats.Median(ends), 0
	for i, r := range c.used {
		matters := math.Max(passableNs, passableShare*float64(r.WallNs))
		if r.waited() && r.BlockedNs < sleptAlike*long && long-r.BlockedNs > matters && end-c.high[i] > matters {
			shorter++
			c.high[i] = end
		}
	}
	c.varies = float64(shorter) > strayShare*float64(len(c.used))
}

// allowForLateness takes a program that had to wait in most runs, and may have passed deadlines that it
// would have slept to alone: alone it comes to each of them earlier, so that it takes up to what it took
// by the clock.
func (c *conclusion) allowForLateness() {
	if !c.mostlyLate() {
		return
	}
	for i, r := range c.used {
		c.high[i] = math.Max(c.high[i], float64(r.WallNs))
	}
}

// readMore says that a run waited for a disk more often than is usual, which is no sleep.
func (c *conclusion) readMore(r *Run) bool { return float64(r.MajorFaults) > c.reads }

// strayShare of the runs may be out of the common, which moves no median by much: a wait
// before the exec, which the kernel counts as the program's, makes a sleep look shorter.
const strayShare = 0.1

// sleptAlike is which share of the longest sleep is no other deadline.
const sleptAlike = 0.9

// ruleOutDeadline takes a program of one thread that sleeps. A sleep to a deadline is as
// much shorter as the program was kept from its CPU before it. Sleeps that last the same in
// all runs, however much they differ in that, do not depend on it: then nothing was made up
// for, and all of the wait comes off. It has to sleep as often as it asks to, and to block as
// often as it is known to: a deadline that had passed is neither. Two things keep the bounds
// apart: a run whose end was seen late may have waited there, and not when it was woken; and
// the CPU of a program that is alone is idle while it sleeps, and then takes a while to be
// told, which no run beside others shows. A run that had to read from a disk keeps its bounds.
func (c *conclusion) ruleOutDeadline() {
	var kept []float64
	sleeps := 0
	for _, r := range c.used {
		t := r.traced
		if c.readMore(r) {
			continue
		}
		if !r.noted || t.threads != 1 || r.timedWaits == 0 || t.sleeps < r.timedWaits || r.blocks < r.waits || r.late || !t.leaderWake.known() {
			return
		}
		kept = append(kept, t.keptBeforeNs)
		sleeps = max(sleeps, t.sleeps)
	}
	if c.varies || sleeps == 0 {
		return
	}
	// Any one of the sleeps may be one to a deadline, with its part of the waits before it.
	explains := spread(kept) / float64(sleeps)
	slept, kept := c.sleepsWithin(alikeShare * explains)
	if len(slept) < fewestChosen {
		return
	}
	differs, explains := spread(slept), spread(kept)/float64(sleeps)
	if explains < c.plan.Precision*stats.Median(c.low)/float64(sleeps) || differs > alikeShare*explains {
		return
	}
	for i, r := range c.used {
		t := r.traced
		if c.readMore(r) {
			continue
		}
		unsure := math.Max(0, t.leaderWake.highNs-t.leaderWake.lowNs-exitTailNs-wakeLatencyNs)
		if end := c.low[i] + differs + unsure; end < c.high[i] {
			c.high[i], r.slackUpNs = end, r.slackUpOfLowNs+wakeLatencyNs*float64(t.sleeps)
		}
	}
}

// sleepsWithin is the time for which the program slept in those runs of which that is known within
// so much, which it is not where its end was seen late, and for how long it had been kept
// waiting before.
func (c *conclusion) sleepsWithin(ns float64) (slept, kept []float64) {
	for _, r := range c.used {
		if t := r.traced; t.leaderWake.highNs-t.leaderWake.lowNs <= ns && !c.readMore(r) {
			slept, kept = append(slept, t.idleNs-t.leaderWake.highNs), append(kept, t.keptBeforeNs)
		}
	}
	return slept, kept
}

// alikeShare of what would shorten a sleep to a deadline is how much sleeps that don't
// depend on it may differ: they end at the kernel's timers, and begin a little earlier or
// later.
const alikeShare = 0.1

// spread is the range of values without the tenth at either end.
func spread(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return stats.Quantile(sorted, 0.9) - stats.Quantile(sorted, 0.1)
}

// estimate joins the runs' bounds: whatever the runs' own times are, their median lies
// between that of the lower bounds and that of the upper ones. Where these lie apart,
// those runs count that had to wait least.
func (c *conclusion) estimate() {
	chosen, moreNs := c.chosen()
	e := c.hold(widened(c.join(chosen), moreNs))
	c.Estimate = widened(e, c.disturbedMoreNs) // the runs left out may have taken longer by the clock, too
}

// widened is the estimate whose interval also holds what is more by so much, or less.
func widened(e stats.Estimate, moreNs float64) stats.Estimate {
	e.Lo, e.Hi = math.Max(0, e.Lo+math.Min(0, moreNs)), e.Hi+math.Max(0, moreNs)
	return e
}

// join is the estimate from these runs.
func (c *conclusion) join(chosen []int) stats.Estimate {
	var low, high, middle, slack, slackUp []float64
	for _, i := range chosen {
		low, high = append(low, c.low[i]), append(high, c.high[i])
		middle = append(middle, (c.low[i]+c.high[i])/2)
		slack, slackUp = append(slack, c.used[i].slackNs), append(slackUp, c.used[i].slackUpNs)
	}
	e := median(middle)
	e.Lo = math.Max(0, median(low).Lo-stats.Median(slack))
	e.Hi = median(high).Hi + stats.Median(slackUp)
	e.Discarded = len(c.Runs) - len(chosen)
	return e
}

// fewestChosen runs bound a median.
const fewestChosen = 6

// chosen are the runs that count for the estimate: all where most are known as well as asked
// for, else the quarter that had to wait least, where the others may have taken as long. To choose
// by the bounds themselves would choose one mode of a program that has several. With several
// threads bounds may be tight by chance, in a run that went another way: there, too, all count. moreNs is what
// [conclusion.moreCPU] says of the others.
func (c *conclusion) chosen() (runs []int, moreNs float64) {
	order := make([]int, len(c.used))
	c.widths = make([]float64, len(c.used))
	for i := range order {
		order[i] = i
		c.widths[i] = (c.high[i] - c.low[i]) / math.Max(1, c.high[i])
	}
	several := slices.ContainsFunc(c.used, func(r *Run) bool { return r.traced.threads > 1 })
	if stats.Median(c.widths) <= c.plan.Precision || several || !c.mostlyWaited() {
		return order, 0
	}
	all := slices.Clone(order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.used[a].waitedNs(), c.used[b].waitedNs()) })
	n := min(len(order), max(fewestChosen, len(order)/4))
	if !c.agree(order[:n], order[n:]) {
		return all, 0
	}
	return order[:n], c.moreCPU(order[:n], order[n:])
}

// moreCPU returns how much more CPU time the other runs used than the chosen ones, by their medians; 0 if that may be
// chance. A program that gives other processes work in some of its ways has runs of that way among the others: its
// median run may be one of these.
func (c *conclusion) moreCPU(chosen, others []int) (ns float64) {
	used := func(which []int) stats.Estimate {
		var all []float64
		for _, i := range which {
			all = append(all, c.used[i].ownCPUNs())
		}
		return median(all)
	}
	a, b := used(chosen), used(others)
	if b.Lo > a.Hi || b.Hi < a.Lo {
		return b.Value - a.Value
	}
	return 0
}

// agreeShare is how far runs of the same program may lie apart that differ in how long they waited.
const agreeShare = 0.1

// agree tells whether nearly all of the other runs may have taken as long as the chosen ones, and
// used as much CPU time, and the median of them as much as that of all.
func (c *conclusion) agree(chosen, others []int) bool {
	least, most := math.Inf(1), 0.0
	var cpus []float64
	for _, i := range chosen {
		least, most = math.Min(least, c.low[i]), math.Max(most, c.high[i])
		cpus = append(cpus, c.used[i].ownCPUNs())
	}
	leastCPU, mostCPU, usual := slices.Min(cpus), slices.Max(cpus), stats.Median(cpus)
	apart := func(low, high, least, most float64) bool {
		return high < (1-agreeShare)*least-passableNs || low > (1+agreeShare)*most+passableNs
	}
	if all := stats.Median(c.each((*Run).ownCPUNs)); apart(all, all, usual, usual) {
		return false
	}
	differ := 0
	for _, i := range others {
		cpu := c.used[i].ownCPUNs()
		if apart(c.low[i], c.high[i], least, most) || apart(cpu, cpu, leastCPU, mostCPU) {
			differ++
		}
	}
	return float64(differ) <= strayShare*float64(len(others))
}
