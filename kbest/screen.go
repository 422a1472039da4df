package kbest

// screen takes off what is known to have been taken away from a sample, and
// rejects it where the amount is not known.
//
// There are two measures of the time that a thread ran. Wall time, by the fine
// clock, counts as long as the thread keeps its CPU. CPU time, by the kernel's,
// counts as soon as it was taken off it: it holds no run-queue wait, no sleep, and
// on most guests no steal, so that nothing is taken off twice. Wall time less
// run-queue wait is no less than CPU time, and exceeds it by steal and by what a
// switch takes; where it is less, a wait was counted that did not fall between the
// two readings, and the sample tells nothing.
type screen struct {
	overhead overhead
	speed    coreSpeed
	// blocks says that the subject itself gives up the CPU.
	blocks bool
	// known says that the kernel tells of the thread.
	known bool
}

// Differences of the two measures, in nanoseconds and as a share, that a look and
// the kernel's own bookkeeping explain.
const (
	lookSlackNs    = 8e3
	lookSlackShare = 2e-4
	// switchSlackNs of each switch the kernel may count as CPU time and as wait: 2 to 3
	// µs were seen on a virtual machine with Linux 6.18.
	switchSlackNs = 6e3
	// unclearShare of a sample may be counted twice: on a host that takes its CPU back in the
	// middle of a switch 10 to 30 µs were seen, in all samples of 10 ms beside which a
	// thread of the Go runtime woke up.
	unclearShare = 2.5e-3
)

// judge fills in what is left of a sample, and what became of it.
func (s screen) judge(x *Sample) {
	x.Corrected, x.Rejected = "", ""
	x.RunNs = x.WallNs - float64(x.Use.WaitNs)
	switch {
	case x.WallNs < 0 || x.Use.CPUNs < 0 || x.Use.WaitNs < 0:
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

// compare holds the two measures against one another.
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

// cpuNs is the CPU time of a sample.
func (s screen) cpuNs(x *Sample) float64 { return float64(x.Use.CPUNs) - s.overhead.lookNs }

// sleptShare of a sample is more than the Go scheduler takes.
const sleptShare = 0.05

// slept reports that the thread gave up its CPU for a good part of a sample.
func (s screen) slept(x *Sample) bool {
	return x.Use.VoluntarySwitches > 0 && x.WallNs-float64(x.Use.WaitNs)-s.cpuNs(x) > sleptShare*x.WallNs
}
