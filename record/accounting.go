package record

import (
	"chronoscope/activity"
	"chronoscope/stats"
)

// Accounting is what counting by ticks makes of the traced thread, beside what it
// really used and what this kernel says.
type Accounting struct {
	Ticks     int     `json:"ticks"` // that found the thread
	ChargedNs float64 `json:"charged_ns"`
	// AboveNs and BelowNs bound what so many ticks can stand for, and UsedNs is
	// what they stood for.
	AboveNs float64 `json:"above_ns"`
	BelowNs float64 `json:"below_ns"`
	UsedNs  float64 `json:"used_ns"`
	// LongRunInactive is the share of time that the thread can expect to be
	// inactive over a longer scale.
	LongRunInactive stats.Estimate `json:"long_run_inactive"`
	// Of the kernel's own counters; null where they could not be read.
	ThreadNs  *float64 `json:"getrusage_thread_ns"`
	ProcessNs *float64 `json:"getrusage_self_ns"`
	TimesNs   *float64 `json:"times_ns"`
	CPUBusyNs *float64 `json:"proc_stat_busy_ns"` // of the CPU, whoever had it
}

// newAccounting is of a trace in which the timer's tick was found.
func newAccounting(t *activity.Trace, a *activity.Analysis) *Accounting {
	thread, _ := t.Charge(a.Tick)
	d := &Accounting{Ticks: thread.Ticks(), ChargedNs: thread.Charged().SumNs(), UsedNs: thread.Used.SumNs()}
	d.AboveNs, d.BelowNs = thread.Bounds()
	d.LongRunInactive, _ = t.LongRunInactive(a.Tick) // too few cycles leave bounds that are null
	d.ThreadNs, d.ProcessNs, d.TimesNs = sumNs(t.Accounts.Thread), sumNs(t.Accounts.Process), sumNs(t.Accounts.Times)
	if cpu := t.Accounts.CPU; cpu != nil {
		busy := cpu.RanNs()
		d.CPUBusyNs = &busy
	}
	return d
}

func sumNs(c *activity.CPUTime) *float64 {
	if c == nil {
		return nil
	}
	return stats.Finite(c.SumNs())
}
