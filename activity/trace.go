// Package activity records when a thread was kept from running, and says why
// (Bryant 2003, sections 9.1 and 9.4, homework 9.9 to 9.12).
//
// A thread reads a counter without pause. Wherever two readings lie further
// apart than reading takes, the thread was inactive: a timer interrupt was
// served, another process ran, the hypervisor took the CPU. The recording knows
// only ticks; what the kernel counted goes beside it, and both are joined
// afterwards.
package activity

import (
	"sort"

	"chronoscope/machine"
)

// Trace is what a thread saw of one stretch of time. Times are in ticks of the
// clock since the trace began.
type Trace struct {
	Clock  string
	TickNs float64
	// CPU is where the thread was kept, -1 where it was free to move.
	CPU int
	// Threshold is the step between two readings from which on the thread counts
	// as inactive.
	Threshold int64
	// Length is how long was recorded.
	Length int64
	// Gaps are the periods of inactivity, in order.
	Gaps []Gap
	// Joins hold what the kernel counted of the thread, in the order of the gaps
	// that they belong to.
	Joins []Join
	// Dropped periods did not fit; they were inactive for DroppedTicks.
	Dropped      int
	DroppedTicks int64
	// Kernel is what the kernel counted while the trace was recorded.
	Kernel Kernel
	// LateNs is the length of the gap that ended the recording, if it was to end at one; else 0.
	LateNs float64
	// Unwatched is true where the kernel did not tell what the thread waited for, so that a
	// gap may be another thread's.
	Unwatched bool
	// Accounts is the CPU time that the kernel charged during the trace to the thread, its process
	// and its CPU.
	Accounts Accounts
	// Anchors say when the trace was, by the clock of the kernel's events; none where there are no such.
	Anchors []Anchor
	// Thread is the number of the thread that recorded; 0 where it is not known.
	Thread int
	// Caveats say what could not be had.
	Caveats []string
}

// Anchor is a moment of a trace by two clocks.
type Anchor struct {
	Ticks  int64 // of the trace
	TimeNs int64 // by CLOCK_MONOTONIC
}

// timeNs is when a moment of the trace was by CLOCK_MONOTONIC: between two anchors both clocks run evenly.
func (t *Trace) timeNs(ticks int64) int64 {
	i := sort.Search(len(t.Anchors), func(i int) bool { return t.Anchors[i].Ticks > ticks })
	i = min(max(i, 1), len(t.Anchors)-1)
	a, b := t.Anchors[i-1], t.Anchors[i]
	return a.TimeNs + int64(float64(ticks-a.Ticks)*float64(b.TimeNs-a.TimeNs)/float64(b.Ticks-a.Ticks))
}

// Gap is one period of inactivity.
type Gap struct {
	Start, Ticks int64
	// Own is a gap that the recording itself made, as it returned to Go or
	// asked the kernel; something else may have made it longer.
	Own bool
	// Cause is the cause of the gap, as found by [Analyse].
	Cause Cause
}

// End is where the next period of activity starts.
func (g Gap) End() int64 { return g.Start + g.Ticks }

// Join is what the kernel counted of the thread between the look before and one
// right after the gap of that index.
type Join struct {
	// From is the first gap that it accounts for: Gap itself, or an earlier one
	// whose own look was interrupted.
	From, Gap int
	Use       machine.ThreadUse
	Ticks     int64 // between the two looks
	Throttled bool  // the control group was throttled in between
	// Continued is true where this process was continued after a stop by a signal.
	Continued bool
	// Between is true where the gap began between two spells of the reading
	// loop, where the Go scheduler may take the thread away for a moment.
	Between bool
}

// Kernel is what the kernel of this machine counted of the trace's CPU, and what
// it knows of itself.
type Kernel struct {
	// TimerInterrupts and OtherInterrupts on the trace's CPU; Known says that
	// they could be counted.
	TimerInterrupts, OtherInterrupts uint64
	Known                            bool
	// TickHz is the rate of the kernel's timer tick, 0 where it is not known.
	TickHz float64
	// Virtual is true on a virtual machine.
	Virtual bool
}

// Ns turns ticks into nanoseconds.
func (t *Trace) Ns(ticks int64) float64 { return float64(ticks) * t.TickNs }

// Inactive is how long the thread was inactive, in ticks.
func (t *Trace) Inactive() int64 {
	inactive := t.DroppedTicks
	for _, g := range t.Gaps {
		inactive += g.Ticks
	}
	return inactive
}

// ActiveRatio is the share of the trace in which the thread ran, NaN for an
// empty trace.
func (t *Trace) ActiveRatio() float64 {
	return 1 - float64(t.Inactive())/float64(t.Length)
}

// Period is a stretch of activity or inactivity, as Figures 9.3 and 9.5 list
// them.
type Period struct {
	Active       bool
	Number       int // A0, I0, A1, I1 ...
	Start, Ticks int64
	Cause        Cause // of inactivity
}

// Periods yields all periods in order: each gap is inactive, and what lies
// before it active, for no time at all where two gaps touch. What follows the
// last gap is the last active period.
func (t *Trace) Periods(yield func(Period) bool) {
	end := int64(0)
	for i, g := range t.Gaps {
		if !yield(Period{Active: true, Number: i, Start: end, Ticks: g.Start - end}) ||
			!yield(Period{Number: i, Start: g.Start, Ticks: g.Ticks, Cause: g.Cause}) {
			return
		}
		end = g.End()
	}
	if end < t.Length {
		yield(Period{Active: true, Number: len(t.Gaps), Start: end, Ticks: t.Length - end})
	}
}
