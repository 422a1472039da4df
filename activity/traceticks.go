package activity

import (
	"math"

	"chronoscope/stats"
)

// Tick is one tick of a timer during a trace.
type Tick struct {
	// AtNs is when it came, after the trace began.
	AtNs float64
	// Gap is the index of the gap that the tick began or fell into; -1 if it left none.
	Gap int
	// Interpolated is true where no gap began with it, so that its time follows
	// from the ticks about it.
	Interpolated bool
}

// Hidden reports whether the thread was already inactive when the tick came.
func (k Tick) Hidden() bool { return k.Interpolated && k.Gap >= 0 }

// Ticks are all ticks of a comb during the trace: those that began a gap, at its
// start, and the others by interpolation (Bryant 2003, practice problem 9.2).
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

// tooth is the number of the comb's tooth that is nearest to a gap's start.
func (t *Trace) tooth(gap int, c *Comb) float64 {
	return math.Round((t.Ns(t.Gaps[gap].Start) - c.PhaseNs) / c.Period.Value)
}

// Charge is what accounting by the ticks of a comb makes of the traced thread,
// and of all others that had its CPU meanwhile (Bryant 2003, practice problem
// 9.5). Of the thread, user time used is that in which it was active, and system
// time that of gaps in which it kept the CPU: interrupts served, page faults,
// and its own looks at the kernel.
//
// A tick that begins a gap finds the thread active. One that fell into a gap is
// charged to whoever had the CPU in it. Of others it is not known in which mode
// they were: all of theirs counts as user time.
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

// Accounting is what counting by ticks makes of the traced thread, beside what it
// really used and what this kernel says.
type Accounting struct {
	Ticks     int     `json:"ticks"` // that found the thread
	ChargedNs float64 `json:"charged_ns"`
	// AboveNs and BelowNs bound the time that the number of ticks can stand for, and UsedNs
	// is what they stood for.
	AboveNs float64 `json:"above_ns"`
	BelowNs float64 `json:"below_ns"`
	UsedNs  float64 `json:"used_ns"`
	// LongRunInactive is the result of [Trace.LongRunInactive].
	LongRunInactive stats.Estimate `json:"long_run_inactive"`
	// Of the kernel's own counters; missing where they could not be read.
	ThreadNs  stats.Float `json:"getrusage_thread_ns"`
	ProcessNs stats.Float `json:"getrusage_self_ns"`
	TimesNs   stats.Float `json:"times_ns"`
	CPUBusyNs stats.Float `json:"proc_stat_busy_ns"` // of the CPU, whoever had it
}

// Accounting sets counting by the ticks of a comb beside what the kernel says; nil without a
// comb.
func (t *Trace) Accounting(tick *Comb) *Accounting {
	if tick == nil {
		return nil
	}
	thread, _ := t.Charge(tick)
	a := &Accounting{Ticks: thread.Ticks(), ChargedNs: thread.Charged().SumNs(), UsedNs: thread.Used.SumNs()}
	a.AboveNs, a.BelowNs = thread.Bounds()
	a.LongRunInactive, _ = t.LongRunInactive(tick) // of too few cycles the bounds are missing
	a.ThreadNs, a.ProcessNs, a.TimesNs = t.Accounts.Thread.known(), t.Accounts.Process.known(), t.Accounts.Times.known()
	if cpu := t.Accounts.CPU; cpu != nil {
		a.CPUBusyNs = stats.FloatOf(cpu.RanNs())
	}
	return a
}

// use fills in the time that was really used, and in how many segments. Where
// two gaps without the CPU touch, nothing of the thread lies between.
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

// lost reports that the thread did not have the CPU in that gap: a counter says
// so, or it took longer than half an interval of the tick, nil for one that is
// not known. No interrupt takes that long, nor does a look at the kernel: the Go
// runtime had parked the thread.
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

// inKernel reports that the thread spent the gap in kernel mode. An interrupt
// holds up the tick, which then finds the thread where it was before.
func (g Gap) inKernel() bool { return g.Cause == PageFault || g.Cause == Runtime }
