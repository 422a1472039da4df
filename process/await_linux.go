package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
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
	usedByEnd, ended, endless := a.pollUntilEnd()
	for !ended {
		change, err := changeOf(a.pid, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT)
		usedByEnd, ended = ownCPUNs(), err == nil && change.ended()
		if ended {
			break
		}
		if err == nil {
			endless = cmp.Or(endless, a.killStopped())
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
	r.MaxRSSBytes = usage.Maxrss * 1024
	return r, endless
}

// peakBeyond returns the peak of memory that wait4(2) tells of an untraced program, or 0 if that may be the peak of this
// process, ourBytes, which the kernel counts at the exec. That count and /proc's differ by some pages for each CPU: only a
// peak of twice as much is surely the program's.
func peakBeyond(toldBytes, ourBytes int64) int64 {
	if ourBytes == 0 || toldBytes < 2*ourBytes {
		return 0
	}
	return toldBytes
}

// peakOf returns the peak of memory of an untraced program that has ended; 0 if what wait4(2) tells may be that of this
// process. Reading this one takes longer than noticing the end of a short program: it is read only if what is known of it, as
// it never falls, leaves that open.
func (t *tools) peakOf(toldBytes int64) int64 {
	if toldBytes < 2*t.ownPeakBytes {
		return 0
	}
	t.ownPeakBytes = peakResident(os.Getpid())
	return peakBeyond(toldBytes, t.ownPeakBytes)
}

// These errors say that a program stopped for ever, so that it was ended.
var (
	errStopsForTracer = errors.New("it asked its parent to trace it (PTRACE_TRACEME), stopped for that, and was ended: measure it below a program that traces it")
	errWantsTerminal  = errors.New("it tried to use the terminal, which only the program in the foreground may do, and was ended: give it a file to read, or options that keep it from asking")
)

// wantsTerminal reports whether the system stops a program in the background with this signal because the program reads from
// the terminal, or sets it.
func wantsTerminal(signal unix.Signal) bool { return signal == unix.SIGTTIN || signal == unix.SIGTTOU }

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
// this way; endless is what [awaited.killStopped] returned.
func (a awaited) pollUntilEnd() (usedNs int64, ended bool, endless error) {
	if a.pidfd < 0 {
		return 0, false, nil
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
			return 0, false, endless
		}
		usedNs = ownCPUNs()
		if a.watch != nil {
			a.watch.drain()
		}
		if polled[0].Revents == 0 && slices.ContainsFunc(polled[own:], func(p unix.PollFd) bool { return p.Revents != 0 }) {
			a.drain()
		}
		if polled[0].Revents == 0 {
			endless = cmp.Or(endless, a.killStopped())
		}
	}
	return usedNs, true, endless
}

// lookForStopsMs is the time in milliseconds between looks whether a program has stopped for ever.
const lookForStopsMs = 1000

// killStopped kills a program that has stopped for ever, and says why; nil if it has not. One has asked its parent, which is
// this thread, to trace it (PTRACE_TRACEME), and stops at each of its signals. Another wants the terminal.
func (a awaited) killStopped() (endless error) {
	change, err := changeOf(a.pid, unix.WSTOPPED|unix.WNOHANG)
	switch {
	case err != nil || change.pid != int32(a.pid):
		return nil
	case change.code == cldTrapped:
		endless = errStopsForTracer
	case change.code == cldStopped && wantsTerminal(unix.Signal(change.status)):
		endless = errWantsTerminal
	default:
		return nil
	}
	killGroup(a.pid)
	return endless
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
