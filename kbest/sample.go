package kbest

import (
	"math"

	"chronoscope/machine"
)

// Sample is one trial: N calls between two readings of the clock, and what happened meanwhile.
type Sample struct {
	// N is the number of calls, which took WallNs nanoseconds of the clock, its own cost included.
	N      int
	WallNs float64
	// Use has the kernel's counts from just before the trial to just after it.
	Use machine.ThreadUse
	// Counted is the number of core cycles by a hardware counter, those of reading the clock included; 0 if
	// there is none.
	Counted int64
	// CoreHzBefore and CoreHzAfter are the core's rate just before and just after the trial; NaN if unknown.
	CoreHzBefore, CoreHzAfter float64
	// SlowedBefore and SlowedAfter are the shares by which independent instructions took longer,
	// just before and just after the trial, than on a core that nothing shares; NaN if unknown.
	SlowedBefore, SlowedAfter float64
	// Collections is the number of garbage collections that began or ended during the trial.
	Collections int64
	// Allocated is the number of bytes that were allocated during the trial. Of [Calls] only their mean is known, and this is 0,
	// unless something is done between the calls.
	Allocated int64
	// Migrated says that the trial ended on another CPU.
	Migrated bool

	// RunNs is the time of the trial without known interruptions.
	RunNs float64
	// Corrected is the reason for which time was subtracted, Rejected that for which the sample was left out;
	// both are empty for an undisturbed sample.
	Corrected, Rejected Reason

	burst, window int // numbers of the burst and of the window of the sample
	setUp         setUp
}

// Reason says what happened to a sample.
type Reason string

// The reasons for which samples are corrected and rejected.
const (
	// Preempted: another thread had the CPU. Corrected by the CPU time.
	Preempted Reason = "preempted"
	// Away: by its CPU time, the thread neither ran nor waited. A hypervisor had the CPU, or the group was
	// throttled. Corrected by the CPU time.
	Away Reason = "stolen-or-throttled"
	// Stopped: the thread gave up its CPU for a while, not because of the subject: to a signal, or to the Go
	// scheduler, which takes its turn about every 10 ms. Corrected by the CPU time.
	Stopped Reason = "stopped"
	// Migrated: the trial ended on another CPU. Rejected.
	Migrated Reason = "migrated"
	// Collected: the garbage collector ran. Rejected.
	Collected Reason = "garbage-collection"
	// MajorFault: a page had to be read in. Rejected.
	MajorFault Reason = "major-page-fault"
	// CoreSpeed: the core ran at another rate than the reference. Rejected.
	CoreSpeed Reason = "core-speed"
	// Shared: something else ran on the same core, which slows this subject. Rejected.
	Shared Reason = "shared-core"
	// Unclear: the kernel's counters contradict one another, or the clock went
	// back. Rejected.
	Unclear Reason = "unclear-wait"
)

// switches returns how many times the thread was taken off its CPU.
func (x *Sample) switches() int64 { return x.Use.VoluntarySwitches + x.Use.InvoluntarySwitches }

// spentNs returns about how long the subject took, whatever happened to it: without its waits for a CPU, but
// including its sleep.
func (x *Sample) spentNs() float64 {
	return math.Max(x.WallNs-float64(x.Use.WaitNs), math.Min(x.WallNs, float64(x.Use.CPUNs)))
}

// isImpossible reports whether the clock, or a count of the kernel, went back during the sample.
func (x *Sample) isImpossible() bool { return x.WallNs < 0 || x.Use.CPUNs < 0 || x.Use.WaitNs < 0 }

// take makes one trial of n calls. The timed region holds the work only; around it nothing is allocated.
func (s *Station) take(subject *Subject, n int) (x Sample) {
	if s.Settle != nil {
		s.Settle()
	}
	if subject.Before != nil {
		subject.Before()
	}
	if subject.Setup != nil {
		x.setUp = s.setUp(subject, n)
	}
	x.N = n
	x.CoreHzBefore, x.SlowedBefore = ask(s.CoreHz, nan), ask(s.Slowed, nan)
	collections, allocated := ask(s.Collections, 0), ask(s.Allocated, 0)
	before := s.look()
	counted := ask(s.Counted, 0)
	start := s.Clock.Start()
	subject.Run(n)
	end := s.Clock.End()
	x.Counted = ask(s.Counted, 0) - counted
	after := s.look()
	x.Collections, x.Allocated = ask(s.Collections, 0)-collections, ask(s.Allocated, 0)-allocated
	x.CoreHzAfter, x.SlowedAfter = ask(s.CoreHz, nan), ask(s.Slowed, nan)
	x.WallNs = s.Clock.Ns(end - start)
	x.Use = after.Since(before)
	x.Migrated = after.CPU != before.CPU
	if subject.After != nil {
		subject.After()
	}
	return x
}
