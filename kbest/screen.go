package kbest

// screen subtracts known losses from a sample, and rejects the sample if they are not known.
//
// There are two measures of the time that a thread ran. Wall time, by the fine clock, is right as long as the
// thread keeps its CPU. CPU time, by the kernel's clock, is right also if the thread was taken off its CPU: it
// holds no run-queue wait, no sleep, and on most guests no steal, so that nothing is subtracted twice. Wall
// time less run-queue wait is no less than CPU time, and exceeds it by steal and by what a switch takes. If it
// is less, a wait was counted that did not fall between the two readings, and the sample tells nothing.
type screen struct {
	overhead overhead
	speed    coreSpeed
	// blocks says that the subject itself gives up the CPU.
	blocks bool
	// known says that the kernel's counts of the thread are available.
	known bool
}

// Differences between the two measures, in nanoseconds and as a share, that a look and the kernel's own
// bookkeeping explain.
const (
	lookSlackNs    = 8e3
	lookSlackShare = 2e-4
	// switchSlackNs is how much of each switch the kernel may count both as CPU time and as wait: 2 to 3 µs
	// were seen on a virtual machine with Linux 6.18.
	switchSlackNs = 6e3
	// unclearShare is the share of a sample that may be counted twice. On a host that takes its CPU back in the
	// middle of a switch, 10 to 30 µs were seen in all samples of 10 ms during which a thread of the Go runtime
	// woke up.
	unclearShare = 2.5e-3
)

// judge sets the running time of a sample, and why it was corrected or rejected.
func (s screen) judge(x *Sample) {
	x.Corrected, x.Rejected = "", ""
	x.RunNs = x.WallNs - float64(x.Use.WaitNs)
	switch {
	case x.isImpossible():
		x.Rejected = Unclear
	case x.Migrated:
		x.Rejected = Migrated
	case x.Collections > 0:
		x.Rejected = Collected
	case x.Use.MajorFaults > 0:
		x.Rejected = MajorFault
	case s.known && !s.blocks:
		s.compare(x)
	}
	if x.Rejected == "" && s.speed.other(x) {
		x.Rejected = CoreSpeed
	}
}

// compare compares the running time by the clock, without run-queue wait (RunNs), with the CPU time. It rejects the
// sample if they contradict each other. If the thread was off its CPU during the sample, RunNs becomes the CPU time,
// and Corrected says why.
func (s screen) compare(x *Sample) {
	cpuNs := s.cpuNs(x)
	slack := lookSlackNs + 4*s.overhead.lookSpreadNs + lookSlackShare*x.RunNs + switchSlackNs*float64(x.switches())
	away := x.RunNs - cpuNs
	if x.Use.WaitNs > 0 && (away < -slack-unclearShare*x.RunNs || x.RunNs <= 0) {
		x.Rejected = Unclear
		return
	}
	switch {
	case x.Use.VoluntarySwitches > 0:
		x.Corrected = Stopped
	case away > slack && x.Use.WaitNs == 0:
		x.Corrected = Away
	case x.Use.WaitNs > 0 || x.Use.InvoluntarySwitches > 0:
		x.Corrected = Preempted
	default:
		return
	}
	x.RunNs = cpuNs
}

// cpuNs returns the CPU time of a sample, in nanoseconds.
func (s screen) cpuNs(x *Sample) float64 { return float64(x.Use.CPUNs) - s.overhead.lookNs }

// sleptShare is a share of a sample that the Go scheduler never takes.
const sleptShare = 0.05

// slept reports whether the thread gave up its CPU for more than sleptShare of a sample.
func (s screen) slept(x *Sample) bool {
	return x.Use.VoluntarySwitches > 0 && s.awayNs(x) > sleptShare*x.WallNs
}

// awayNs returns how long the thread neither ran nor waited for a CPU during a sample, in nanoseconds.
func (s screen) awayNs(x *Sample) float64 {
	return x.WallNs - float64(x.Use.WaitNs) - s.cpuNs(x)
}
