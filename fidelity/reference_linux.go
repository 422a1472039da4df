package fidelity

import (
	"fmt"
	"io/fs"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
)

// openPTP opens the host's clock through the device of the PTP clock
// (Documentation/driver-api/ptp.rst: clock_gettime with a clock ID made of the file descriptor). Each
// reading calls the hypervisor.
func openPTP(root fs.FS, _ time.Duration) (Reference, *clock.Unavailable) {
	index, err := ptpOfKVM(root)
	if err != nil {
		return Reference{}, &clock.Unavailable{
			Reason: clock.NotSupportedHere, Detail: err.Error(),
			Remedy: "on a virtual machine of KVM, load the module ptp_kvm",
		}
	}
	device := fmt.Sprintf("/dev/ptp%d", index)
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Reference{}, &clock.Unavailable{
			Reason: clock.PermissionDenied, Detail: fmt.Sprintf("opening %s: %v", device, err),
			Remedy: "let this user read " + device,
		}
	}
	c, refused := ptpClock(fd, device)
	if refused != nil {
		unix.Close(fd)
	}
	return c, refused
}

func ptpClock(fd int, device string) (Reference, *clock.Unavailable) {
	id := clockOfFile(fd)
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return Reference{}, &clock.Unavailable{Reason: clock.Refused, Detail: fmt.Sprintf("clock_gettime of %s: %v", device, err)}
	}
	c := rated(clock.Clock{
		API: "clock_gettime(" + device + ")", Kind: clock.KindWall, Scope: clock.ScopeMachine, UnitNs: 1,
		Calendar: true, Settable: true, CountsSleep: clock.Yes, CountsSuspend: clock.Yes,
	}, 0, func() int64 {
		var t unix.Timespec
		if _, _, failed := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&t)), 0); failed != 0 {
			return unread
		}
		return t.Nano()
	})
	// Only once, because the descriptor's number may belong to another file afterwards.
	return Reference{Rated: c, release: sync.OnceValue(func() error { return unix.Close(fd) })}, nil
}

// clockOfFile returns the clock ID of an open device (clock_getres(2), "Dynamic clocks").
func clockOfFile(fd int) int32 { return int32(^fd<<3 | 3) }

// openSynchronised opens the calendar clock if a time service synchronises it.
func openSynchronised(_ fs.FS, span time.Duration) (Reference, *clock.Unavailable) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return Reference{}, &clock.Unavailable{
			Reason: clock.NoSystemCall, Detail: fmt.Sprintf("adjtimex: %v", err),
			Remedy: "a sandbox that allows the call",
		}
	}
	c, err := clock.Open("realtime")
	if err != nil {
		return Reference{}, &clock.Unavailable{Reason: clock.NotSupportedHere, Detail: err.Error()}
	}
	return synchronised(c, discipline{t.Status&unix.STA_UNSYNC == 0, 1e3 * float64(t.Maxerror)}, span)
}
