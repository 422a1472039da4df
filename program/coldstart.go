package program

import (
	"cmp"
	"math"

	"chronoscope/machine"
)

// coldPerByteNs is the longest time for which a program refills the caches if it starts late, for each byte of its memory,
// up to mostColdBytes: what one run of a larger program leaves there is gone before the next one gets to it. 12 ms after
// the run before them, a program of 1.4 MB took 0.12 ms longer, gzip 0.23, grep 0.33, git 0.45, and node, of 45 MB, no
// longer, beside endless loops and on an idle machine alike (KVM guest, EPYC Zen 4). kernelColdBytes is what the kernel
// reads to start and end a program: a small one took 0.29 ms longer when it began 20 ms, not 1 ms, after the previous
// run. promptNs is a time in which the caches lose little.
const coldPerByteNs, mostColdBytes, kernelColdBytes, promptNs = 0.2, 4 << 20, 3 << 19, 1e6

// displacedBytes returns the memory that a preemption may displace: that of the largest process; if it is unknown (0), as
// much as looks at the CPU refill.
func displacedBytes(largest int64) float64 { return float64(cmp.Or(largest, machine.RefilledBytes)) }

// coldBytes returns the memory that the runs may find in the caches.
func (s *series) coldBytes() float64 {
	if s.peakOfAll == 0 {
		return mostColdBytes
	}
	return math.Min(float64(s.peakOfAll+kernelColdBytes), mostColdBytes)
}

// allowForColdStart lowers the lower bound of a run whose start others delayed. Until it began, the caches lost the
// program's data: to others that had its CPU, and on a virtual machine to other guests. bytes is what [series.coldBytes]
// returns.
func (r *Run) allowForColdStart(bytes float64) {
	r.coldStartNs = 0
	if r.startKeptNs > promptNs {
		r.coldStartNs = coldPerByteNs * bytes
		r.allowFor(r.coldStartNs)
	}
}
