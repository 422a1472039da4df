package program

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

func unknown() stats.Estimate { return stats.NoEstimate("ns", "median") }

// chosenRuns says on which runs a conclusion rests.
type chosenRuns int

// A conclusion rests on all runs at the usual niceness, on the calm ones of these, in which nobody else can have delayed
// the program, or on the runs at favouredNice.
const (
	usualRuns chosenRuns = iota
	calmRuns
	favouredOnly
)

// concludeBoth returns the result of a command's runs, with [Summary.Idle]: what the result would be if interrupts took
// no time, so that none is subtracted for them.
func concludeBoth(s *series, plan Plan, setting Setting, w *env.NoiseChecks) *Result {
	r, from := concludeBest(s, plan, setting, w)
	without, _ := concludeFrom(s, plan, setting, s.noises(w).withoutInterrupts(), from)
	if idle := without.Estimate; r.Estimate.Value > 0 && idle.Value > 0 {
		r.Idle = &idle
	}
	return r
}

// conclude returns the result of a command's runs.
func conclude(s *series, plan Plan, setting Setting, w *env.NoiseChecks) *Result {
	r, _ := concludeBest(s, plan, setting, w)
	return r
}

// concludeBest returns the result of those runs that have the best verdict, or the same one and the narrowest interval.
// Figures that are not corrected for other programs always come from all usual runs: how long the program took by the clock,
// how long it waited, and its metrics.
func concludeBest(s *series, plan Plan, setting Setting, w *env.NoiseChecks) (best *Result, from chosenRuns) {
	noise := s.noises(w)
	usual, _ := concludeFrom(s, plan, setting, noise, usualRuns)
	best, from = usual, usualRuns
	for _, other := range []chosenRuns{calmRuns, favouredOnly} {
		r, possible := concludeFrom(s, plan, setting, noise, other)
		if !possible {
			continue
		}
		contradicts := other == favouredOnly && (r.Estimate.Lo > usual.Estimate.Hi || r.Estimate.Hi < usual.Estimate.Lo || r.Estimate.Value > usual.Wall.Hi)
		if !contradicts && r.betterThan(best) {
			best, from = r, other
		}
	}
	if from == favouredOnly {
		best.Estimate.Hi = math.Max(best.Estimate.Value, math.Min(best.Estimate.Hi, usual.Wall.Hi))
		best.Explanation += fmt.Sprintf("; this is of %s at a niceness of %d, with which others hardly had its CPU", stats.Count(best.Estimate.N, "run"), favouredNice)
	}
	if from != usualRuns {
		best.selected = true
		best.Wall, best.CPU, best.RunqueueWaitNs, best.BlockedNs = usual.Wall, usual.CPU, usual.RunqueueWaitNs, usual.BlockedNs
		best.Percentiles.Wall, best.Outliers, best.Metrics = usual.Percentiles.Wall, usual.Outliers, usual.Metrics
	}
	return best, from
}

// betterThan reports whether the result has a better verdict than the other, or the same one and a narrower interval.
func (r *Result) betterThan(other *Result) bool {
	if r.Verdict != other.Verdict {
		return other.Verdict.WorseThan(r.Verdict)
	}
	return r.Estimate.RelativeHalfWidth() < other.Estimate.RelativeHalfWidth()
}

// noises are what interrupts and preemptions take of the usual runs, and of those at favouredNice.
type noises struct{ usual, favoured env.Disturbance }

// noises returns what the looks tell, of which w are the usual ones.
func (s *series) noises(w *env.NoiseChecks) (n noises) {
	var ranNs []float64
	for i := range s.runs {
		if !s.runs[i].Rejected {
			ranNs = append(ranNs, float64(s.runs[i].CPUNs()))
		}
	}
	typical := stats.Median(ranNs)
	n.usual = w.Typical(typical)
	n.favoured = n.usual
	if seen := s.favouredChecks.Typical(typical); seen.Known() {
		n.favoured = n.usual.WithInterruptsOf(seen)
		if seen.WatchedNs < fewLooksNs { // a burst of interrupts may have been in all of it
			n.favoured.LessShare = math.Max(seen.LessShare, seen.LostShare-n.usual.LostShare)
			n.favoured.MoreShare = math.Max(seen.MoreShare, n.usual.LostShare-seen.LostShare)
		}
	}
	return n
}

