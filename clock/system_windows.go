package clock

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// goTimeCountsSuspend is Unknown because Go reads either the interrupt time, which according to
// its documentation includes the time asleep, or the performance counter, whose documentation
// does not say.
const goTimeCountsSuspend = Unknown

// fileTimeUnitNs is the unit of a FILETIME, in nanoseconds.
const fileTimeUnitNs = 100

var (
	kernel32                  = windows.NewLazySystemDLL("kernel32.dll")
	queryPerformanceCounter   = kernel32.NewProc("QueryPerformanceCounter")
	queryPerformanceFrequency = kernel32.NewProc("QueryPerformanceFrequency")
	getThreadTimes            = kernel32.NewProc("GetThreadTimes")
)

// systemClocks opens the clocks of Windows.
var systemClocks = map[string]opener{
	"realtime":        openFileTime("GetSystemTimePreciseAsFileTime"),
	"realtime-coarse": openFileTime("GetSystemTimeAsFileTime"),
	"monotonic":       openPerformanceCounter,
	"process-cputime": openProcessTimes,
	"thread-cputime":  openThreadTimes,
}

// openFileTime opens a calendar clock that counts in units of 100 ns since 1970. It calls the
// function at its address, because each reading through package windows would allocate.
func openFileTime(api string) opener {
	return func() (*Clock, error) {
		get := kernel32.NewProc(api)
		if err := get.Find(); err != nil {
			return nil, &Unavailable{Reason: NoSystemCall, Detail: err.Error(), Remedy: "Windows 8 or newer has it"}
		}
		function := get.Addr()
		return New(Clock{API: api, Kind: KindWall, Scope: ScopeMachine, UnitNs: fileTimeUnitNs,
			Calendar: true, Settable: true, CountsSleep: Yes, CountsSuspend: Yes,
		}, func() int64 {
			var t windows.Filetime
			syscall.SyscallN(function, uintptr(unsafe.Pointer(&t)))
			return t.Nanoseconds() / fileTimeUnitNs
		}), nil
	}
}

func openPerformanceCounter() (*Clock, error) {
	var hz int64
	ok, _, err := syscall.SyscallN(queryPerformanceFrequency.Addr(), uintptr(unsafe.Pointer(&hz)))
	if ok == 0 || hz <= 0 {
		return nil, &Unavailable{Reason: Refused, Detail: fmt.Sprintf("QueryPerformanceFrequency: %v", err)}
	}
	function := queryPerformanceCounter.Addr()
	return New(Clock{API: "QueryPerformanceCounter", Kind: KindWall, Scope: ScopeMachine, UnitNs: 1e9 / float64(hz),
		CountsSleep: Yes, CountsSuspend: Unknown,
	}, func() int64 {
		var ticks int64
		syscall.SyscallN(function, uintptr(unsafe.Pointer(&ticks)))
		return ticks
	}), nil
}

func openProcessTimes() (*Clock, error) {
	process := windows.CurrentProcess()
	return New(cpuTimes("GetProcessTimes", ScopeProcess), func() int64 {
		var created, exited, kernel, user windows.Filetime
		windows.GetProcessTimes(process, &created, &exited, &kernel, &user)
		return duration(kernel) + duration(user)
	}), nil
}

func openThreadTimes() (*Clock, error) {
	thread, function := windows.CurrentThread(), getThreadTimes.Addr()
	return New(cpuTimes("GetThreadTimes", ScopeThread), func() int64 {
		var created, exited, kernel, user windows.Filetime
		syscall.SyscallN(function, uintptr(thread),
			uintptr(unsafe.Pointer(&created)), uintptr(unsafe.Pointer(&exited)),
			uintptr(unsafe.Pointer(&kernel)), uintptr(unsafe.Pointer(&user)))
		return duration(kernel) + duration(user)
	}), nil
}

func cpuTimes(api string, scope Scope) Clock {
	return Clock{API: api, Kind: KindCPU, Scope: scope, UnitNs: fileTimeUnitNs, CountsSleep: No, CountsSuspend: No}
}

// duration returns the value of a FILETIME that is a duration, not a date, in units of 100 ns.
func duration(t windows.Filetime) int64 {
	return int64(t.HighDateTime)<<32 | int64(t.LowDateTime)
}
