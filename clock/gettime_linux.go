package clock

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// posixClock is one clock ID of clock_gettime(2), read in nanoseconds.
type posixClock struct {
	id   int32
	name string // name of the C constant
	// bySyscall says that the clock is read through the system call even if there is a vDSO.
	bySyscall bool
	Clock
}

// posixClocks holds the clock IDs by the names of this package. clock_gettime(2) and the kernel's
// Documentation/core-api/timekeeping say what each counts. The vDSO would only pass those that count time on a CPU on to
// the system call.
var posixClocks = map[string]posixClock{
	"realtime":          {unix.CLOCK_REALTIME, "CLOCK_REALTIME", false, wallClock(Clock{Calendar: true, Settable: true, CountsSuspend: Yes})},
	"realtime-coarse":   {unix.CLOCK_REALTIME_COARSE, "CLOCK_REALTIME_COARSE", false, wallClock(Clock{Calendar: true, Settable: true, CountsSuspend: Yes})},
	"monotonic":         {unix.CLOCK_MONOTONIC, "CLOCK_MONOTONIC", false, wallClock(Clock{CountsSuspend: No})},
	"monotonic-syscall": {unix.CLOCK_MONOTONIC, "CLOCK_MONOTONIC", true, wallClock(Clock{CountsSuspend: No})},
	"monotonic-raw":     {unix.CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW", false, wallClock(Clock{CountsSuspend: No})},
	"monotonic-coarse":  {unix.CLOCK_MONOTONIC_COARSE, "CLOCK_MONOTONIC_COARSE", false, wallClock(Clock{CountsSuspend: No})},
	"boottime":          {unix.CLOCK_BOOTTIME, "CLOCK_BOOTTIME", false, wallClock(Clock{CountsSuspend: Yes})},
	"tai":               {unix.CLOCK_TAI, "CLOCK_TAI", false, wallClock(Clock{Settable: true, CountsSuspend: Yes})},
	"process-cputime":   {unix.CLOCK_PROCESS_CPUTIME_ID, "CLOCK_PROCESS_CPUTIME_ID", true, cpuClock(ScopeProcess, 1, "")},
	"thread-cputime":    {unix.CLOCK_THREAD_CPUTIME_ID, "CLOCK_THREAD_CPUTIME_ID", true, cpuClock(ScopeThread, 1, "")},
}

// openPosix opens a clock ID, and describes how it is read.
func openPosix(p posixClock) opener {
	return func() (*Clock, error) {
		if err := offered(p); err != nil {
			return nil, err
		}
		read, api := gettimeBySyscall(p.id), p.call()+", system call"
		if !p.bySyscall {
			read, api = gettime(p)
		}
		description := p.Clock
		description.API = api
		return New(description, read), nil
	}
}

// wallClock sets in c the properties that all wall clocks of the kernel share.
func wallClock(c Clock) Clock {
	c.Kind, c.Scope, c.UnitNs, c.CountsSleep = KindWall, ScopeMachine, 1, Yes
	return c
}

func (p posixClock) call() string { return "clock_gettime(" + p.name + ")" }

// offered returns an error if the kernel does not know the clock ID.
func offered(p posixClock) error {
	var t unix.Timespec
	if err := unix.ClockGettime(p.id, &t); err != nil {
		return &Unavailable{
			Reason: NoSystemCall,
			Detail: fmt.Sprintf("%s: %v", p.call(), err),
			Remedy: "a newer kernel, or a sandbox that allows the call",
		}
	}
	return nil
}

// gettime returns a function that reads the clock ID, and the description of how it does.
func gettime(p posixClock) (read func() int64, api string) {
	v, err := kernelVDSO()
	direct := gettimeBySyscall(p.id)
	if err != nil {
		return direct, fmt.Sprintf("%s, system call (vDSO: %v)", p.call(), err)
	}
	return preferred(p.call(), v.gettime(p.id), direct)
}

// preferred chooses between a function of the vDSO (fast) and the system call of the same name
// (direct), and describes the choice. It does not choose a vDSO whose readings lie outside the
// readings by the system call before and after them.
func preferred(call string, fast, direct func() int64) (read func() int64, api string) {
	switch {
	case !agree(direct, fast):
		return direct, call + ", system call (the vDSO reads something else)"
	case !muchFaster(fast, direct):
		return fast, call + ", which the vDSO passes on to the system call"
	}
	return fast, call + " in the vDSO"
}

// gettimeBySyscall returns a function that reads the clock without telling the Go scheduler,
// whose time would otherwise be measured too.
func gettimeBySyscall(id int32) func() int64 {
	return func() int64 {
		var t unix.Timespec
		unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&t)), 0)
		return t.Nano()
	}
}

// agree reports whether a reading of b lies between two readings of a. One success in three tries
// is enough, because the clock may be set between the readings.
func agree(a, b func() int64) bool {
	for range 3 {
		before, between, after := a(), b(), a()
		if before <= between && between <= after {
			return true
		}
	}
	return false
}

// muchFaster reports whether fast takes less than 2/3 of the time of slow, each in the best of
// several runs. A function that reads the clock in user space is that much faster than one of
// the same name that enters the kernel.
func muchFaster(fast, slow func() int64) bool {
	return 3*leastDuration(time.Now, fast) < 2*leastDuration(time.Now, slow)
}
