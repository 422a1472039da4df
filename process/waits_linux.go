package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waits counts the system calls of a traced program that can wait until some time, and other calls that show
// whether its time can be known if it is disturbed.
type waits struct {
	stops         int // how often these calls stopped the program for its tracer
	opens         opens
	count, yields int
	otherPolicy   bool
	// switches is how often threads gave up their CPUs in these calls, and sleepSwitches how often they did so
	// in calls that wait for nothing but a time, or for other threads of their process.
	switches, sleepSwitches int64
	// within holds, by thread, the noted system calls that have begun and at whose exit the thread is stopped as well.
	within map[int]within
	why    error // why not all are counted; once it is set, no more calls are looked at
}

// within is what is known of a thread at the beginning of a system call.
type within struct {
	switches  int64 // how often the thread had given up its CPU
	sleeps    bool  // the call waits for nothing but a time, or for other threads of its process
	setPolicy bool  // the call asks for another scheduling policy
	// times is how often the call was counted. endsNs is the time by this machine's clock at which it stops
	// waiting at the latest; 0 if it is not known.
	times    int
	endsNs   int64
	futex    bool
	usageAt  uint64 // the address at which the call writes what the program used; 0 for other calls
	uptimeAt uint64 // the address at which sysinfo(2) writes; 0 for other calls
}

var (
	errManyCalls     = errors.New("it makes too many system calls that are to be looked at: not all of them were")
	errAsksForTracer = errors.New("it asks whether it is traced: what it does then may not be what it does otherwise")
	errOtherMachine  = errors.New("a program of another architecture: its system calls are not known here")
)

// If a program makes very many noted calls, not all are looked at; it still stops shortly in each, since the
// filter can't be removed. manyStops stops are looked at in any case, mostStops at most, and in between as long
// as the stops take at most a quarter of the time. A stop is taken to cost stopNs: two switches from one thread
// to another, and the signal to a CPU that may be idle. The real cost is not measured: on a busy machine it
// would hold the tracer's waits for a CPU.
const manyStops, mostStops, stopNs = 10_000, 200_000, 20e3

// tooMany reports whether the stops cost more than they tell.
func tooMany(stops int, sinceStart time.Duration) bool {
	return stops > mostStops || stops > manyStops && int64(stops)*stopNs > sinceStart.Nanoseconds()/4
}

// syscallStop is the signal number of a stop at the exit of a system call (PTRACE_O_TRACESYSGOOD).
const syscallStop = unix.SIGTRAP | 0x80

// syscallInfo is the kernel's struct ptrace_syscall_info (include/uapi/linux/ptrace.h) for the entry to a
// system call, or for a stop by a filter.
type syscallInfo struct {
	op      uint8
	_       [3]uint8
	machine uint32
	_, _    uint64 // instruction and stack pointer
	number  uint64 // at an exit: what the call returned
	args    [6]uint64
	_       uint64 // of other kinds of stops
}

const stoppedByFilter = 3 // PTRACE_SYSCALL_INFO_SECCOMP

// lookAtCall returns what the kernel tells of a thread's stop at a system call.
func lookAtCall(thread int) (info syscallInfo, err error) {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	switch errno {
	case 0:
		return info, nil
	case unix.ESRCH: // it was killed meanwhile
		return info, errno
	}
	return info, fmt.Errorf("looking at system calls: ptrace(PTRACE_GET_SYSCALL_INFO): %w: Linux 5.3 and later tell of them", errno)
}

// note looks at a thread that the filter has stopped at the beginning of a system call. If the call waits until
// a time of the clocks that the program is shown, note adapts that time ([looks.shift]). It returns the kind of
// the call, and what the file tells that the call opens.
func (w *waits) note(thread int, sinceStart time.Duration, shown *looks, stoppedNs int64) (what callKind, tells fileTells) {
	info, err := lookAtCall(thread)
	if err == nil && info.known() && notedCalls[info.number].what == fileOpened {
		return fileOpened, w.opens.look(thread, &info, sinceStart)
	}
	if w.why == nil && tooMany(w.stops, sinceStart) {
		w.why = errManyCalls
	}
	if w.why != nil {
		return what, nothing
	}
	w.stops++
	switch {
	case errors.Is(err, unix.ESRCH), err == nil && info.op != stoppedByFilter: // killed meanwhile, and maybe stopped at its end
	case err != nil:
		w.why = err
	case !info.known():
		w.why = errOtherMachine
	default:
		w.enter(thread, &info, func(at uint64, into []byte) bool {
			n, err := unix.PtracePeekData(thread, uintptr(at), into)
			return err == nil && n == len(into)
		})
		if w.ends(thread) {
			shown.shift(thread, &info, stoppedNs)
		}
		return notedCalls[info.number].what, nothing
	}
	return what, nothing
}

