package perfring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// aheadNs is by how much this process's CLOCK_MONOTONIC is ahead of the machine's, by which the kernel times its records:
// a time namespace shifts it for the process (time_namespaces(7)).
var aheadNs atomic.Int64

// Now returns the present time by the clock of the records, the machine's CLOCK_MONOTONIC, in nanoseconds. In a time
// namespace it does so once an event was opened by [Open]; before that there is no record to compare it with.
func Now() int64 { return monotonic() - aheadNs.Load() }

func monotonic() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return now.Nano()
}

var compare struct {
	sync.Mutex
	done bool
}

// compareOnce sets aheadNs, which never changes: a process with several threads can't enter another time namespace.
func compareOnce() error {
	compare.Lock()
	defer compare.Unlock()
	if compare.done {
		return nil
	}
	ns, err := compareClocks()
	if err == nil {
		aheadNs.Store(ns)
		compare.done = true
	}
	return err
}

// compareTries is how many records are compared with the clock; the one between the two closest readings counts.
const compareTries = 5

// compareClocks returns the value of aheadNs. It lets the kernel note that this thread is given the name that it has. The
// time of that record lies between two readings of the clock, unless that is shifted. /proc/self/timens_offsets would tell
// the same, but some kernels show there what child processes will have, and /proc may be missing.
func compareClocks() (int64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := open(&unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample_type: unix.PERF_SAMPLE_TIME,
		Bits:    unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitComm | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID,
		Clockid: unix.CLOCK_MONOTONIC,
	}, 0, -1, 1)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var name [16]byte // of a thread (prctl(2))
	if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_NAME, uintptr(unsafe.Pointer(&name)), 0); errno != 0 {
		return 0, fmt.Errorf("prctl(PR_GET_NAME): %w", errno)
	}
	ahead, closest := int64(0), int64(math.MaxInt64)
	for range compareTries {
		before := monotonic()
		_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name)), 0)
		after := monotonic()
		if errno != 0 {
			return 0, fmt.Errorf("prctl(PR_SET_NAME): %w", errno)
		}
		at, ok := noted(r.Take(nil))
		if !ok {
			return 0, errors.New("the kernel notes no change of a thread's name")
		}
		if after-before < closest {
			ahead, closest = aheadOf(at, before, after), after-before
		}
	}
	return ahead, nil
}

// noted returns the time of the record in raw that a thread was given a name: it is the record's last field.
func noted(raw []byte) (atNs int64, ok bool) {
	Records(raw, func(kind uint32, _ uint16, body []byte) {
		if n := len(body); kind == Comm && n >= 8 {
			atNs, ok = int64(binary.NativeEndian.Uint64(body[n-8:])), true
		}
	})
	return atNs, ok
}

// aheadOf returns by how much a clock that read before and after is ahead of another one that read at in between; 0 if
// they may be the same.
func aheadOf(at, before, after int64) int64 {
	if before <= at && at <= after {
		return 0
	}
	return before + (after-before)/2 - at
}
