//go:build linux && (amd64 || arm64)

package clock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// openGettimeofday opens the calendar clock in microseconds.
func openGettimeofday() (*Clock, error) {
	description := wallClock(Clock{Calendar: true, Settable: true, CountsSuspend: Yes}, "gettimeofday(2), system call")
	description.UnitNs = 1e3
	read := gettimeofdayBySyscall
	if v, err := kernelVDSO(); err == nil && v.gettimeofday != 0 {
		read = gettimeofdayByVDSO(v.gettimeofday)
		description.API = "gettimeofday in the vDSO"
		if !muchFaster(read, gettimeofdayBySyscall) {
			description.API = "gettimeofday, which the vDSO passes on to the system call"
		}
	}
	return New(description, read), nil
}

func gettimeofdayBySyscall() int64 {
	var t unix.Timeval
	unix.RawSyscall(unix.SYS_GETTIMEOFDAY, uintptr(unsafe.Pointer(&t)), 0, 0)
	return t.Sec*1e6 + t.Usec
}

func gettimeofdayByVDSO(function uintptr) func() int64 {
	return func() int64 {
		seconds, microseconds := callGettimeofday(function)
		return seconds*1e6 + microseconds
	}
}

// openTime opens the calendar clock in seconds, time(2). Where an architecture
// has no function for it, the C library takes the coarse realtime clock, and so
// does this.
func openTime() (*Clock, error) {
	description := wallClock(Clock{Calendar: true, Settable: true, CountsSuspend: Yes}, "time in the vDSO")
	description.UnitNs = 1e9
	if v, err := kernelVDSO(); err == nil && v.time != 0 {
		return New(description, func() int64 { return callTime(v.time) }), nil
	}
	coarse := posixClocks["realtime-coarse"]
	if err := offered(coarse); err != nil {
		return nil, err
	}
	read, api := gettime(coarse)
	description.API = "seconds of " + api
	return New(description, func() int64 { return read() / 1e9 }), nil
}