// known reports whether a filter stopped the thread at this call, and the call is one of this architecture (of
// amd64 also not one of x32).
func (i *syscallInfo) known() bool {
	return i.op == stoppedByFilter && i.machine == thisMachine && i.number < otherNumbers
}

// enter counts the call that a thread begins.
func (w *waits) enter(thread int, info *syscallInfo, read readMemory) {
	times := info.noted(read)
	if times == 0 {
		return
	}
	if w.within == nil {
		w.within = map[int]within{}
	}
	switch notedCalls[info.number].what {
	case timedWait:
		w.count += times
		in := within{switches: voluntarySwitches(thread), sleeps: info.sleeps(), times: times, futex: info.number == unix.SYS_FUTEX}
		if ns := info.timeoutNs(read); ns > 0 {
			in.endsNs = monotonicNs() + ns
		}
		w.within[thread] = in
	case policyChange:
		w.within[thread] = within{setPolicy: true}
	case yield:
		w.yields++
	case usageRead:
		w.within[thread] = within{usageAt: info.args[1]}
	case uptimeRead:
		w.within[thread] = within{uptimeAt: info.args[0]}
	case tracing:
		w.why = errAsksForTracer
	}
}

// answered reports whether what the call waited for came before its time-out, and would also have done so at
// the time atNs. Then the call is no wait until some time: alone, the program would not reach the time-out
// either.
func (in within) answered(returned, atNs int64) bool {
	found := returned > 0 && !in.futex || returned == 0 && in.futex
	return in.times == 1 && found && atNs < in.endsNs
}

// preemptionsOffset is the offset of ru_nivcsw in struct rusage: it follows two times of two words each and 13
// numbers (getrusage(2)).
const preemptionsOffset = (2*2 + 13) * wordBytes

// loads is the number of load averages that follow the seconds of uptime in struct sysinfo (sysinfo(2)).
const loads = 3

// leave notes how the system call of a thread ended. If the call told how often the program was preempted, or how busy
// the machine is, leave writes 0 there: so the program does what it would do alone. It sets back the time for which the
// machine has been up by as much as the clocks that the program is shown. Many programs do not want to know that time:
// glibc's qsort(3) makes the call for the size of the memory.
func (w *waits) leave(thread int, shown *looks, stoppedNs int64) {
	w.stops++
	if info, err := lookAtCall(thread); err == nil && int64(info.number) >= 0 {
		in := w.within[thread]
		if in.answered(int64(info.number), monotonicNs()+shown.lateNs(thread)) {
			w.count -= in.times
			delete(w.within, thread)
		}
		w.otherPolicy = w.otherPolicy || in.setPolicy
		if in.usageAt != 0 {
			poke(thread, uintptr(in.usageAt+preemptionsOffset), make([]byte, wordBytes))
		}
		if in.uptimeAt != 0 && shown != nil {
			if offNs, known := shown.offNs(thread, stoppedNs); known {
				seconds := (clockNs(unix.CLOCK_BOOTTIME) - offNs + 1e9 - 1) / 1e9 // the kernel rounds up
				poke(thread, uintptr(in.uptimeAt), append(binary.NativeEndian.AppendUint64(nil, uint64(seconds)), make([]byte, loads*wordBytes)...))
			}
		}
	}
	w.exit(thread)
}

// exit enters that a thread leaves the system call that it is in, or exits.
func (w *waits) exit(thread int) {
	if in, ok := w.within[thread]; ok && in.switches > 0 {
		switches := max(0, voluntarySwitches(thread)-in.switches-1)
		if w.switches += switches; in.sleeps {
			w.sleepSwitches += switches
		}
	}
	delete(w.within, thread)
}

// ends reports whether a thread is in a call whose end is to be seen.
func (w *waits) ends(thread int) bool {
	if w == nil {
		return false
	}
	_, in := w.within[thread]
	return in
}

// voluntarySwitches returns how often a thread gave up its CPU, from /proc/TID/status (proc_pid_status(5)); 0
// if that can't be read.
func voluntarySwitches(thread int) int64 {
	return parseCount(statusOf(thread), "voluntary_ctxt_switches:", "")
}
