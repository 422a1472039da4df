package clock

import "golang.org/x/sys/unix"

// goTimeCountsSuspend is No because Go reads mach_absolute_time, which stops during a suspend.
const goTimeCountsSuspend = No

// systemClocks opens the clocks of macOS through its C library (clock_gettime(3), getrusage(2),
// gettimeofday(2)). Unlike on Linux, the monotonic clocks go on while the machine is suspended.
var systemClocks = map[string]opener{
	"realtime": openPosix(unix.CLOCK_REALTIME, Clock{API: "clock_gettime(CLOCK_REALTIME)",
		Kind: KindWall, Scope: ScopeMachine, Calendar: true, Settable: true, CountsSleep: Yes, CountsSuspend: Yes}),
	"monotonic": openPosix(unix.CLOCK_MONOTONIC, Clock{API: "clock_gettime(CLOCK_MONOTONIC)",
		Kind: KindWall, Scope: ScopeMachine, CountsSleep: Yes, CountsSuspend: Yes}),
	"monotonic-raw": openPosix(unix.CLOCK_MONOTONIC_RAW, Clock{API: "clock_gettime(CLOCK_MONOTONIC_RAW)",
		Kind: KindWall, Scope: ScopeMachine, CountsSleep: Yes, CountsSuspend: Yes}),
	"process-cputime": openPosix(unix.CLOCK_PROCESS_CPUTIME_ID, Clock{API: "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
		Kind: KindCPU, Scope: ScopeProcess, CountsSleep: No, CountsSuspend: No}),
	"thread-cputime": openPosix(unix.CLOCK_THREAD_CPUTIME_ID, Clock{API: "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
		Kind: KindCPU, Scope: ScopeThread, CountsSleep: No, CountsSuspend: No}),
	"gettimeofday":   openGettimeofday,
	"getrusage-self": openRusage,
}

// openPosix opens a clock ID of clock_gettime(3), in nanoseconds.
func openPosix(id int32, description Clock) opener {
	return func() (*Clock, error) {
		var t unix.Timespec
		if err := unix.ClockGettime(id, &t); err != nil {
			return nil, &Unavailable{Reason: Refused, Detail: description.API + ": " + err.Error()}
		}
		description.UnitNs = 1
		return New(description, func() int64 {
			var t unix.Timespec
			unix.ClockGettime(id, &t)
			return t.Nano()
		}), nil
	}
}

func openGettimeofday() (*Clock, error) {
	return New(Clock{API: "gettimeofday(2)", Kind: KindWall, Scope: ScopeMachine, UnitNs: 1e3,
		Calendar: true, Settable: true, CountsSleep: Yes, CountsSuspend: Yes,
	}, func() int64 {
		var t unix.Timeval
		unix.Gettimeofday(&t)
		return t.Sec*1e6 + int64(t.Usec)
	}), nil
}

func openRusage() (*Clock, error) {
	return New(Clock{API: "getrusage(RUSAGE_SELF)", Kind: KindCPU, Scope: ScopeProcess, UnitNs: 1e3,
		CountsSleep: No, CountsSuspend: No,
	}, func() int64 {
		var u unix.Rusage
		unix.Getrusage(unix.RUSAGE_SELF, &u)
		return (u.Utime.Sec+u.Stime.Sec)*1e6 + int64(u.Utime.Usec) + int64(u.Stime.Usec)
	}), nil
}
