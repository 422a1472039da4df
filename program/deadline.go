package program

import (
	"math"
	"slices"

	"chronoscope/process"
	"chronoscope/stats"
)

// blocks returns the number of times that threads of the program gave up their CPUs.
func blocks(events []process.Event) (n int) {
	for _, e := range events {
		if e.Kind == process.Blocked && e.AtNs > 0 {
			n++
		}
	}
	return n
}

// threaded reports whether a process of the program has several threads.
func threaded(events []process.Event) bool {
	return slices.ContainsFunc(events, func(e process.Event) bool { return e.Kind == process.Forked && e.Thread != e.Process })
}

// mostProbes is the largest number of runs whose system calls are looked at.
const mostProbes = 2

// probe notes what a traced run shows: how often the program asks to wait until some time, and how often it blocks for
// something else. A second probe follows if the program does both, if it reads clocks, if some program opened a file
// that tells of waits, or if what the kernel noted of the first one is not complete. The smaller number of blocks
// counts, since a read from a disk blocks only the first time. If such a file was opened in both probes, and it is not
// known by which program, the measured one counts as the reader.
func (s *series) probe(run *Run, blocks int) {
	s.probes++
	s.busyTold = s.busyTold || run.BusyTold
	s.timedWaits, s.sleeps = max(s.timedWaits, run.TimedWaits), max(s.sleeps, int(run.SleepSwitches))
	s.looksAtClock = s.looksAtClock || run.worksByClock()
	s.looksAtCPUTime = s.looksAtCPUTime || run.worksByCPUTime()
	s.noteOpens = run.FilesToldPossibly && run.opensStopNs() <= mostStopsNs
	told := s.noteOpens || run.WaitingToldPossibly
	if run.Unnoted != nil || !run.noted {
		s.probed = run.Unnoted != nil || s.probes == mostProbes // the kernel's events may be complete the next time
		s.someUnnoted = true
		return
	}
	first := s.probes == 1 || s.someUnnoted
	s.someUnnoted = false
	others := max(0, blocks-run.Stops-int(run.TimedSwitches))
	if run.Unclocked == nil && !run.uncorrected() && !told {
		s.alone = append(s.alone, alone{run.traced.ranNs, run.Stops, run.ClockReads})
	}
	if first || others < s.otherWaits {
		s.otherWaits = others
	}
	again := s.timedWaits > 0 && others > 0 || s.looksAtClock || told
	s.probed = s.probes == mostProbes || !again
	s.looksAtClock = s.looksAtClock || s.probed && told && len(s.alone) == 0
}

// leastOpenNs is the least system time that it takes to open a file, openStopNs the longest time that a stop by the
// tracer then takes, and mostStopsNs the longest total of these stops.
const leastOpenNs, openStopNs, mostStopsNs = 1e3, 60e3, 3e9

// opensStopNs returns the longest time that the program can stand still if its tracer stops it at each file it opens.
func (r *Run) opensStopNs() float64 { return float64(r.SystemNs) / leastOpenNs * openStopNs }

// waits returns how often the program blocks if it asks to wait until some time, and 0 if it does not ask.
func (s *series) waits() int {
	if s.timedWaits == 0 {
		return 0
	}
	return s.timedWaits + s.otherWaits
}

// allowForDeadline sets late and unsleptNs of a run that may have passed a deadline. The program is known to block
// waits times, until some time or for something else. If it blocked less often in this run, or hardly at all, a time
// for which it wanted to wait may have passed before it began to wait, because the run was delayed. Alone the program
// would have slept, and would have reached each deadline earlier, so that the wall time of this run bounds its time
// alone. Programs with several threads in a process often ask for waits that never last, and have wide bounds anyway:
// for these only the verdict allows for it.
func (r *Run) allowForDeadline(waits, timedWaits, blocks int, threaded bool) {
	if !r.noted || waits == 0 || r.BlockedNs > passable(r.traced.wallNs) && blocks >= waits || r.knownInTime(timedWaits) {
		return
	}
	if !threaded {
		r.unsleptNs = r.traced.wallNs
	}
	r.late = r.waited()
}

// knownInTime reports whether the program certainly began each wait before its time had come: timers ended at least as
// many blocks as it asks for waits, or each of its calls was seen and gave up its CPU.
func (r *Run) knownInTime(timedWaits int) bool {
	t := r.traced
	if t.blocksKnown == 0 || t.blocksUnknown > 0 {
		return false
	}
	return len(t.timers) >= timedWaits || t.timedCalls >= timedWaits && t.timesPassed == 0
}

// passable returns the part of a time that is too short to have absorbed a wait.
func passable(ns float64) float64 { return math.Max(passableNs, passableShare*ns) }