// withoutInterrupts returns the noises as if interrupts took no time.
func (n noises) withoutInterrupts() noises {
	return noises{n.usual.WithInterruptsOf(env.Disturbance{}), n.favoured.WithInterruptsOf(env.Disturbance{})}
}

// concludeFrom returns the result of some runs of a command. possible reports whether there are enough such runs.
func concludeFrom(s *series, plan Plan, setting Setting, noise noises, from chosenRuns) (r *Result, possible bool) {
	if from == favouredOnly && len(s.favouredNs) == 0 {
		return nil, false
	}
	runs := slices.Clone(s.runs)
	counted := noise.usual
	if from == favouredOnly {
		counted = noise.favoured
	}
	mostColdNs, bytes := mostColdOf(runs), displacedBytes(s.peak)
	for i := range runs {
		if r := &runs[i]; r.favoured {
			r.takeOffDisturbance(noise.favoured, bytes, mostColdNs)
		} else {
			r.takeOffDisturbance(noise.usual, bytes, math.Inf(1))
		}
		runs[i].allowForColdStart(s.coldBytes())
	}
	r = &Result{
		Command: s.command, Runs: runs, Failure: s.failure, Judgement: stats.NewJudgement(), Noise: counted.Noise, rounds: s.rounds,
		Summary: Summary{Estimate: unknown(), Wall: unknown(), CPU: unknown(), MaxRSSBytes: Positive(s.peak)},
	}
	c := conclusion{Result: r, series: s, plan: plan, setting: setting, favoured: from == favouredOnly}
	c.use()
	possible = len(c.used) > 0
	switch from {
	case calmRuns:
		calm, others := c.calm()
		if calm == nil {
			return r, false
		}
		c.keep(calm, others)
	case favouredOnly:
		if !c.favouredTell() {
			return r, false
		}
	}
	c.allowForWaits(s.wokenNs)
	c.Estimate.Discarded = len(c.Runs)
	if len(c.used) > 0 {
		c.Wall = median(c.each(func(r *Run) float64 { return float64(r.WallNs) }))
		c.CPU = median(c.each((*Run).OwnCPUNs))
		c.RunqueueWaitNs = stats.FloatOf(c.typical(func(r *Run) float64 { return r.RunqueueWaitNs }))
		c.BlockedNs = stats.FloatOf(c.typical(func(r *Run) float64 { return r.BlockedNs }))
		c.counted = c.used
		c.allowForSharing()
		c.allowForDeadlines()
		c.allowForLateness()
		c.allowForClocks()
		c.allowForCPUTime()
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
			c.Explanation += "; it fails where it is traced, so that it is not known whether it asks to wait until some time"
			if s.peak == 0 {
				c.Explanation += ", nor its memory"
			}
		}
		if ns := c.coldNs(); ns > 0 {
			c.Explanation += fmt.Sprintf("; at a niceness of %d it used %s less CPU time: others displace its data in the caches", favouredNice, stats.Duration(ns, 3))
		}
		c.saySharing()
		c.allowForNeighbours()
		c.estimate()
		c.Outliers = c.outliers()
		c.Percentiles = c.percentiles()
	}
	c.judge()
	r.Metrics = MetricsOf(r)
	return r, possible
}

// conclusion is a result while it is worked out.
type conclusion struct {
	*Result
	series  *series
	plan    Plan
	setting Setting

	favoured bool // only the runs at favouredNice count

	used   []*Run // the runs that count
	low    []float64
	high   []float64
	widths []float64
	reads  float64 // how often a typical run waits for a disk
	// disturbedMoreNs is how much more CPU time the runs left out by [conclusion.keep] used.
	disturbedMoreNs float64
	// varies says that in more than strayShare of the runs the program blocked for clearly less than in others, and
	// waited for a CPU for more than littleLate of the time.
	varies bool
	// bounded says that the bounds of the time follow from the CPU time that others used.
	bounded bool
	// interrupted says that the bounds of the time are far apart because of interrupts, and not of others.
	interrupted bool
	// aboveClock says that the interval of the runs chosen first lay above [conclusion.mostNs].
	aboveClock bool
	// spins bounds the share of the possible spinning time during which threads did spin.
	spins float64
	// outsideNs is the result of [conclusion.allowForOutside].
	outsideNs float64
	// neighbours is what programs on other CPUs may have added to the runs. unseen says that it is not known what these used.
	neighbours stats.Exposure
	unseen     bool
	// counted are the runs that count, and leftShared runs that do not because they shared a core. sharing tells
	// what that costs. sharedNs is what sharing a core may have cost a typical run that counts.
	counted    []*Run
	leftShared int
	sharing    env.Sharing
	sharedNs   float64
}

