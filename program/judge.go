package program

import (
	"fmt"
	"math"
	"strings"
	"time"

	"chronoscope/process"
	"chronoscope/remedy"
	"chronoscope/stats"
)

// judge sets the verdict on the estimate.
func (c *conclusion) judge() {
	if c.Failure != nil {
		c.Lower(stats.Unusable, "it failed: %s%s", *howFailed(c.Failure), afterFailure(c.Failure))
	}
	if len(c.used) == 0 {
		switch {
		case c.Failure != nil:
		case c.series.starved != nil:
			c.Lower(stats.Unusable, "no run that counts was completed: %v", c.series.starved)
		case len(c.Runs) > 0:
			c.Lower(stats.Unusable, "none of its %d runs counts (%s): give it more time", len(c.Runs), strings.Join(c.Runs[0].Why, "; "))
		default:
			c.Lower(stats.Unusable, "it was not run")
		}
		return
	}
	c.judgeSources()
	c.judgeWaits()
	c.judgeOutside()
	c.judgeServers()
	c.judgeNeighbours()
	c.judgeDisks()
	c.judgeSharing()
	if n := len(c.used); n < fewestChosen {
		c.Lower(stats.Suspect, "%d runs are not enough for a 95 %% interval, %d are needed: %s", n, fewestChosen, c.moreRuns())
	}
	if failed := failures(c.used); failed > 0 && c.Failure == nil {
		c.Lower(stats.Suspect, failuresCount, failed, len(c.used))
	}
	switch width := c.Estimate.RelativeHalfWidth(); {
	case c.RefuseZero():
	case c.Method == Bounds && !(width <= stats.UselessShare):
		c.Lower(stats.Unusable, "it takes %s, and no more is known: %s narrows that", c.Estimate.Range(), c.remedy())
	case c.Method == Bounds && !c.bounded && c.interrupted:
		c.Lower(stats.Suspect, "the interval reaches from all of the interrupts taken off to none of them: CPUs that are interrupted less often narrow it")
	case c.Method == Bounds && !c.bounded:
		c.Lower(stats.Suspect, "the interval reaches from all of that delay taken off to none of it: %s narrows it", c.remedy())
	case !(width <= stats.UselessShare):
		c.Lower(stats.Unusable, "its runs differ too much: from %s: see whether its input or caches change between runs (%s, %s)", c.Estimate.Range(), remedy.Of(remedy.Warmup), remedy.Of(remedy.Prepare))
	case width > math.Max(stats.WideShare, c.plan.Precision):
		c.Lower(stats.Suspect, "± %.2g %%, asked ± %.2g %%: %s", 100*width, 100*c.plan.Precision, c.narrower())
	case width > c.plan.Precision: // less precise than asked for, but no less true
		c.Explanation += fmt.Sprintf("; ± %.2g %%, asked ± %.2g %%: %s", 100*width, 100*c.plan.Precision, c.narrower())
	}
}

// RefuseZero makes an estimate of 0 or less unknown, and reports whether it did. Every program takes some time: if all
// of the time may have been waits for others, the time alone is not known.
func (r *Result) RefuseZero() bool {
	if !(r.Estimate.Value <= 0) {
		return false
	}
	r.Lower(stats.Unusable, "how long it takes alone is not known: it took %s by the clock, and all of that may have been waits for others", stats.Duration(r.Wall.Value, 3))
	refused := unknown()
	refused.Statistic, refused.N, refused.Discarded = r.Estimate.Statistic, r.Estimate.N, r.Estimate.Discarded
	r.Estimate = refused
	return true
}

// narrower says what narrows the interval: more runs, by raising the limit that ended them, or less noise.
func (c *conclusion) narrower() string {
	if len(c.used) >= c.plan.MaxRuns {
		return "give more " + remedy.Of(c.plan.runs()) + ", or use a calmer machine"
	}
	return "give more " + remedy.Of(remedy.MaxTime) + ", or use a calmer machine"
}

// moreRuns says how to get enough runs. The first run is traced and does not count.
func (c *conclusion) moreRuns() string {
	if c.plan.MaxRuns < fewestChosen {
		return "allow more with " + remedy.Of(c.plan.runs())
	}
	var spentNs float64
	for _, r := range c.Runs {
		spentNs += float64(r.WallNs) / float64(len(c.Runs))
	}
	needed := time.Duration(math.Ceil(float64(fewestChosen+1)*spentNs/float64(time.Minute))) * time.Minute
	if time.Duration(float64(fewestChosen+1)*spentNs) <= c.plan.MaxTime {
		return "allow more with " + remedy.Of(remedy.MaxTime) // its runs were rejected, or the measurement was interrupted
	}
	return "give them their time, " + remedy.Of(remedy.MaxTime, needed)
}

