package lateness

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/env"
)

// KernelTimers returns Linux's timers. A thread of its own waits for them by system calls that the Go
// scheduler does not see and so can't delay. It runs on the given CPUs, or on any if none are given.
func KernelTimers(cpus ...int) []Timer {
	held := func(t Timer) Timer {
		waker := t.Waker
		t.Waker = func(length time.Duration) (Wake, func(), error) {
			unlock, err := env.Thread(cpus...)
			if err != nil {
				return nil, nil, err
			}
			unblock := blockPreemption()
			wake, release, err := waker(length)
			if err != nil {
				unblock()
				unlock()
				return nil, nil, err
			}
			return wake, func() { release(); unblock(); unlock() }, nil
		}
		return t
	}
	return []Timer{
		held(Timer{Name: "nanosleep", Waker: once(func(length time.Duration) error { return sleepUntil(0, length) })}),
		held(Timer{Name: "nanosleep, slack of 1 ns", Waker: withoutSlack}),
		held(Timer{Name: "clock_nanosleep, absolute", Periodic: true, Waker: absolute}),
		held(Timer{Name: "timerfd", Periodic: true, Waker: timerfd}),
		held(Timer{Name: "epoll_wait", Unit: time.Millisecond, Waker: epoll}),
	}
}

// blockPreemption blocks the signal by which Go's runtime asks this thread's goroutine to yield. To
// the runtime the thread seems to compute while it waits, so it would be asked every 10 ms, and one
// wake-up in ten of a timer of 1 ms would be later.
func blockPreemption() (unblock func()) {
	var urgent, before unix.Sigset_t
	urgent.Val[0] = 1 << (unix.SIGURG - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &urgent, &before); err != nil {
		return nothing
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }
}

// SlackNs is the time by which the kernel may delay timers of the calling thread, to wake once for
// several of them (prctl(2), PR_GET_TIMERSLACK).
func SlackNs() (ns int64, err error) {
	n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	return int64(n), err
}

// sleepUntil calls clock_nanosleep(2): for a length, or with TIMER_ABSTIME until a moment. It continues
// after a signal, such as those by which Go's runtime preempts goroutines. It does not tell the Go
// scheduler that it blocks, which would make wake-ups later.
func sleepUntil(flags int, length time.Duration) error {
	left := unix.NsecToTimespec(int64(length))
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, uintptr(flags),
			uintptr(unsafe.Pointer(&left)), uintptr(unsafe.Pointer(&left)), 0, 0)
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
			continue
		}
		return fmt.Errorf("clock_nanosleep: %w", errno)
	}
}

// withoutSlack is nanosleep on a thread whose timers the kernel may not delay.
func withoutSlack(length time.Duration) (Wake, func(), error) {
	usual, err := SlackNs()
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the timer slack can't be set (prctl(2), PR_SET_TIMERSLACK): %w", err)
	}
	wake, _, err := once(func(length time.Duration) error { return sleepUntil(0, length) })(length)
	return wake, func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(usual), 0, 0, 0) }, err
}

// monotonicNs returns CLOCK_MONOTONIC without a system call: one through Go's runtime would take another
// microsecond after each wake-up.
func monotonicNs() int64 {
	m := moment()
	return m.ns + int64(time.Since(m.at))
}

// moment is one moment by both Go's clock and CLOCK_MONOTONIC. CLOCK_MONOTONIC is read between two
// readings of Go's clock, 100 times; the pair of readings that are closest together counts.
var moment = sync.OnceValue(func() (m struct {
	at time.Time
	ns int64
}) {
	narrowest := time.Duration(math.MaxInt64)
	for range 100 {
		var now unix.Timespec
		before := time.Now()
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
		if width := time.Since(before); width < narrowest {
			narrowest, m.at, m.ns = width, before.Add(width/2), now.Nano()
		}
	}
	return m
})

// absolute sleeps until moments that are a length apart, as cyclictest does. A moment that has already
// passed counts as missed.
func absolute(length time.Duration) (Wake, func(), error) {
	next := monotonicNs()
	return func(context.Context) (float64, int, error) {
		next += int64(length)
		missed := 0
		for ; next <= monotonicNs(); missed++ {
			next += int64(length)
		}
		err := sleepUntil(unix.TIMER_ABSTIME, time.Duration(next))
		return float64(monotonicNs() - next), missed, err
	}, nothing, nil
}

// timerfd reads from a periodic timer (timerfd_create(2)), which says how often it has expired.
func timerfd(length time.Duration) (Wake, func(), error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("timerfd_create: %w", err)
	}
	at := monotonicNs()
	each := unix.NsecToTimespec(int64(length))
	first := unix.NsecToTimespec(at + int64(length))
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &unix.ItimerSpec{Interval: each, Value: first}, nil); err != nil {
		unix.Close(fd)
		return nil, nil, fmt.Errorf("timerfd_settime: %w", err)
	}
	return func(context.Context) (float64, int, error) {
		var expired [8]byte
		for {
			_, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&expired)), 8)
			if errno == 0 {
				break
			}
			if errno != unix.EINTR {
				return 0, 0, fmt.Errorf("reading a timerfd: %w", errno)
			}
		}
		now := monotonicNs()
		times := int64(binary.NativeEndian.Uint64(expired[:]))
		at += times * int64(length)
		return float64(now - at), int(times - 1), nil
	}, func() { unix.Close(fd) }, nil
}

// epoll waits without any event, with the length as its timeout, as event loops with timers of their own
// do.
func epoll(length time.Duration) (Wake, func(), error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("epoll_create1: %w", err)
	}
	wake, _, err := once(func(length time.Duration) error {
		var event unix.EpollEvent
		for until := monotonicNs() + int64(length); ; {
			left := (until - monotonicNs() + int64(time.Millisecond) - 1) / int64(time.Millisecond)
			_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&event)), 1, uintptr(max(left, 0)), 0, 8)
			if errno != unix.EINTR {
				return errnoOrNil(errno)
			}
		}
	})(length)
	return wake, func() { unix.Close(fd) }, err
}

func errnoOrNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return fmt.Errorf("epoll_pwait: %w", errno)
}
