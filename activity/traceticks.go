package activity

import (
	"math"

	"chronoscope/stats"
)

// Tick is one tick of a timer during a trace.
type Tick struct {
	// AtNs is the time of the tick since the trace began.
	AtNs float64
	// Gap is the index of the gap that the tick began or fell into; -1 if there is none.
	Gap int
	// Interpolated says that no gap began with the tick, so that its time is interpolated between
	// its neighbours.
	Interpolated bool
}

// Hidden reports whether the thread was already inactive when the tick came.
func (k Tick) Hidden() bool { return k.Interpolated && k.Gap >= 0 }

// Ticks returns all ticks of a comb during the trace: those that began a gap, at its start, and the
// others by interpolation (Bryant 2003, practice problem 9.2).
func (t *Trace) Ticks(c *Comb) []Tick {
	period := c.Period.Value
	if !(period > 0) || math.IsInf(period, 0) {
		return nil
	}
	var ticks []Tick
	members, holder := c.Gaps, 0
	for k := 0.0; ; k++ {
		for len(members) > 0 && t.tooth(members[0], c) < k {
			members = members[1:]
		}
		if len(members) > 0 && t.tooth(members[0], c) == k {
			ticks = append(ticks, Tick{AtNs: t.Ns(t.Gaps[members[0]].Start), Gap: members[0]})
			continue
		}
		at := c.PhaseNs + k*period
		if at >= t.Ns(t.Length) {
			return ticks
		}
		if at < 0 {
			continue
		}
		for holder < len(t.Gaps) && t.Ns(t.Gaps[holder].End()) <= at {
			holder++
		}
		tick := Tick{AtNs: at, Gap: -1, Interpolated: true}
		if holder < len(t.Gaps) && t.Ns(t.Gaps[holder].Start) < at {
			tick.Gap = holder
		}
		ticks = append(ticks, tick)
	}
}

// tooth returns the number of the comb's tooth that is nearest to a gap's start.
func (t *Trace) tooth(gap int, c *Comb) float64 {
	return math.Round((t.Ns(t.Gaps[gap].Start) - c.PhaseNs) / c.Period.Value)
}

// Charge returns what accounting by the ticks of a comb would charge to the traced thread, and to
// all others that had its CPU (Bryant 2003, practice problem 9.5). It also fills in the time that
// they really used. The thread's user time is the time in which it was active. Its system time is
// the length of the gaps in which it kept the CPU: for interrupts, page faults, and its own looks
// at the kernel's counters.
//
// A tick that begins a gap finds the thread active. A tick that fell into a gap is charged to the
// thread that had the CPU then. The mode of other threads is not known: all their time counts as
// user time.
func (t *Trace) Charge(tick *Comb) (thread, others Account) {
	interval := tick.Period.Value
	if t.Kernel.TickHz > 0 {
		interval = 1e9 / t.Kernel.TickHz
	}
	thread.IntervalNs, others.IntervalNs = interval, interval
	for _, k := range t.Ticks(tick) {
		switch {
		case !k.Hidden():
			thread.charge(false)
		case t.lost(k.Gap, tick):
			others.charge(false)
		default:
			thread.charge(t.Gaps[k.Gap].inKernel())
		}
	}
	t.use(&thread, &others, tick)
	return thread, others
}

// Accounting compares the time that accounting by ticks charges to the traced thread with the time
// that it really used and with the kernel's own accounts.
type Accounting struct {
	Ticks     int     `json:"ticks"` // that were charged to the thread
	ChargedNs float64 `json:"charged_ns"`
	// AboveNs and BelowNs bound the time that a thread with that number of ticks can have used, and
	// UsedNs is the time that it used.
	AboveNs float64 `json:"above_ns"`
	BelowNs float64 `json:"below_ns"`
	UsedNs  float64 `json:"used_ns"`
	// LongRunInactive is the result of [Trace.LongRunInactive].
	LongRunInactive stats.Estimate `json:"long_run_inactive"`
	// ThreadNs and the fields below are the kernel's own counters; missing if they could not be
	// read.
	ThreadNs  stats.Float `json:"getrusage_thread_ns"`
	ProcessNs stats.Float `json:"getrusage_self_ns"`
	TimesNs   stats.Float `json:"times_ns"`
	CPUBusyNs stats.Float `json:"proc_stat_busy_ns"` // of the CPU, for all threads
}

// Accounting returns the comparison for the ticks of a comb; nil without a comb.
func (t *Trace) Accounting(tick *Comb) *Accounting {
	if tick == nil {
		return nil
	}
	thread, _ := t.Charge(tick)
	a := &Accounting{Ticks: thread.Ticks(), ChargedNs: thread.Charged().SumNs(), UsedNs: thread.Used.SumNs()}
	a.AboveNs, a.BelowNs = thread.Bounds()
	a.LongRunInactive, _ = t.LongRunInactive(tick) // if there are too few cycles, only the bounds are missing
	a.ThreadNs, a.ProcessNs, a.TimesNs = t.Accounts.Thread.known(), t.Accounts.Process.known(), t.Accounts.Times.known()
	if cpu := t.Accounts.CPU; cpu != nil {
		a.CPUBusyNs = stats.FloatOf(cpu.RanNs())
	}
	return a
}

// use fills in the time that was really used, and the number of segments. If two gaps without the
// CPU touch, there is no segment of the thread between them.
func (t *Trace) use(thread, others *Account, tick *Comb) {
	running := false
	for p := range t.Periods {
		ns := t.Ns(p.Ticks)
		switch {
		case !p.Active && t.lost(p.Number, tick):
			others.Used.add(false, ns)
			if running || others.Segments == 0 {
				others.Segments++
			}
			running = false
		case p.Ticks > 0:
			thread.Used.add(!p.Active, ns)
			if !running {
				thread.Segments++
			}
			running = true
		}
	}
}

// lost reports whether the thread lost the CPU in that gap: a counter says so, or the gap is longer
// than half a period of the tick (tick is nil if it is not known). No interrupt takes that long,
// nor does a look at the kernel's counters, so that the Go runtime must have parked the thread.
func (t *Trace) lost(gap int, tick *Comb) bool {
	switch g := t.Gaps[gap]; g.Cause {
	case Preempted, Throttled, Stopped, Migrated:
		return true
	case PageFault:
		return false
	default:
		return tick != nil && t.Ns(g.Ticks) > tick.Period.Value/2
	}
}

// inKernel reports whether the thread spent the gap in kernel mode. Interrupts don't count: they
// delay the tick, which then finds the thread in the mode that it had before.
func (g Gap) inKernel() bool { return g.Cause == PageFault || g.Cause == Runtime }
