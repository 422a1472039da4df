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
	StopsInSleep     FaultKind = "stops-in-sleep"    // stands still while the thread sleeps, or during a part of it
	FollowsFrequency FaultKind = "follows-frequency" // its rate differs between idle and busy
	CPUOffset        FaultKind = "cpu-offset"        // reads differently on different CPUs
	WrongRate        FaultKind = "wrong-rate"        // faster or slower than believed
	Jumped           FaultKind = "jumped"            // stepped, seldom
	Slewed           FaultKind = "slewed"            // the system was changing the rate of one of the two
	Unexplained      FaultKind = "unexplained"       // off, for no reason that is known here
)

// Fault is what is wrong with a counter, as one workload shows it.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Size is how large it is, in Unit: "ns" for time lost (negative where it was
	// gained), stepped, or between CPUs; "ppm"; or "times", the rate when idle over
	// that when busy.
	Size stats.Float `json:"size"`
	Unit string      `json:"unit"`
	// Verdict is how far it lowers the trust.
	Verdict stats.Verdict `json:"-"`
	// Says names the fault and its size.
	Says string `json:"-"`
}

// finding is a fault with the samples that show it.
type finding struct {
	shown []int // places among the observed
	// fault describes it by the worst of some of these samples.
	fault func(worst observed) Fault
}

// of is the fault as one workload shows it.
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

// lostOrGained says what a sample was off by.
func lostOrGained(o observed) string {
	if o.offNs > 0 {
		return fmt.Sprintf("it gained %s in %s", stats.Duration(o.offNs, 3), stats.Duration(o.ReferenceNs, 3))
	}
	return fmt.Sprintf("it lost %s of %s", stats.Duration(-o.offNs, 3), stats.Duration(o.ReferenceNs, 3))
}

// idleFault is that of a counter which loses a share of the time that the thread
// sleeps, the same share each time where it is steady.
func idleFault(share float64, steady bool) func(observed) Fault {
	return func(worst observed) Fault {
		f := Fault{Kind: StopsInSleep, Size: stats.FloatOf(-worst.offNs), Unit: "ns", Verdict: stats.Unusable}
		switch {
		case share >= stillShare:
			f.Says = lostOrGained(worst) + ": it stands still while the thread sleeps"
		case steady:
			f.Kind, f.Size, f.Unit = FollowsFrequency, stats.FloatOf(1-share), "times"
			f.Says = fmt.Sprintf("%s: its rate follows the core's frequency, and is %s when idle as when busy", lostOrGained(worst), timesAsHigh(1-share))
		default:
			f.Says = lostOrGained(worst) + ": it stands still for a part of the sleep, a different one each time"
		}
		return f
	}
}

// timesAsHigh writes a ratio so that one near 1 does not read as 1.
func timesAsHigh(ratio float64) string {
	if math.Abs(ratio-1) < 0.01 {
		return fmt.Sprintf("%.6f times as high", ratio)
	}
	return fmt.Sprintf("%.3g times as high", ratio)
}

// rateFault is that of a counter which keeps a rate, but another one than believed.
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

// offsetFault is that of a counter which differs by ns between CPUs.
func offsetFault(between string, ns float64) func(observed) Fault {
	return func(observed) Fault {
		return Fault{
			Kind: CPUOffset, Size: stats.FloatOf(math.Abs(ns)), Unit: "ns", Verdict: stats.Suspect,
			Says: fmt.Sprintf("it has an offset of %s %s", stats.Duration(math.Abs(ns), 3), between),
		}
	}
}

// jumpFault is that of a counter which stepped a few times, unless it was the
// reference that somebody set.
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

// slewFault is not the counter's.
func slewFault(worst observed) Fault {
	return Fault{
		Kind: Slewed, Size: stats.FloatOf(1e6 * math.Abs(worst.offNs) / worst.ReferenceNs), Unit: "ppm", Verdict: stats.Suspect,
		Says: lostOrGained(worst) + ", as where the system corrects the rate of a clock: compare with monotonic-raw, which it leaves alone",
	}
}

// unexplainedFault is the honest rest.
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

// partsPerMillion writes a share that is given in parts per million.
func partsPerMillion(ppm float64) string {
	if ppm < 1e4 {
		return fmt.Sprintf("%.3g ppm", ppm)
	}
	return fmt.Sprintf("%.3g %%", ppm/1e4)
}
