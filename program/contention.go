package program

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// allowForOutside lowers the lower bounds by the time for which others may have delayed something outside the program
// for which it waited, such as a server on the same machine. It returns that time if it is long, else 0. A long time is taken
// off only if the waits of all others are known, and if the program has one thread: several may have waited for one
// another.
func (c *conclusion) allowForOutside() (longNs float64) {
	usualNs := c.othersUsuallyNs()
	delay := func(r *Run) float64 {
		if r.outsideKnown {
			return r.outsideNs
		}
		return math.Min(r.outsideNs, r.serversDelayNs(usualNs))
	}
	if typical := c.typical(delay); typical > stats.WideShare*stats.Median(c.low) {
		longNs = typical
	}
	for i, r := range c.used {
		known := r.outsideKnown || r.Others.Known && r.traced.threads == 1
		if ns := delay(r); ns > 0 && (longNs == 0 || known) {
			c.low[i] = math.Min(c.low[i], max(r.leastNs, r.calmNs, c.low[i]-ns))
		}
	}
	return longNs
}

// judgeOutside lowers the verdict if others may have delayed something outside the program, for which it waited, for long.
func (c *conclusion) judgeOutside() {
	if c.outsideNs == 0 {
		return
	}
	seen, usualNs := "and whether others competed with that for the CPUs is not known", c.othersUsuallyNs()
	switch known := func(r *Run) bool { return r.outsideKnown }; {
	case slices.ContainsFunc(c.used, known):
		seen = fmt.Sprintf("which other programs may have delayed by %s in each run", stats.Duration(c.outsideNs, 3))
	case !math.IsInf(c.typical(func(r *Run) float64 { return r.serversDelayNs(usualNs) }), 1):
		seen = fmt.Sprintf("which competition for the CPUs may have delayed by %s in each run", stats.Duration(c.outsideNs, 3))
	}
	waited := c.typical(func(r *Run) float64 { return r.outsideNs })
	c.Lower(stats.Suspect, "it waited %s for something that is no part of it, such as a server on this machine, %s: %s tells", stats.Duration(waited, 3), seen, c.remedy())
}

// worksAlike bounds what a server does as a function of the time for which it is kept from a CPU: the slope, downwards,
// and the ratio of their spreads. One that works until some time does less, with a slope of -1, or stops with a time
// slice, so that its work varies as much as its waits.
const worksAlike = 0.5

// mattersAtServer is the share of the time for which a server has to be kept from a CPU to matter. Up to mostServersLate,
// the interval holds that a server did less or more meanwhile.
const mattersAtServer, mostServersLate = 0.01, 0.03

// serversLateNs returns how long servers that worked for the program were kept from CPUs in a typical run; 0 if that
// hardly matters for a program that takes aloneNs, or if the runs show that they did as much work however long that was:
// one that works until some time takes as long alone.
func (c *conclusion) serversLateNs(aloneNs float64) float64 {
	// While nobody else had a CPU, the program and its servers only waited for one another, as they do alone.
	var kept, worked []float64 // of runs of which tracepoints tell
	for _, r := range c.used {
		if r.traced.heldUpKnown {
			kept = append(kept, math.Min(r.traced.serversKeptNs, r.othersAtMostNs()))
			worked = append(worked, r.traced.workedForNs)
		}
	}
	typical := stats.Median(kept)
	if !(typical > mattersAtServer*aloneNs) {
		return 0
	}
	line, err := stats.TheilSen(kept, worked)
	if err != nil || !(line.Slope.Lo > -worksAlike) || spread(worked) > worksAlike*spread(kept) {
		return typical
	}
	return 0
}

// judgeServers lowers the verdict if servers that worked for the program were kept from CPUs for longer than the interval
// holds.
func (c *conclusion) judgeServers() {
	if ns := c.serversLateNs(c.Estimate.Value); ns > mostServersLate*c.Estimate.Value {
		c.Lower(stats.Suspect, "a server that worked for it was kept from a CPU for %s in each run, and may work until some time, so that it does less then: %s tells", stats.Duration(ns, 3), c.remedy())
	}
}

