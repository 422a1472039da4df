package machine

const (
	// UsualSwitchNs is the usual time that a preemption takes, including the timer interrupt that
	// led to it; it is used if [Noise] does not tell. Refilling caches that other threads used
	// usually takes another UsualColdNs, and up to ColdNs.
	UsualSwitchNs, UsualColdNs, ColdNs = 10e3, 8e3, 25e3
	// RefilledBytes is the amount of data that [Noise.RefillNs] refers to. kernelBytes is an assumption: what the kernel
	// itself uses around a preemption. A program of 30 KB showed no cost of three preemptions on a host where 256 KB took
	// 0.4 ms to refill.
	RefilledBytes, kernelBytes = 256 << 10, 64 << 10
	// NoiseError is the relative amount by which a program may lose more to interrupts than a thread that reads a clock:
	// they displace its data in the caches. On a Zen 5 machine whose host takes 45 µs at a time it was 2 % with 48 KB,
	// 10 % with 256 KB, and half and more with 768 KB and 8 MB that are read in random order.
	NoiseError = 0.3
)

// Noise is what one CPU takes away from a thread that runs on it, as observed beforehand. A
// method uses it to correct a figure, or to say how far the figure may be off. The zero value
// means that nothing is known about the CPU.
type Noise struct {
	// WatchedNs is the time for which a thread ran on the CPU while it was observed, without the
	// time in which another thread had the CPU according to the kernel (run-queue wait, and steal
	// that the kernel knows of). It is 0 if nothing is known. All other fields relate to this
	// running time.
	WatchedNs float64
	// LostShare is the mean share of a thread's running time that is lost while the thread keeps its CPU.
	// LossesPerSecond is the number of these losses per second, and LongestLossNs the length of the longest.
	LostShare, LossesPerSecond, LongestLossNs float64
	// SwitchNs is the time that a preemption takes in addition to the run-queue wait. It is NaN if there was no
	// preemption.
	SwitchNs float64
	// RefillNs is the time that it takes to get RefilledBytes of data back into the caches after a preemption, beyond
	// what programs cause that leave the caches as they are. It is NaN if there was no preemption.
	RefillNs float64
	// Refills is the number of preemptions of which RefillNs is the median.
	Refills int
}

// fewestRefills is the number of preemptions from which on their median tells what neighbours do.
const fewestRefills = 5

// MostColdNs returns the longest time for which a thread that uses that many bytes refills its caches after a preemption.
func (n Noise) MostColdNs(bytes float64) float64 {
	if !(n.RefillNs > 0) || n.Refills < fewestRefills {
		return ColdNs
	}
	return ColdNs + n.RefillNs*(bytes+kernelBytes)/RefilledBytes
}

// Known reports whether the CPU was observed.
func (n Noise) Known() bool { return n.WatchedNs > 0 }