// waitedNs returns the time for which others kept the program from CPUs.
func (r *Run) waitedNs() float64 {
	waited := r.traced.deficientNs
	if r.traced.threads <= 1 { // several threads also wait for one another's CPUs
		waited = math.Max(waited, known(r.RunqueueWaitNs))
	}
	return math.Min(waited, r.othersAtMostNs())
}

// waitedShare is the share of a run above which its waits for a CPU matter.
const waitedShare = 0.01

// waited reports whether the run waited for a CPU for long enough to matter.
func (r *Run) waited() bool {
	return r.waitedNs() > math.Max(passableNs, waitedShare*float64(r.WallNs))
}

// mostlyWaited reports whether most runs that count waited for a CPU.
func (c *conclusion) mostlyWaited() bool { return c.most((*Run).waited) }

// mostlyLate reports whether most runs that count may have passed a deadline.
func (c *conclusion) mostlyLate() bool { return c.most(func(r *Run) bool { return r.late }) }

// most reports whether something is true of most runs that count.
func (c *conclusion) most(is func(*Run) bool) bool {
	n := 0
	for _, r := range c.used {
		if is(r) {
			n++
		}
	}
	return 2*n > len(c.used)
}

// allowForDeadlines raises the upper bounds of runs that waited for a CPU and slept for less than others: a deadline
// may have passed during the wait, so that alone they may take as long as the runs that slept. A run that did not wait
// for a CPU slept less for another reason.
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
	long := slept[len(slept)-1-len(slept)/50] // one run in fifty may be unusual
	for _, r := range c.used {
		if r.BlockedNs >= long/2 {
			ends = append(ends, r.HighNs)
		}
	}
	end, shorter := stats.Median(ends), 0
	for i, r := range c.used {
		matters := math.Max(passableNs, passableShare*float64(r.WallNs))
		if r.waited() && r.BlockedNs < sleptAlike*long && long-r.BlockedNs > matters && end-c.high[i] > matters {
			c.high[i] = end
			if r.waitedNs() > littleLate*float64(r.WallNs) {
				shorter++
			}
		}
	}
	c.varies = float64(shorter) > strayShare*float64(len(c.used))
}

// allowForLateness raises the upper bounds to the wall time if most runs had to wait and may have passed deadlines to
// which the program would have slept alone. Alone it reaches each deadline earlier, and so takes no longer than the
// wall time.
func (c *conclusion) allowForLateness() {
	if !c.mostlyLate() {
		return
	}
	for i, r := range c.used {
		c.high[i] = math.Max(c.high[i], float64(r.WallNs))
	}
}

// readMore reports whether a run waited for a disk more often than a typical one; such a wait is no sleep.
func (c *conclusion) readMore(r *Run) bool { return float64(r.MajorFaults) > c.reads }

// strayShare is the share of the runs that may be unusual, which hardly moves a median. For example, a wait before the
// exec, which the kernel counts as the program's, makes a sleep look shorter.
const strayShare = 0.1

// sleptAlike is the least share of the longest sleep that counts as equally long.
const sleptAlike = 0.9

// ruleOutDeadline lowers the upper bounds of a program of one thread whose sleeps have no deadline. A sleep to a
// deadline is shorter by the time for which the program was kept from its CPU before it. If sleeps last equally long in
// all runs although these waits differ, they do not depend on the waits, and all of the wait is subtracted. The program
// has to sleep as often as it asks to, and to block as often as it is known to, since it does neither at a deadline
// that has passed. Two uncertainties remain, and keep the bounds apart. First, if the end of a run was seen late, a
// wait for a CPU may lie at the end and not after a wake-up. Second, on a machine of its own the CPU would be idle
// during each sleep and would take time to wake up; in runs beside other programs it was not idle. The bounds of runs
// that waited for a disk stay as they are.
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
	// Any one of the sleeps may have a deadline, and lose its part of the waits before it.
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

// sleepsWithin returns how long the program slept, and how long it had been kept from CPUs before, in the runs for
// which the sleep is known within ns. If the end of a run was seen late, the sleep is known less well.
func (c *conclusion) sleepsWithin(ns float64) (slept, kept []float64) {
	for _, r := range c.used {
		if t := r.traced; t.leaderWake.highNs-t.leaderWake.lowNs <= ns && !c.readMore(r) {
			slept, kept = append(slept, t.idleNs-t.leaderWake.highNs), append(kept, t.keptBeforeNs)
		}
	}
	return slept, kept
}

// alikeShare limits the spread of sleeps divided by the spread that deadlines would cause. Up to it, sleeps count as
// independent of the waits before them. Sleeps differ a little in any case, since they end at the kernel's timers and
// begin a little earlier or later.
const alikeShare = 0.1
