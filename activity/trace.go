// Package activity records when a thread was kept from running, and says why (Bryant 2003,
// sections 9.1 and 9.4, homework 9.9 to 9.12).
//
// A thread reads a counter without pause. If two readings are further apart than a reading takes,
// the thread was inactive in between: a timer interrupt was served, another process ran, or the
// hypervisor took the CPU. The recording itself contains only ticks of the counter. The kernel's
// counts are recorded with it, and both are combined afterwards.
//
// Terms: a gap is a stretch in which the thread was inactive; a spell is a stretch of the reading
// loop before it returns to Go; a look reads the kernel's counters of the thread, and a join
// assigns what was counted between two looks to the gaps between them; a comb is a source of gaps
// at a fixed period, and a tooth one of its times.
package activity

import (
	"sort"

	"chronoscope/machine"
)

// Trace is what a thread recorded in one stretch of time. Times are in ticks of the clock since the
// trace began.
type Trace struct {
	Clock  string
	TickNs float64
	// CPU is the CPU to which the thread was bound, -1 if it was free to move.
	CPU int
	// Threshold is the step between two readings above which the thread counts as inactive.
	Threshold int64
	// Length is the length of the recording.
	Length int64
	// Gaps are the periods of inactivity, in order.
	Gaps []Gap
	// Joins hold what the kernel counted for the thread, in the order of the gaps to which they
	// belong.
	Joins []Join
	// Dropped is the number of periods of inactivity that did not fit into Gaps, and DroppedTicks
	// their length.
	Dropped      int
	DroppedTicks int64
	// Kernel is what the kernel counted while the trace was recorded.
	Kernel Kernel
	// LateNs is the length of the gap that ended the recording, if the recording was to end at a
	// gap; otherwise 0.
	LateNs float64
	// Unwatched says that the kernel did not count what the thread waited for, so that any gap may
	// be another thread's turn.
	Unwatched bool
	// Accounts is the CPU time that the kernel charged during the trace to the thread, to its
	// process and to its CPU.
	Accounts Accounts
	// Anchors are moments of the trace by the clock of the kernel's events; empty if that clock is
	// not available.
	Anchors []Anchor
	// Thread is the number of the thread that recorded; 0 if it is not known.
	Thread int
	// Caveats says which data could not be had, and why.
	Caveats []string
}

// Anchor is a moment of a trace, by two clocks.
type Anchor struct {
	Ticks  int64 // of the trace
	TimeNs int64 // by CLOCK_MONOTONIC
}

// timeNs converts a moment of the trace to CLOCK_MONOTONIC. It assumes that both clocks run evenly
// between two anchors.
func (t *Trace) timeNs(ticks int64) int64 {
	i := sort.Search(len(t.Anchors), func(i int) bool { return t.Anchors[i].Ticks > ticks })
	i = min(max(i, 1), len(t.Anchors)-1)
	a, b := t.Anchors[i-1], t.Anchors[i]
	return a.TimeNs + int64(float64(ticks-a.Ticks)*float64(b.TimeNs-a.TimeNs)/float64(b.Ticks-a.Ticks))
}

// Gap is one period of inactivity.
type Gap struct {
	Start, Ticks int64
	// Own says that the recording itself made the gap, as it returned to Go or asked the kernel;
	// something else may have made the gap longer.
	Own bool
	// Cause is the cause of the gap, as found by [Analyse].
	Cause Cause
}

// End returns the time at which the next period of activity starts.
func (g Gap) End() int64 { return g.Start + g.Ticks }

// Join is what the kernel counted for the thread between two looks at its counters: the previous
// look, and the one right after the gap with the index Gap.
type Join struct {
	// From is the index of the first gap that the join accounts for: Gap itself, or an earlier one
	// whose own look was interrupted.
	From, Gap int
	Use       machine.ThreadUse
	Ticks     int64 // between the two looks
	Throttled bool  // in between, the control group was throttled
	// Continued says that a signal continued this process after a stop.
	Continued bool
	// Between says that the gap began between two spells of the reading loop, when the Go scheduler
	// may take the thread away for a moment.
	Between bool
}

// Kernel is what the kernel counted on the trace's CPU, and what it reports about itself and the
// machine.
type Kernel struct {
	// TimerInterrupts and OtherInterrupts are the numbers of interrupts on the trace's CPU. Known
	// says that they could be read.
	TimerInterrupts, OtherInterrupts uint64
	Known                            bool
	// TickHz is the rate of the kernel's timer tick, 0 if it is not known.
	TickHz float64
	// Virtual says that the machine is a virtual one.
	Virtual bool
}

// Ns converts ticks to nanoseconds.
func (t *Trace) Ns(ticks int64) float64 { return float64(ticks) * t.TickNs }

// Inactive returns how long the thread was inactive, in ticks.
func (t *Trace) Inactive() int64 {
	inactive := t.DroppedTicks
	for _, g := range t.Gaps {
		inactive += g.Ticks
	}
	return inactive
}

// ActiveRatio returns the share of the trace in which the thread ran, NaN for an empty trace.
func (t *Trace) ActiveRatio() float64 {
	return 1 - float64(t.Inactive())/float64(t.Length)
}

// Period is a stretch of activity or inactivity, as listed in Figures 9.3 and 9.5.
type Period struct {
	Active       bool
	Number       int // A0, I0, A1, I1 ...
	Start, Ticks int64
	Cause        Cause // of inactivity
}

// Periods yields all periods in order. Each gap is a period of inactivity. Before each gap there is
// a period of activity, whose length is 0 if two gaps touch, and another one follows the last gap.
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
