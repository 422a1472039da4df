package tracepoint

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// costCalls is the number of calls in a mean, and costTries the number of means; the least mean counts. All calls
// together take about 1 ms.
const costCalls, costTries = 500, 5

// CostNs returns the nanoseconds that the kernel takes to record an event if the caches hold the code and data
// for it: by how much recording lengthens a system call that does nothing. The error is an [*Unavailable].
func CostNs() (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := LeastCallNs()
	r, err := openOnline([]source{{path: "syscalls/sys_enter_getppid", kind: TimedCall}})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	recorded := LeastCallNs()
	if events := len(r.TakeAll()); events < costCalls*costTries || recorded <= before {
		return 0, &Unavailable{Reason: Refused, Detail: fmt.Sprintf("of %d calls %d were recorded, and took %.3g ns each, %.3g before", costCalls*costTries, events, recorded, before)}
	}
	return recorded - before, nil
}

// CallsEvent returns the kernel's number of the tracepoint at the beginning of each system call. The error is an
// [*Unavailable].
func CallsEvent() (uint64, error) {
	d, err := describe([]source{{path: "raw_syscalls/sys_enter"}})
	if err != nil {
		return 0, err
	}
	var number uint64
	for id := range d.layouts {
		number = uint64(id)
	}
	return number, nil
}

// LeastCallNs returns the time in nanoseconds of a system call that does nothing. All calls take longer while
// [OpenWithTimedCalls] records, though they leave no event.
func LeastCallNs() float64 {
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
