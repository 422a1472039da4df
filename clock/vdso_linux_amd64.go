package clock

import (
	"errors"
	"sync"

	"chronoscope/machine"
)

// kernelVDSO returns the vDSO of this process. Its error says why the clocks have to be read by
// system calls.
var kernelVDSO = sync.OnceValues(func() (vdso, error) {
	kernel, err := machine.ReadVDSO()
	if err != nil {
		return vdso{}, err
	}
	return vdsoClocks(kernel)
})

// vdsoClocks finds the functions in the vDSO; only clock_gettime must exist.
func vdsoClocks(kernel machine.VDSO) (v vdso, err error) {
	at := func(name string) (uintptr, bool) {
		offset, ok := kernel.Functions[name]
		return kernel.Base + uintptr(offset), ok
	}
	clockGettime, ok := at("__vdso_clock_gettime")
	if !ok {
		return vdso{}, errors.New("the vDSO has no function __vdso_clock_gettime")
	}
	v.gettime = func(id int32) func() int64 {
		return func() int64 {
			seconds, nanoseconds := callClockGettime(clockGettime, uintptr(id))
			return seconds*1e9 + nanoseconds
		}
	}
	if gettimeofday, ok := at("__vdso_gettimeofday"); ok {
		v.gettimeofday = func() int64 {
			seconds, microseconds := callGettimeofday(gettimeofday)
			return seconds*1e6 + microseconds
		}
	}
	if time, ok := at("__vdso_time"); ok {
		v.time = func() int64 { return callTime(time) }
	}
	return v, nil
}

// The following functions call a C function at an address, on the stack of the goroutine. They
// first grow the stack if it is too small for C code. The kernel guarantees no limit for what its
// functions need; two pages are nearly twice the most that was observed (Go issue 20427). A
// signal handler that interrupts the C code finds its goroutine through thread-local storage,
// which C code does not change, and runs on a stack of its own. The first reading on a new stack,
// or on one that the garbage collector has shrunk, includes the growth: half a microsecond and
// more.

// callClockGettime calls clock_gettime(id, &t).
func callClockGettime(function, id uintptr) (seconds, nanoseconds int64)

// callGettimeofday calls gettimeofday(&t, NULL).
func callGettimeofday(function uintptr) (seconds, microseconds int64)

// callTime calls time(NULL).
func callTime(function uintptr) (seconds int64)
