package machine

import (
	"bytes"
	"fmt"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Thread reads the kernel's counters of the operating system thread that opened it. A look takes
// 1 to 2 µs and allocates nothing.
type Thread struct {
	schedstat int // file descriptor
	text      [96]byte
}

// OpenThread opens the counters of the calling thread, to which the goroutine must be locked. It
// needs /proc and a kernel that counts run-queue waits (CONFIG_SCHED_INFO); if that is turned off,
// its error is [ErrUncounted].
func OpenThread() (*Thread, error) {
	const name = "/proc/thread-self/schedstat"
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("run-queue wait: opening %s: %w: mount /proc (mount -t proc proc /proc), or allow it to be read; the kernel needs CONFIG_SCHED_INFO", name, err)
	}
	t := &Thread{schedstat: fd}
	if _, err := t.Look(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close closes the file.
func (t *Thread) Close() error { return unix.Close(t.schedstat) }

// Look reads the counters as they are now.
func (t *Thread) Look() (ThreadUse, error) {
	var u ThreadUse
	n, err := unix.Pread(t.schedstat, t.text[:], 0)
	if err != nil {
		return u, fmt.Errorf("run-queue wait: reading /proc/thread-self/schedstat: %w", err)
	}
	if u.WaitNs, err = parseSchedstatWait(t.text[:n]); err != nil {
		return u, err
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return u, fmt.Errorf("context switches: getrusage: %w", err)
	}
	u.VoluntarySwitches, u.InvoluntarySwitches = int64(usage.Nvcsw), int64(usage.Nivcsw)
	u.MinorFaults, u.MajorFaults = int64(usage.Minflt), int64(usage.Majflt)
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return u, fmt.Errorf("CPU time of the thread: %w", err)
	}
	u.CPUNs = now.Nano()
	u.CPU, err = CurrentCPU()
	return u, err
}

// CurrentCPU returns the CPU on which the calling thread runs (getcpu(2)).
func CurrentCPU() (int, error) {
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return 0, fmt.Errorf("the CPU that the thread runs on: getcpu: %w", errno)
	}
	return int(cpu), nil
}

// parseSchedstatWait returns the second of the three numbers: time on the CPU, time waiting for a
// CPU, and number of time slices, of a thread that has run.
func parseSchedstatWait(text []byte) (int64, error) {
	if Uncounted(text) {
		return 0, fmt.Errorf("run-queue wait: %w", ErrUncounted)
	}
	_, rest, ok := bytes.Cut(text, []byte(" "))
	wait, _, ok2 := bytes.Cut(rest, []byte(" "))
	if ok && ok2 {
		if ns, err := strconv.ParseInt(string(wait), 10, 64); err == nil && ns >= 0 {
			return ns, nil
		}
	}
	return 0, fmt.Errorf("run-queue wait: /proc/thread-self/schedstat holds %q, not three numbers", clip(string(text)))
}
