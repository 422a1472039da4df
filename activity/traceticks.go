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
	interval := tick.Period.Value
	if t.Kernel.TickHz > 0 {
		interval = 1e9 / t.Kernel.TickHz
	}
	ticks, segments, usedNs := t.charge(tick)
	a := &Accounting{
		Ticks: ticks, ChargedNs: float64(ticks) * interval, UsedNs: usedNs,
		ThreadNs: t.Accounts.ThreadNs, ProcessNs: t.Accounts.ProcessNs, TimesNs: t.Accounts.TimesNs,
	}
	a.AboveNs, a.BelowNs = TimeBounds(ticks, segments, interval)
	a.LongRunInactive, _ = t.LongRunInactive(tick) // if there are too few cycles, only the bounds are missing
	if cpu := t.Accounts.CPU; cpu != nil {
		a.CPUBusyNs = stats.FloatOf(cpu.RanNs())
	}
	return a
}

// charge returns the number of ticks of a comb that accounting by ticks would charge to the traced thread (Bryant 2003,
// practice problem 9.5), the number of stretches in which the CPU ran nothing but the thread and interrupts, and the time
// that the thread really used: when it was active, and in the gaps in which it kept the CPU (interrupts, page faults, its
// own looks at the kernel's counters).
//
// A tick that begins a gap finds the thread active. A tick that fell into a gap is charged to the thread that had the CPU
// then. Two gaps without the CPU that touch have no stretch of the thread between them.
func (t *Trace) charge(tick *Comb) (ticks, segments int, usedNs float64) {
	for _, k := range t.Ticks(tick) {
		if !k.Hidden() || !t.lost(k.Gap, tick) {
			ticks++
		}
	}
	running := false
	var activeNs, keptNs float64
	for p := range t.Periods {
		if !p.Active && t.lost(p.Number, tick) {
			running = false
			continue
		}
		if p.Ticks > 0 && !running {
			running = true
			segments++
		}
		if p.Active {
			activeNs += t.Ns(p.Ticks)
		} else {
			keptNs += t.Ns(p.Ticks)
		}
	}
	return ticks, segments, activeNs + keptNs
}

// lost reports whether the thread lost the CPU in that gap: a counter says so, or the gap is longer
// than half a period of the tick (tick is nil if it is not known). No interrupt takes that long,
// nor does a look at the kernel's counters, so that the Go runtime must have parked the thread.
func (t *Trace) lost(gap int, tick *Comb) bool {
	g := t.Gaps[gap]
	return g.Cause.LostCPU() || g.Cause != PageFault && tick != nil && t.Ns(g.Ticks) > tick.Period.Value/2
}
