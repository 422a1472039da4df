package clock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// openGettimeofday opens the calendar clock in microseconds.
func openGettimeofday() (*Clock, error) {
	read, api := gettimeofdayBySyscall, "gettimeofday(2), system call"
	if v, err := kernelVDSO(); err == nil && v.gettimeofday != nil {
		read, api = preferred("gettimeofday(2)", v.gettimeofday, gettimeofdayBySyscall)
	}
	description := wallClock(Clock{API: api, Calendar: true, Settable: true, CountsSuspend: Yes})
	description.UnitNs = 1e3
	return New(description, read), nil
}

func gettimeofdayBySyscall() int64 {
	var t unix.Timeval
	unix.RawSyscall(unix.SYS_GETTIMEOFDAY, uintptr(unsafe.Pointer(&t)), 0, 0)
	return int64(t.Sec)*1e6 + int64(t.Usec)
}

// openTime opens the calendar clock in seconds, time(2). If the vDSO has no function for it,
// openTime reads the coarse realtime clock, as the C library does.
func openTime() (*Clock, error) {
	coarse := posixClocks["realtime-coarse"]
	if err := offered(coarse); err != nil {
		return nil, err
	}
	readCoarse, api := gettime(coarse)
	api = "seconds of " + api
	read := func() int64 { return readCoarse() / 1e9 }
	if v, err := kernelVDSO(); err == nil && v.time != nil && agree(read, v.time) {
		read, api = v.time, "time(2) in the vDSO"
	}
	description := wallClock(Clock{API: api, Calendar: true, Settable: true, CountsSuspend: Yes})
	description.UnitNs = 1e9
	return New(description, read), nil
}
