package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// awaited is a running untraced program. It was started between before and after.
type awaited struct {
	pid, pidfd    int
	watch         *watch       // nil if nothing is noted
	waitNs        func() int64 // how long this thread has waited for a CPU
	before, after time.Time
	long          bool // it is expected to run for longer than attentive
	drain         func()
	drainFDs      []int
}

// await waits for the program's end. When it has ended, and before it is reaped, the counters of its first
// thread can still be read.
func (a awaited) await(ctx context.Context) (Run, error) {
	defer killGroup(a.pid)
	stop := context.AfterFunc(ctx, func() { killGroup(a.pid) })
	defer stop()
	r := Run{WaitOf: NoThread}
	waitedNs, used := a.waitNs(), ownCPUNs()
	usedByEnd, ended, stopped := a.pollUntilEnd()
	for !ended {
		change, err := changeOf(a.pid, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT)
		usedByEnd, ended = ownCPUNs(), err == nil && change.ended()
		if ended {
			break
		}
		if err == nil {
			stopped = a.killStopped() || stopped
		} else if err != unix.EINTR {
			return r, fmt.Errorf("waiting for process %d: waitid: %w", a.pid, err)
		}
	}
	seen := time.Now()
	r.BesideNs = usedByEnd - used
	r.WallNs = seen.Sub(a.before).Nanoseconds()
	late := max(0, a.waitNs()-waitedNs) + wakeUpNs
	r.WallErrorNs = a.after.Sub(a.before).Nanoseconds() + late
	if first, err := readThread(a.pid); err == nil {
		first.LateNs = late + time.Since(seen).Nanoseconds()
		r.Threads, r.WaitOf = []Thread{first}, FirstThread
	}
	if attr, err := unix.SchedGetAttr(a.pid, 0); err == nil {
		r.OtherPolicy = !normalPolicy(attr.Policy)
	}
	var status unix.WaitStatus
	var usage unix.Rusage
	if _, err := wait(a.pid, 0, &status, &usage); err != nil {
		return r, fmt.Errorf("waiting for process %d: wait4: %w", a.pid, err)
	}
	r.ended(status, &usage)
	if stopped {
		return r, errStopsForTracer
	}
	return r, nil
}

var errStopsForTracer = errors.New("it asked its parent to trace it (PTRACE_TRACEME), stopped for that, and was ended: measure it below a program that traces it")

// wakeUpNs is an approximate upper bound of the time that an idle CPU takes to wake up a thread.
const wakeUpNs = 200e3

// attentive is the time for which the end of a program is awaited without telling the Go runtime that this
// thread waits. If it is told, the runtime wakes up another thread to do its work. That takes about as long as
// a short program, on the CPU on which the program would run. If it is not told, the runtime can't stop this
// thread to collect garbage: so the time is short. Beside programs that are expected to take longer, the
// runtime is told at once: until then its monitor wakes up every 20 µs.
const attentive = 2 * time.Millisecond

// pollUntilEnd waits for the program's end, and empties the kernel's buffers before they are full. It returns
// the CPU time that this process had used by that end. ended is false if the system does not tell of the end
// this way; stopped is what [awaited.killStopped] returned.
func (a awaited) pollUntilEnd() (usedNs int64, ended, stopped bool) {
	if a.pidfd < 0 {
		return 0, false, false
	}
	polled := []unix.PollFd{{Fd: int32(a.pidfd), Events: unix.POLLIN}}
	if a.watch != nil {
		for _, ring := range a.watch.rings {
			polled = append(polled, unix.PollFd{Fd: int32(ring.FD), Events: unix.POLLIN})
		}
	}
	own := len(polled)
	for _, fd := range a.drainFDs {
		polled = append(polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for polled[0].Revents == 0 {
		var err error
		if left := attentive - time.Since(a.after); left > 0 && !a.long {
			err = pollUntold(polled, left)
		} else {
			_, err = unix.Poll(polled, lookForStopsMs)
		}
		if err != nil && err != unix.EINTR {
			return 0, false, stopped
		}
		usedNs = ownCPUNs()
		if a.watch != nil {
			a.watch.drain()
		}
		if polled[0].Revents == 0 && slices.ContainsFunc(polled[own:], func(p unix.PollFd) bool { return p.Revents != 0 }) {
			a.drain()
		}
		if polled[0].Revents == 0 {
			stopped = a.killStopped() || stopped
		}
	}
	return usedNs, true, stopped
}

// lookForStopsMs is the time in milliseconds between looks whether a program has stopped for its tracer.
const lookForStopsMs = 1000

// killStopped kills a program that has asked its parent, which is this thread, to trace it (PTRACE_TRACEME),
// and has stopped for that, as it does at each of its signals: it would stay stopped for ever. It reports
// whether it killed the program.
func (a awaited) killStopped() bool {
	change, err := changeOf(a.pid, unix.WSTOPPED|unix.WNOHANG)
	if err != nil || change.pid != int32(a.pid) || change.code != cldTrapped {
		return false
	}
	killGroup(a.pid)
	return true
}

// pollUntold polls for up to the time d without telling the Go runtime.
func pollUntold(polled []unix.PollFd, d time.Duration) error {
	limit := unix.NsecToTimespec(d.Nanoseconds())
	_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polled[0])), uintptr(len(polled)), uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
