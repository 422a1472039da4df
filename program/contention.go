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
// for which it waited, such as a server on the same machine. If that time is long, it returns the time, for the verdict,
// and changes nothing if it is not known at all for how long others delayed anything.
func (c *conclusion) allowForOutside() (leftNs float64) {
	most := c.delayedNs()
	delay := func(r *Run) float64 {
		if r.outsideKnown {
			return r.outsideNs
		}
		return math.Min(r.outsideNs, most)
	}
	if typical := c.typical(delay); typical > stats.WideShare*stats.Median(c.low) {
		leftNs = typical
	}
	for i, r := range c.used {
		if ns := delay(r); ns > 0 && (leftNs == 0 || r.outsideKnown || !math.IsInf(most, 1)) {
			c.low[i] = max(r.leastNs, r.calmNs, c.low[i]-ns)
		}
	}
	return leftNs
}

// judgeOutside lowers the verdict if others may have delayed something outside the program, for which it waited, for
// longer than the interval allows for.
func (c *conclusion) judgeOutside() {
	if !c.matters(c.outsideNs) {
		return
	}
	seen := "and whether others competed with that for the CPUs is not known"
	switch known := func(r *Run) bool { return r.outsideKnown }; {
	case slices.ContainsFunc(c.used, known):
		seen = fmt.Sprintf("which other programs may have delayed by %s in each run", stats.Duration(c.outsideNs, 3))
	case !math.IsInf(c.delayedNs(), 1):
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

// delayedNs returns the most time in each run by which competition for CPUs may have delayed other programs, for which
// the program may wait. A server on this machine waits for a CPU no longer than threads are seen to wait, and no longer
// than others run. The result is infinite if neither is known.
func (c *conclusion) delayedNs() float64 {
	var all machine.Contention
	for i := range c.Runs {
		all = all.Plus(c.Runs[i].Contention)
	}
	most := c.typical(func(r *Run) float64 { return r.othersWaitedNs() })
	if math.IsNaN(most) {
		most = math.Inf(1)
	}
	for _, ns := range []float64{all.WaitedAtMostNs(c.setting.CPUs), all.OthersAtMostNs()} {
		if !math.IsNaN(ns) {
			most = math.Min(most, ns/float64(len(c.Runs)))
		}
	}
	return most
}

// othersWaitedNs returns the time for which other processes waited for a CPU during the run, limited by the time for
// which others had one; NaN if unknown.
func (r *Run) othersWaitedNs() float64 {
	if !r.Others.Known {
		return math.NaN()
	}
	return float64(min(r.Others.WaitNs, r.Others.CPUNs+r.BesideNs))
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
