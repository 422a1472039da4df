package fidelity

import (
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

// FaultKind is a way in which a counter fails.
type FaultKind string

// The kinds of faults.
const (
	StopsInSleep     FaultKind = "stops-in-sleep"    // stands still during all or a part of the thread's sleep
	FollowsFrequency FaultKind = "follows-frequency" // its rate differs between idle and busy
	CPUOffset        FaultKind = "cpu-offset"        // shows different values on different CPUs
	WrongRate        FaultKind = "wrong-rate"        // faster or slower than believed
	Jumped           FaultKind = "jumped"            // stepped a few times
	Slewed           FaultKind = "slewed"            // the system was changing the rate of the counter or the reference
	Unexplained      FaultKind = "unexplained"       // off for an unknown reason
)

// Fault is a fault of a counter, as one workload shows it.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Size is the size of the fault in Unit. Unit is "ns" for lost time (negative if time was
	// gained), a step, or a difference between CPUs; "ppm" for an error of the rate; or "times" for
	// the rate when idle divided by the rate when busy.
	Size stats.Float `json:"size"`
	Unit string      `json:"unit"`
	// Verdict is the verdict to which the fault lowers the result.
	Verdict stats.Verdict `json:"-"`
	// Says names the fault and its size.
	Says string `json:"-"`
}

// finding is a fault with the samples that show it.
type finding struct {
	shown []int // indices of observed samples
	// fault describes the fault by the worst of the given samples.
	fault func(worst observed) Fault
}

// of returns the fault as one workload shows it, and false if the workload does not show it.
func (f finding) of(workload int, all []observed) (Fault, bool) {
	worst := -1
	for _, i := range f.shown {
		if all[i].workload == workload && (worst < 0 || math.Abs(all[i].offNs) > math.Abs(all[worst].offNs)) {
			worst = i
		}
	}
	if worst < 0 {
		return Fault{}, false
	}
	return f.fault(all[worst]), true
}

// lostOrGained says by how much a sample was off.
func lostOrGained(o observed) string {
	if o.offNs > 0 {
		return fmt.Sprintf("it gained %s in %s", stats.Duration(o.offNs, 3), stats.Duration(o.ReferenceNs, 3))
	}
	return fmt.Sprintf("it lost %s of %s", stats.Duration(-o.offNs, 3), stats.Duration(o.ReferenceNs, 3))
}

// idleFault describes a counter that loses a share of the time for which the thread sleeps. steady
// says that the share is the same each time.
func idleFault(share float64, steady bool) func(observed) Fault {
	return func(worst observed) Fault {
		f := Fault{Kind: StopsInSleep, Size: stats.FloatOf(-worst.offNs), Unit: "ns", Verdict: stats.Unusable}
		switch {
		case share >= stillShare:
			f.Says = lostOrGained(worst) + ": it stands still while the thread sleeps"
		case steady:
			f.Kind, f.Size, f.Unit = FollowsFrequency, stats.FloatOf(1-share), "times"
			f.Says = fmt.Sprintf("%s: its rate follows the core's frequency, and is %s when idle as when busy", lostOrGained(worst), timesAsHigh(1-share))
		case share < 0:
			f.Says = lostOrGained(worst) + ": it runs faster while the thread sleeps, by a different amount each time"
		default:
			f.Says = lostOrGained(worst) + ": it stands still for a part of the sleep, a different one each time"
		}
		return f
	}
}

// timesAsHigh formats a ratio with enough digits that a ratio near 1 is not shown as 1.
func timesAsHigh(ratio float64) string {
	if math.Abs(ratio-1) < 0.01 {
		return fmt.Sprintf("%.6f times as high", ratio)
	}
	return fmt.Sprintf("%.3g times as high", ratio)
}