// remedy says what keeps others from delaying the program, or what tells by how much they did.
func (c *conclusion) remedy() string {
	if c.most(func(r *Run) bool { return r.WaitOf == process.NoThread }) {
		return "a kernel that tells how long threads wait for a CPU (Linux after sysctl kernel.task_delayacct=1, and not that of gVisor)"
	}
	help := fmt.Sprintf("a calmer machine, a CPU of its own (%s), or, as root, %s", remedy.Of(remedy.CPUs), remedy.Of(remedy.Nice, -20))
	if c.niceness() < 0 {
		help = fmt.Sprintf("a calmer machine, or a CPU of its own (%s),", remedy.Of(remedy.CPUs))
	}
	if by := interpreter(c.Command.Path); by != "" {
		return fmt.Sprintf("to name the program that it starts, since it is a script for %s, or %s", by, help)
	}
	return help
}

// judgeSources lowers the verdict for what the kernel did not tell, and for CPU quotas that were used up.
func (c *conclusion) judgeSources() {
	if !c.Noise.Known() {
		c.Lower(stats.Suspect, "what interrupts the CPUs is not known, and was not taken off")
	}
	unnoted, lost, throttled := 0, 0, 0
	var why error
	for _, r := range c.used {
		switch {
		case r.LostEvents > 0:
			lost++
		case !r.noted:
			unnoted, why = unnoted+1, r.Unwatched
		}
		if r.throttled {
			throttled++
		}
	}
	if c.series.starved != nil {
		c.Lower(stats.Suspect, "one more run was not completed: %v", c.series.starved)
	}
	if lost > 0 {
		c.Lower(stats.Suspect, "it switches so often that the kernel could not note all of it in %d of %d runs: its time is bounded by the kernel's accounts alone", lost, len(c.used))
	}
	if float64(unnoted) > strayShare*float64(len(c.used)) {
		c.Lower(stats.Suspect, "when it ran and when it waited was not noted (%s): its time is bounded by the kernel's accounts alone%s", reason(why), c.unknownWait())
	}
	if throttled > 0 {
		c.Lower(stats.Suspect, "its CPU quota was used up in %d of %d runs, which stopped it: raise the limit of its control group (cpu.max)", throttled, len(c.used))
	}
	if c.aboveClock {
		c.Lower(stats.Suspect, "the runs in which it waited least for a CPU took longer than others did by the clock, so that all count: it waits for something that takes longer in some of them")
	}
	if n := c.contradicting(); float64(n) > strayShare*float64(len(c.used)) {
		c.Lower(stats.Suspect, "in %d of %d runs it took less than its CPU time allows: something of it was not seen", n, len(c.used))
	}
	if n := c.mayHaveSpun(); n > len(c.used)/2 {
		c.Lower(stats.Suspect, "threads or processes of it ran while others of them were kept from a CPU in %d of %d runs: where they spin when they wait for those, that is in its time: %s tells", n, len(c.used), c.remedy())
	}
}

// judgeWaits lowers the verdict if waits for a CPU may have changed what the program did: alone it would have slept, or
// computed for longer.
func (c *conclusion) judgeWaits() {
	if c.mostlyLate() && c.Method == Bounds && !c.bounded { // otherwise the interval includes what it may have slept
		c.Lower(stats.Suspect, "it asks to sleep until some time, and had to wait for a CPU in most runs: a deadline may have passed that it would have slept to alone, so that it may take longer than its runs show: %s tells", c.remedy())
	}
	if c.varies {
		c.Lower(stats.Suspect, "it sleeps in some runs and not in others: where it had to wait, deadlines may have passed that it would have slept to")
	}
	if kept := c.typical(func(r *Run) float64 { return r.traced.deficientNs }); c.matters(kept) {
		if c.series.otherPolicy {
			c.Lower(stats.Suspect, "a thread of it has a scheduling policy of its own, under which the kernel may stop it while nobody else wants the CPU: that is taken for the doing of others")
		}
		if c.series.otherLimit {
			c.Lower(stats.Suspect, "a thread of it moves into a control group with a CPU limit, which may stop it while nobody else wants the CPU: that is taken for the doing of others: raise the limit of that group (cpu.max)")
		}
	}
	if c.spinsCutNs() > stats.WideShare*c.Estimate.Value {
		c.Lower(stats.Suspect, "other programs took the CPU %.3g times a run from a thread or process for which others of it waited: if that one waits for those by spinning, it spins longer alone: %s tells", c.typical((*Run).displaced), c.remedy())
	}
	if c.series.busyTold {
		c.Lower(stats.Suspect, "it reads a file that tells how busy the machine is, such as /proc/loadavg: threads of this command are in that, too")
	}
	switch {
	case !c.mostlyWaited():
	case c.series.someUnnoted:
		c.Lower(stats.Suspect, "it had to wait for a CPU, and whether it asks to sleep until some time is not known: a deadline may have passed that it would have slept to alone: %s tells", c.remedy())
	case c.mayLeaveOut():
		c.Lower(stats.Suspect, "it had to wait for a CPU, and looks at a clock, at how often it was preempted, or at a file that tells what it waited, while it works, or may do so unseen: it may do less where it is late: %s tells", c.remedy())
	case c.addedNs() > 0:
		c.Lower(stats.Suspect, "it had to wait for a CPU, looks at a clock, and uses less CPU time where the clock hides what it waited: it does more where it is late: %s tells", c.remedy())
	default:
		c.judgeWork()
	}
}

