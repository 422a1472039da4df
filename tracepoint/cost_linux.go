package tracepoint

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A call that does nothing is repeated costCalls times, and the least of costTries is taken: 1 ms in all.
const costCalls, costTries = 500, 5

// CostNs returns the time that the kernel takes to record an event: by how much longer a system call that does
// nothing takes where it is recorded, again and again, with all that this needs in the caches. The error is an
// [*Unavailable].
func CostNs() (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpus, err := onlineCPUs()
	if err != nil {
		return 0, unavailable(err)
	}
	before := leastCallNs()
	r, err := open([]source{{path: "syscalls/sys_enter_getppid", kind: TimedCall}}, cpus)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	recorded := leastCallNs()
	if events := len(r.TakeAll()); events < costCalls*costTries || recorded <= before {
		return 0, &Unavailable{Reason: Refused, Detail: fmt.Sprintf("of %d calls %d were recorded, and took %.3g ns each, %.3g before", costCalls*costTries, events, recorded, before)}
	}
	return recorded - before, nil
}

func leastCallNs() float64 {
	least := time.Duration(math.MaxInt64)
	for range costTries {
		begun := time.Now()
		for range costCalls {
			unix.Getppid()
		}
		least = min(least, time.Since(begun))
	}
	return float64(least) / costCalls
}
