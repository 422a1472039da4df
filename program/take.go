package program

import (
	"context"
	"math"
)

// callsApart is the factor by which the recorder may delay a run's system calls for longer than was measured: their
// code may not be in the caches, and there may be more of them than in the traced run.
const callsApart = 1.5

// take bounds a run by what this run and earlier ones show, and notes what it shows for later runs.
func (s *series) take(ctx context.Context, run *Run, cpus int) {
	if run.Continued > 0 {
		run.stopped()
		s.stopped++
		return
	}
	others := math.Inf(1)
	if s.sentinels > 0 {
		others = sentinelMargin * s.wokenNs
	}
	run.traced, run.noted = follow(ctx, &run.Run, cpus, others, run.wakeups)
	s.calls = max(s.calls, run.Calls)
	run.traced.recordedNs += callsApart * run.eachCallNs * float64(s.calls)
	run.traced.recordedNs += run.InheritNs * float64(max(0, run.traced.threads-1))
	run.startKeptNs += run.traced.startKeptNs
	run.waitedSinceExec()
	run.wakeups = wakeupEvents{} // what they show is kept in traced
	run.wokenAtMostNs = others
	if !run.noted || run.traced.othersKnown {
		run.wokenAtMostNs = math.Inf(1)
	}
	s.command.lastNs = run.WallNs
	events := run.Events
	blocked, threaded := blocks(events), threaded(events)
	run.Events = nil // what they show is kept
	if run.Untraced == nil {
		run.Rejected = true
		run.Why = append(run.Why, "it was traced, to see its memory and all of its threads, which takes time")
	}
	if run.LostEvents > 0 && run.InheritNs == 0 { // later runs are noted by themselves
		run.Rejected = true
		run.Why = append(run.Why, "other programs switched so often that what the kernel noted of it was lost")
	}
	if !s.probed {
		s.probe(run, blocked)
	}
	switch t := run.traced; {
	case !run.noted:
		run.outsideNs = math.NaN()
	case t.blocksKnown > 0 && t.blocksUnknown == 0:
		run.outsideNs, run.outsideKnown = t.awaitedOthersNs+t.polledNs, true
	default:
		run.outsideNs = outsideNs(events, s.sleeps+int(run.MajorFaults), t.wallNs)
	}
	s.otherPolicy, s.otherLimit = s.otherPolicy || run.OtherPolicy, s.otherLimit || run.OtherLimit
	s.peak, s.peakOfAll = max(s.peak, run.MaxRSSBytes), max(s.peakOfAll, run.AllRSSBytes)
	s.several = s.several || run.traced.threads > 1
	if t := run.traced; run.noted && t.threads > 1 && t.othersKnown && !t.heldUpKnown { // tracepoints leave no such wait
		s.wokenNs = math.Max(s.wokenNs, t.othersWake.highNs)
		s.sentinels++
	}
	run.bound(cpus)
	run.diskNs = s.diskNs(run, events)
	s.recordings.add(run)
	run.elsewhere = run.othersElsewhere(cpus)
	run.allowForDeadline(s.waits(), s.timedWaits, blocked, threaded)
	s.yields = max(s.yields, run.Yields)
	run.yields = s.yields
	if run.blocks = blocked; !s.someUnnoted {
		run.timedWaits, run.waits = s.timedWaits, s.waits()
	}
}