// rateFault describes a counter that keeps a constant rate, but another one than believed.
func rateFault(ppm float64, disciplined bool) func(observed) Fault {
	return func(observed) Fault {
		direction := "fast"
		if ppm < 0 {
			direction = "slow"
		}
		f := Fault{Kind: WrongRate, Size: stats.FloatOf(ppm), Unit: "ppm", Verdict: stats.Suspect}
		f.Says = fmt.Sprintf("it is %s %s against the rate that it is believed to have", partsPerMillion(math.Abs(ppm)), direction)
		switch {
		case math.Abs(ppm) > farOff*1e6:
			f.Verdict = stats.Unusable
		case disciplined && math.Abs(ppm) <= clock.SlewLimit*1e6:
			f.Says += ", which may be the system's correction of a calendar clock"
		}
		return f
	}
}

// offsetFault describes a counter that differs by ns between CPUs.
func offsetFault(between string, ns float64) func(observed) Fault {
	return func(observed) Fault {
		return Fault{
			Kind: CPUOffset, Size: stats.FloatOf(math.Abs(ns)), Unit: "ns", Verdict: stats.Suspect,
			Says: fmt.Sprintf("it has an offset of %s %s", stats.Duration(math.Abs(ns), 3), between),
		}
	}
}

// jumpFault describes a counter that stepped a few times, or a reference that may have been set.
func jumpFault(times int, reference *clock.Clock) func(observed) Fault {
	return func(worst observed) Fault {
		how, by := "forward", worst.offNs
		if by < 0 {
			how, by = "back", -by
		}
		f := Fault{Kind: Jumped, Size: stats.FloatOf(by), Unit: "ns", Verdict: stats.Unusable}
		f.Says = fmt.Sprintf("it jumped once, %s by %s", how, stats.Duration(by, 3))
		if times > 1 {
			f.Says = fmt.Sprintf("it jumped %d times, by up to %s %s", times, stats.Duration(by, 3), how)
		}
		if reference.Settable {
			f.Verdict = stats.Suspect
			f.Says += fmt.Sprintf(", unless %s was set meanwhile: compare with monotonic-raw, which nobody sets", reference.Name)
		}
		return f
	}
}

// stillFault describes a counter with a tick of unknown length that stands still or runs backwards
// in most samples.
func stillFault(still, samples int) func(observed) Fault {
	return func(observed) Fault {
		return Fault{
			Kind: WrongRate, Size: stats.FloatOf(-1e6), Unit: "ppm", Verdict: stats.Unusable,
			Says: fmt.Sprintf("it does not advance: in %d of %d samples it stood still or ran backwards", still, samples),
		}
	}
}

// slewFault describes a rate that the system was changing; it is no fault of the counter.
func slewFault(worst observed) Fault {
	return Fault{
		Kind: Slewed, Size: stats.FloatOf(1e6 * math.Abs(worst.offNs) / worst.ReferenceNs), Unit: "ppm", Verdict: stats.Suspect,
		Says: lostOrGained(worst) + ", as where the system corrects the rate of a clock: compare with monotonic-raw, which it leaves alone",
	}
}

// unexplainedFault describes an error without a known cause.
func unexplainedFault(counter *clock.Clock) func(observed) Fault {
	return func(worst observed) Fault {
		f := Fault{Kind: Unexplained, Size: stats.FloatOf(math.Abs(worst.offNs)), Unit: "ns", Verdict: stats.Unusable}
		f.Says = lostOrGained(worst) + ", which nothing that was watched explains"
		switch {
		case counter.CountsSleep != clock.No:
		case worst.offNs < 0:
			f.Verdict = stats.Suspect
			f.Says += "; on a virtual machine the host may have taken the CPU"
		case counter.Scope == clock.ScopeProcess:
			f.Verdict = stats.Suspect
			f.Says += "; it counts the process's other threads, and the runtime's own may have run"
		}
		return f
	}
}

func partsPerMillion(ppm float64) string {
	if ppm < 1e4 {
		return fmt.Sprintf("%.3g ppm", ppm)
	}
	return fmt.Sprintf("%.3g %%", ppm/1e4)
}
