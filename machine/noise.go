package machine

const (
	// UsualSwitchNs is the time that a preemption takes, with the timer interrupt that led to it, if
	// [Noise] does not tell. Filling caches again that others used usually takes UsualColdNs more,
	// and up to ColdNs.
	UsualSwitchNs, UsualColdNs, ColdNs = 10e3, 8e3, 25e3
	// NoiseError is by which share what a CPU loses to interrupts may differ from the trace.
	NoiseError = 0.3
)

// Noise is what one CPU takes away from a thread that runs on it, as far as it
// was seen beforehand: what a method needs to know to correct for it, or to say
// how far a figure may be off. The zero value is a CPU of which nothing is known.
type Noise struct {
	// WatchedNs is how long a thread ran there while it was looked at, without the
	// time in which another had its CPU, as the kernel counts it (run-queue wait, and
	// steal that it knows of). 0 where nothing is known. All that follows is of
	// running time.
	WatchedNs float64
	// Regular sources: timers that take the CPU at a fixed period.
	Regular []Interruption
	// IrregularShare is the share of its running time that a thread loses to all
	// other gaps in which it kept its CPU, IrregularPerSecond how many of them
	// there are, and IrregularWorstNs the longest.
	IrregularShare, IrregularPerSecond, IrregularWorstNs float64
	// SliceNs is the typical time for which a thread runs between two preemptions. SwitchNs is the
	// time that a preemption takes in addition to the run-queue wait. NaN if there was none.
	SliceNs, SwitchNs float64
}

// Interruption is a timer that takes the CPU at a fixed period.
type Interruption struct {
	PeriodNs float64
	// LeastNs, MedianNs and MeanNs are what one of them takes. The least may be
	// subtracted without ever overcompensating (Bryant 2003, section 9.4.3).
	LeastNs, MedianNs, MeanNs float64
	// Missing is the share of its times at which it did not come.
	Missing float64
	// Kernel is true for this kernel's own tick, false for a host's.
	Kernel bool
}

// Known reports whether anything was seen.
func (n Noise) Known() bool { return n.WatchedNs > 0 }

// ShareLost is the share of its running time that a thread loses on average while
// it keeps its CPU.
func (n Noise) ShareLost() float64 {
	share := n.IrregularShare
	for _, r := range n.Regular {
		share += (1 - r.Missing) * r.MeanNs / r.PeriodNs
	}
	return share
}