// niceness returns the niceness that the program was given; 0 if it was given none.
func (c *conclusion) niceness() int { return cmp.Or(c.Command.Nice, c.setting.Nice) }

// use collects the runs that count. The others give no figure, even if no run counts: a traced program takes longer.
func (c *conclusion) use() {
	for i := range c.Runs {
		if r := &c.Runs[i]; r.favoured == c.favoured && (r.favoured || !r.Rejected) {
			c.used = append(c.used, r)
		}
	}
	for _, r := range c.used {
		c.low, c.high = append(c.low, r.LowNs), append(c.high, r.HighNs)
	}
	c.reads = c.typical(func(r *Run) float64 { return float64(r.MajorFaults) })
}

// calm returns the indices of the runs in which nobody else can have delayed the program, and those of the others; nil
// if the calm runs are too few or do not agree with the others. In calm runs the program did what it does alone. Both
// groups have to agree, since others may also be busy because this program gave them work.
func (c *conclusion) calm() (calm, others []int) {
	for i, r := range c.used {
		if r.othersAtMostNs() <= passable(float64(r.WallNs)) {
			calm = append(calm, i)
		} else {
			others = append(others, i)
		}
	}
	if len(calm) < fewestCalm || len(calm) >= len(others) || !c.agree(calm, others) || !blockNoLonger(c.runs(others), c.runs(calm)) {
		return nil, nil
	}
	return calm, others
}

// runs returns the runs that count with the given indices.
func (c *conclusion) runs(which []int) (runs []*Run) {
	for _, i := range which {
		runs = append(runs, c.used[i])
	}
	return runs
}

// keep leaves out the runs that are not calm.
func (c *conclusion) keep(calm, others []int) {
	c.disturbedMoreNs = c.moreCPU(calm, others)
	c.keepOnly(calm)
}

// keepOnly leaves out all runs but those with the given indices.
func (c *conclusion) keepOnly(which []int) {
	used, low, high := c.used, c.low, c.high
	c.used, c.low, c.high = nil, nil, nil
	for _, i := range which {
		c.used, c.low, c.high = append(c.used, used[i]), append(c.low, low[i]), append(c.high, high[i])
	}
}

// fewestCalm is the least number of calm runs that replace all runs: the median of 12 runs of a pool of threads was
// off by 5 %.
const fewestCalm = 20

// blockNoLonger reports whether nearly all delayed runs blocked for no longer than the others. They may have blocked
// for less, since deadlines may have passed while they waited for a CPU.
func blockNoLonger(delayed, others []*Run) bool {
	most := 0.0
	for _, r := range others {
		most = math.Max(most, r.BlockedNs)
	}
	longer := 0
	for _, r := range delayed {
		if !(r.BlockedNs <= most+passable(float64(r.WallNs))) {
			longer++
		}
	}
	return float64(longer) <= strayShare*float64(len(delayed))
}

// allowForWaits lowers the lower bounds of runs for which the waits of woken threads are not known, if another run
// showed longer waits than these bounds allow for: others may have begun to compete with the program between the runs.
func (c *conclusion) allowForWaits(wokenNs float64) {
	for i, r := range c.used {
		c.low[i] = max(r.leastNs, r.calmNs, c.low[i]-math.Max(0, wokenNs-r.wokenAtMostNs))
	}
}

// each returns a figure of each run that counts.
func (c *conclusion) each(of func(*Run) float64) (all []float64) {
	for _, r := range c.used {
		all = append(all, of(r))
	}
	return all
}

