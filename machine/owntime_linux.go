package machine

import (
	"math"

	"golang.org/x/sys/unix"
)

// OwnCPUNs returns the CPU time of this process and of the children that it has waited for
// (getrusage(2)); NaN if the system does not tell.
func OwnCPUNs() (ns float64) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var usage unix.Rusage
		if err := unix.Getrusage(who, &usage); err != nil {
			return math.NaN()
		}
		ns += float64(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return ns
}