// matters reports whether this time may change the estimate by more than the precision asked for.
func (c *conclusion) matters(ns float64) bool {
	return ns > math.Min(c.plan.Precision, stats.WideShare)*c.Estimate.Value
}

// judgeWork lowers the verdict if the program did less or more work because it waited. It may have known of the wait
// from a clock, from a file of /proc, or from other programs.
func (c *conclusion) judgeWork() {
	less, more := c.workFollowsWaits()
	lessContended, moreContended := c.workContended()
	switch {
	case less || lessContended:
		c.Lower(stats.Suspect, "it uses less CPU time the longer it waits for a CPU, as programs do that look at a clock: alone it may take longer: %s tells", c.remedy())
	case more || moreContended:
		c.Lower(stats.Suspect, "it uses more CPU time the longer it waits for a CPU, as programs do that make up for what they missed: alone it may take less: %s tells", c.remedy())
	}
}

// clearlyLess and clearlyMore are the least decrease and increase of CPU time with waiting, as shares of the result,
// that count as less and more work. Waiting itself makes work take longer, since others displace its data in the
// caches.
const clearlyLess, clearlyMore = 0.03, 0.15

// workFollowsWaits reports whether CPU time falls or rises with waiting (Theil and Sen), by enough to change
// the time alone clearly. CPU time is that of the kernel's events, since its accounts also hold what was before the
// exec and after the exit.
func (c *conclusion) workFollowsWaits() (less, more bool) {
	waits := c.each(func(r *Run) float64 { return r.traced.deficientNs })
	ran := c.each(func(r *Run) float64 { return r.traced.ranNs })
	line, err := stats.TheilSen(waits, ran)
	if err != nil {
		return false, false
	}
	by := line.Slope.Scaled(stats.Median(waits)/c.Estimate.Value, "")
	more = by.Lo > 0 && by.Value > clearlyMore && !c.refutes(line.Slope.Value, waits, ran)
	return by.Hi < 0 && by.Value < -clearlyLess, more
}

func reason(err error) string {
	if err == nil {
		return "not asked for"
	}
	return err.Error()
}

// unknownWait says if the run-queue wait is missing from the kernel's accounts, too.
func (c *conclusion) unknownWait() string {
	for _, r := range c.used {
		if r.WaitOf == process.NoThread {
			return "; how long it waited for a CPU is not known at all"
		}
	}
	return ""
}

// outlierDeviations, in scaled median absolute deviations, and outlierShare, of the median, are the least distances of
// an outlier from the median.
const outlierDeviations, outlierShare = 5, 0.05

// outliers returns the runs that are apart from the others, with the known causes.
func (c *conclusion) outliers() (all []Outlier) {
	times := c.each((*Run).TimeNs)
	middle, spread := stats.Median(times), madScale*stats.MAD(times)
	usual := stats.Each(signs, func(s sign) float64 { return c.typical(s.of) })
	usualHz := c.typical(func(r *Run) float64 { return r.CoreHz })
	for i := range c.Runs {
		r := &c.Runs[i]
		off := math.Abs(r.TimeNs() - middle)
		if r.Rejected || off <= outlierDeviations*spread || off <= outlierShare*middle {
			continue
		}
		causes := []string{}
		if i == 0 {
			causes = append(causes, "first run")
		}
		for k, s := range signs {
			if v := s.of(r); v > s.factor*usual[k] && v-usual[k] >= s.least+s.leastShare*r.TimeNs() {
				causes = append(causes, fmt.Sprintf(s.told, v/s.unit, usual[k]/s.unit))
			}
		}
		if c.leftShared > 0 && r.sharedCore() {
			causes = append(causes, "something shared its core")
		}
		if r.CoreHz < 0.95*usualHz {
			causes = append(causes, fmt.Sprintf("the core ran at %.3g GHz, usually %.3g", r.CoreHz/1e9, usualHz/1e9))
		}
		all = append(all, Outlier{Run: i, Causes: causes})
	}
	return all
}

// A sign of a disturbance is a figure of a run. It sets the run apart if it is more than factor times the usual one, and
// exceeds that by at least the sum of least and leastShare of the run's time.
type sign struct {
	of                        func(*Run) float64
	factor, least, leastShare float64
	told                      string
	unit                      float64
}

var signs = []sign{
	{func(r *Run) float64 { return float64(r.MajorFaults) }, 1, 1, 0, "page faults with input: %.0f, usually %.0f", 1},
	{func(r *Run) float64 { return float64(r.MinorFaults) }, 1.2, 100, 0, "page faults: %.0f, usually %.0f", 1},
	{func(r *Run) float64 { return float64(r.InvoluntarySwitches) }, 2, 2, 0, "preempted: %.0f times, usually %.0f", 1},
	{func(r *Run) float64 { return r.BlockedNs }, 1.05, 0, 0.05, "blocked for %.3g ms, usually %.3g", 1e6},
	{func(r *Run) float64 { return r.StealNs }, 1, 10e6, 0, "stolen by the host: %.0f ms, usually %.0f", 1e6},
}
