package program

import (
	"math"
	"slices"

	"chronoscope/process"
)

// blocks are how often threads of the program gave up their CPUs.
func blocks(events []process.Event) (n int) {
	for _, e := range events {
		if e.Kind == process.Blocked && e.AtNs > 0 {
			n++
		}
	}
	return n
}

// threaded tells whether a process of the program has several threads.
func threaded(events []process.Event) bool {
	return slices.ContainsFunc(events, func(e process.Event) bool { return e.Kind == process.Forked && e.Thread != e.Process })
}

// mostProbes are the runs at most whose system calls are looked at.
const mostProbes = 2

// probe takes what such a run tells: how often the program asks to wait until some time, and how
// often it blocked for something else. Where it did both, or looked at clocks, there is another one,
// and the fewer blocks count: what is read from a disk is waited for the first time only. Where somebody opened a
// file that tells of waiting, and stops at all files would take too long, there is another one, too: in both, it is taken
// for the program.
func (s *series) probe(run *Run, blocks int) {
	s.probes++
	s.timedWaits, s.sleeps = max(s.timedWaits, run.TimedWaits), max(s.sleeps, int(run.SleepSwitches))
	s.looksAtClock = s.looksAtClock || run.worksByClock()
	s.noteOpens = run.FilesToldPossibly && run.opensStopNs() <= mostStopsNs
	told := s.noteOpens || run.WaitingToldPossibly
	if run.Unnoted != nil || !run.noted {
		s.someUnnoted, s.probed = true, true
		return
	}
	others := max(0, blocks-run.Stops-int(run.TimedSwitches))
	if run.Unclocked == nil && !run.uncorrected() && !told {
		s.alone = append(s.alone, alone{run.traced.ranNs, run.Stops, run.ClockReads})
	}
	if s.probes == 1 || others < s.otherWaits {
		s.otherWaits = others
	}
	again := s.timedWaits > 0 && others > 0 || s.looksAtClock || told
	s.probed = s.probes == mostProbes || !again
	s.looksAtClock = s.looksAtClock || s.probed && told && len(s.alone) == 0
}

// A file takes leastOpenNs of system time at least to be opened, and openStopNs at most where the tracer stops
// the program there. That may take mostStopsNs.
const leastOpenNs, openStopNs, mostStopsNs = 1e3, 60e3, 3e9

// opensStopNs is how long the program may at most stand still where its tracer stops it at each file that it opens.
func (r *Run) opensStopNs() float64 { return float64(r.SystemNs) / leastOpenNs * openStopNs }

// waits are how often the program blocks, where it asks to wait until some time; 0 where it
// does not.
func (s *series) waits() int {
	if s.timedWaits == 0 {
		return 0
	}
	return s.timedWaits + s.otherWaits
}

// allowForDeadline takes a program that is known to wait so often, until some time or for
// something else, and that blocked less often in this run, or for no time worth the name.
// Then a wait until some time may have been over before it began, or nearly, for what
// disturbed the run: alone the program would have slept. It would have come to each deadline
// earlier, so that the run as it was bounds its time. Programs with several threads in a
// process often ask for waits that never last, and have bounds that are wide as it is: for
// them the verdict says it.
func (r *Run) allowForDeadline(waits, timedWaits, blocks int, threaded bool) {
	if !r.noted || waits == 0 || r.BlockedNs > passable(r.traced.wallNs) && blocks >= waits || r.knownInTime(timedWaits) {
		return
	}
	if !threaded {
		r.unsleptNs = r.traced.wallNs
	}
	r.late = r.waited()
}

// knownInTime tells whether it is known that no time had come before the program began to wait for it: timers
// ended as many blocks as it asks for, or each of its calls was seen and gave up its CPU.
func (r *Run) knownInTime(timedWaits int) bool {
	t := r.traced
	if t.blocksKnown == 0 || t.blocksUnknown > 0 {
		return false
	}
	return len(t.timers) >= timedWaits || t.timedCalls >= timedWaits && t.timesPassed == 0
}

// passable is the part of a time that is too short to have absorbed a wait.
func passable(ns float64) float64 { return math.Max(passableNs, passableShare*ns) }

// waitedNs is the time for which others kept the program from CPUs.
func (r *Run) waitedNs() float64 {
	waited := r.traced.deficientNs
	if r.traced.threads <= 1 { // threads also wait for one another's CPUs
		waited = math.Max(waited, known(r.RunqueueWaitNs))
	}
	return math.Min(waited, r.othersAtMostNs())
}

// waitedShare is the share of a run that its waits for a CPU have to exceed to matter: less changes
// the time of a program that looks at the clock by less than that.
const waitedShare = 0.01

// waited reports whether the run waited for a CPU for long enough to matter.
func (r *Run) waited() bool {
	return r.waitedNs() > math.Max(passableNs, waitedShare*float64(r.WallNs))
}

// mostlyWaited tells whether most runs that count had to wait.
func (c *conclusion) mostlyWaited() bool { return c.most((*Run).waited) }

// mostlyLate tells whether most runs that count may have passed a deadline.
func (c *conclusion) mostlyLate() bool { return c.most(func(r *Run) bool { return r.late }) }

// most tells whether something is true of most runs that count.
func (c *conclusion) most(is func(*Run) bool) bool {
	n := 0
	for _, r := range c.used {
		if is(r) {
			n++
		}
	}
	return 2*n > len(c.used)
}