// serversDelayNs returns the most time by which competition for CPUs may have delayed a server on this machine during the
// run. It waits for a CPU no longer than others are seen to wait, and no longer than others have one. If not all processes
// were seen, that is usuallyNs.
func (r *Run) serversDelayNs(usuallyNs float64) float64 {
	if !r.Others.Known {
		return usuallyNs
	}
	return float64(min(r.Others.WaitNs, r.Others.CPUNs+r.BesideNs))
}

// othersUsuallyNs bounds the CPU time of others during the median run by /proc/stat: at least half of the runs have at most
// twice the mean. It includes the time between the runs. It is infinite if not known, or if /proc/stat does not include this process.
func (c *conclusion) othersUsuallyNs() float64 {
	var all neighbours
	wallNs := 0.0
	for i := range c.Runs {
		all, wallNs = all.plus(c.Runs[i].around), wallNs+float64(c.Runs[i].WallNs)
	}
	errorNs := machine.OthersErrorNs * math.Sqrt(float64(all.stretches))
	if all.stretches == 0 || !(all.othersNs >= -3*errorNs) {
		return math.Inf(1)
	}
	most := math.Max(0, all.othersNs+errorNs)
	return 2 * most * math.Max(1, wallNs/all.passedNs) / float64(len(c.Runs)) // the looks may not reach to the end
}

// outsideNs returns the longest time for which threads can have waited for something other than a sleep, a page fault
// with input, or the exit of another thread or process of the program. Sleeps and faults account for at most
// sleepsAndFaults blocks. Blocks too short to matter are left out.
func outsideNs(events []process.Event, sleepsAndFaults int, wallNs float64) (ns float64) {
	blocks := unjoined(events)
	slices.Sort(blocks)
	short := 0
	for sum := 0.0; short < len(blocks); short++ {
		if sum += blocks[short]; sum > passableShare*wallNs {
			break
		}
	}
	blocks = blocks[short:]
	for i := sleepsAndFaults; i < len(blocks); i++ { // it is not known which blocks were the sleeps, so the shortest are taken for them
		ns += blocks[i]
	}
	return ns
}

// unjoined returns the lengths of the blocks of a run that did not end with an exit in the same process, or with an
// exit or exec of a process that it started.
func unjoined(events []process.Event) (lengths []float64) {
	ends := endsOf(events)
	began := map[int]float64{}
	for _, e := range events {
		from, blocked := began[e.Thread]
		delete(began, e.Thread)
		switch at := float64(e.AtNs); {
		case e.Kind == process.Blocked:
			began[e.Thread] = at
		case blocked && at > 0 && e.Kind == process.SwitchedIn && !ends.within(e, from):
			lengths = append(lengths, at-math.Max(0, from))
		}
	}
	return lengths
}

// ends are the events within a program for which its threads can wait.
type ends struct {
	// awaited holds, for each process, the times of the events that its threads can wait for, in order: the exits of
	// its own threads, and the exits and execs in processes that it started. exits holds the time of each thread's
	// exit, by the thread's number.
	awaited map[int][]float64
	exits   map[int]float64
}

func endsOf(events []process.Event) ends {
	s := ends{map[int][]float64{}, map[int]float64{}}
	of, starter := map[int]int{}, map[int]int{}
	for _, e := range events {
		of[e.Thread] = e.Process
		at := float64(e.AtNs)
		switch p, known := of[e.Parent]; e.Kind {
		case process.Forked:
			if known {
				starter[e.Process] = p
			}
		case process.Exited:
			s.exits[e.Thread] = at
			s.awaited[e.Process] = append(s.awaited[e.Process], at)
			fallthrough
		case process.Executed:
			if p, known := starter[e.Process]; known && p != e.Process {
				s.awaited[p] = append(s.awaited[p], at)
			}
		}
	}
	return s
}

// within reports whether a block that began at from and ended with the switch e may have been a wait for one of the
// ends. A thread wakes the thread that joins it, or that reads its output, a little before its exit is noted. If the
// blocked thread itself exits at that time, the later exits may be a consequence of that.
func (s ends) within(e process.Event, from float64) bool {
	to := float64(e.AtNs)
	if !(s.exits[e.Thread]-to <= wakeLatencyNs) {
		to += wakeLatencyNs
	}
	awaited := s.awaited[e.Process]
	i, _ := slices.BinarySearch(awaited, from)
	return i < len(awaited) && awaited[i] <= to
}