// typical returns the median of a figure over the runs for which it is known; NaN if there are none.
func (c *conclusion) typical(of func(*Run) float64) float64 {
	return stats.Median(slices.DeleteFunc(c.each(of), math.IsNaN))
}

// median returns the median of values in any order, with an interval that holds for any distribution. If there are too
// few values for such an interval it is their range, which contains the true median less often.
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

// spread returns the distance between the 10th and the 90th percentile of values.
func spread(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return stats.Quantile(sorted, 0.9) - stats.Quantile(sorted, 0.1)
}

// estimate joins the bounds of the runs: the median of the runs' true times lies between the median of the lower bounds
// and the median of the upper ones. If the bounds of most runs lie far apart, it takes the runs that waited least.
func (c *conclusion) estimate() {
	chosen, moreNs := c.chosen()
	joined := widened(c.join(chosen), moreNs)
	if spins := c.spinsCutNs(); spins <= stats.WideShare*joined.Value {
		joined = widened(joined, spins)
	}
	e := c.hold(joined)
	e = widened(e, -c.coldNs())
	late := c.serversLateNs(e.Value)
	if late <= mostServersLate*e.Value {
		e = widened(widened(e, late), -late)
	}
	c.unpaired = late > 0 || c.sharedNs+c.typical(func(r *Run) float64 { return r.coldStartNs }) > c.plan.Precision*e.Value
	if c.favoured {
		drift := c.driftShare() * e.Value
		e = widened(widened(e, drift), -drift)
	}
	c.Estimate = widened(e, c.disturbedMoreNs) // after hold, since the runs left out may have longer wall times
}

// widened returns the estimate with its interval extended by moreNs: upwards if it is positive, else downwards.
func widened(e stats.Estimate, moreNs float64) stats.Estimate {
	e.Lo, e.Hi = math.Max(0, e.Lo+math.Min(0, moreNs)), e.Hi+math.Max(0, moreNs)
	return e
}

// join returns the estimate from the chosen runs.
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

// fewestChosen is the least number of runs that bound a median.
const fewestChosen = 6

// chosen returns the indices of the runs for the estimate. These are all runs, unless most runs waited and are known
// less well than the plan asks; then they are the quarter that waited least, if the others may have taken as long.
// Choosing by the bounds themselves would prefer one mode of a program that has several. A program with several threads
// may have tight bounds by chance, in a run that took another path, so all of its runs count. moreNs is the result of
// [conclusion.moreCPU] for the other runs.
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
// chance. If a program gives work to other processes in some of its modes, the other runs include runs of these modes,
// and the program's median run may be one of them.
func (c *conclusion) moreCPU(chosen, others []int) (ns float64) {
	used := func(which []int) stats.Estimate {
		var all []float64
		for _, i := range which {
			all = append(all, c.used[i].OwnCPUNs())
		}
		return median(all)
	}
	a, b := used(chosen), used(others)
	if b.Lo > a.Hi || b.Hi < a.Lo {
		return b.Value - a.Value
	}
	return 0
}

// agreeShare is the largest relative difference between runs of the same program that waited for different times.
const agreeShare = 0.1

// agree reports whether nearly all of the other runs may have taken as long, and used as much CPU time, as the chosen
// ones, and whether the median CPU time of the chosen runs is about that of all.
func (c *conclusion) agree(chosen, others []int) bool {
	least, most := math.Inf(1), 0.0
	var cpus []float64
	for _, i := range chosen {
		least, most = math.Min(least, c.low[i]), math.Max(most, c.high[i])
		cpus = append(cpus, c.used[i].OwnCPUNs())
	}
	leastCPU, mostCPU, usual := slices.Min(cpus), slices.Max(cpus), stats.Median(cpus)
	apart := func(low, high, least, most float64) bool {
		return high < (1-agreeShare)*least-passableNs || low > (1+agreeShare)*most+passableNs
	}
	if all := stats.Median(c.each((*Run).OwnCPUNs)); apart(all, all, usual, usual) {
		return false
	}
	differ := 0
	for _, i := range others {
		cpu := c.used[i].OwnCPUNs()
		if apart(c.low[i], c.high[i], least, most) || apart(cpu, cpu, leastCPU, mostCPU) {
			differ++
		}
	}
	return float64(differ) <= strayShare*float64(len(others))
}
