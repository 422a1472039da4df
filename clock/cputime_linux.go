package clock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// userHz is the number of ticks per second of times(2), whatever the rate of the kernel's own
// tick (time(7), "USER_HZ").
const userHz = 100

// cpuClock returns the description of a clock that counts time on a CPU: it stands still while
// its thread or process sleeps.
func cpuClock(scope Scope, unitNs float64, api string) Clock {
	return Clock{
		API: api, Kind: KindCPU, Scope: scope, UnitNs: unitNs,
		CountsSleep: No, CountsSuspend: No,
	}
}

// openTimes opens times(2): user plus system time of the process, without its children.
func openTimes() (*Clock, error) {
	return New(cpuClock(ScopeProcess, 1e9/userHz, "times(2)"), func() int64 {
		var t unix.Tms
		unix.RawSyscall(unix.SYS_TIMES, uintptr(unsafe.Pointer(&t)), 0, 0)
		return int64(t.Utime) + int64(t.Stime)
	}), nil
}

// openClock opens the clock that clock(3) of the C library reads: the process's CPU time,
// rounded down to microseconds (CLOCKS_PER_SEC).
func openClock() (*Clock, error) {
	process := posixClocks["process-cputime"]
	if err := offered(process); err != nil {
		return nil, err
	}
	read := gettimeBySyscall(process.id)
	description := cpuClock(ScopeProcess, 1e3, "as clock(3): "+process.call()+", system call")
	return New(description, func() int64 { return read() / 1e3 }), nil
}

// openRusage opens getrusage(2): user plus system time. The kernel scales the two so that their
// sum is the exact run time; the sum is therefore finer than the parts.
func openRusage(who int, name string, scope Scope) opener {
	return func() (*Clock, error) {
		description := cpuClock(scope, 1e3, "getrusage("+name+")")
		return New(description, func() int64 {
			var u unix.Rusage
			unix.RawSyscall(unix.SYS_GETRUSAGE, uintptr(who), uintptr(unsafe.Pointer(&u)), 0)
			return int64(u.Utime.Sec+u.Stime.Sec)*1e6 + int64(u.Utime.Usec+u.Stime.Usec)
		}), nil
	}
}
