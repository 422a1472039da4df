package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waits counts the system calls of a traced program that can wait until some time.
type waits struct {
	count int
	// switches are how often threads gave up their CPUs in these calls. before is how often
	// those that are in one had done so by its beginning.
	switches int64
	before   map[int]int64
	why      error // they are not all counted
}

// mostStoppedNs is for how long, in all, a program may stand still for its system calls to
// be looked at. One that makes very many would hardly get on.
const mostStoppedNs = 2e9

var (
	errManyCalls    = errors.New("it makes too many system calls to look at each")
	errOtherMachine = errors.New("a program of another architecture: its system calls are not known here")
)

// syscallStop is the signal that stands for a stop at a system call
// (PTRACE_O_TRACESYSGOOD).
const syscallStop = unix.SIGTRAP | 0x80

// syscallInfo is the kernel's struct ptrace_syscall_info (include/uapi/linux/ptrace.h), of
// the entry to a system call.
type syscallInfo struct {
	op      uint8
	_       [3]uint8
	machine uint32
	_, _    uint64 // instruction and stack pointer
	number  uint64
	args    [6]uint64
	_       uint64 // of other kinds of stops
}

const syscallEntry = 1 // PTRACE_SYSCALL_INFO_ENTRY

// note looks at a thread that has stopped at a system call.
func (w *waits) note(thread int) {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case errno == unix.ESRCH: // it was killed meanwhile
	case errno != 0:
		w.why = fmt.Errorf("looking at system calls: ptrace(PTRACE_GET_SYSCALL_INFO): %w: Linux 5.3 and later tell of them", errno)
	case info.op != syscallEntry:
		w.leave(thread)
	case info.machine != thisMachine:
		w.why = errOtherMachine
	default:
		w.enter(thread, info.waits(func(at uint64, into []byte) bool {
			n, err := unix.PtracePeekData(thread, uintptr(at), into)
			return err == nil && n == len(into)
		}))
	}
}

// enter is a thread that begins a system call with so many timed waits.
func (w *waits) enter(thread, timed int) {
	if timed == 0 {
		return
	}
	w.count += timed
	if w.before == nil {
		w.before = map[int]int64{}
	}
	w.before[thread] = voluntarySwitches(thread)
}

// leave is a thread that ends a system call, or itself. To stop for that is a switch, too.
func (w *waits) leave(thread int) {
	if before, timed := w.before[thread]; timed && before > 0 {
		w.switches += max(0, voluntarySwitches(thread)-before-1)
	}
	delete(w.before, thread)
}

// voluntarySwitches are how often a thread gave up its CPU, by /proc/TID/status
// (proc_pid_status(5)); 0 where it is not there.
func voluntarySwitches(thread int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return 0
	}
	return parseCount(text, "voluntary_ctxt_switches:")
}

// timedCall says how a system call is given the time until which it waits at most.
type timedCall struct {
	form timeForm
	// arg is the argument that holds it.
	arg int
	// files is the argument that holds how many files are waited for; 0 where there is
	// none, or where it is the first and form says so.
	files int
}

// timeForm is how a time is given.
type timeForm uint8

const (
	always      timeForm = iota // that is what the call is for
	nonzero                     // a number
	millisecond                 // a C int, below 0 for ever
	pointer                     // to two words, null for ever
	timer                       // a pointer to an interval and a time, each of two words
	realTimer                   // as timer; the first argument is 0 where it is no CPU time
	selected                    // as pointer; the first argument is how many files are waited for
	futex                       // as pointer, where the operation waits
)

// timedCalls are the system calls that can wait until some time, by their numbers: those
// of every architecture, and this one's own.
var timedCalls = func() map[uint64]timedCall {
	all := map[uint64]timedCall{
		unix.SYS_NANOSLEEP:       {form: always},
		unix.SYS_CLOCK_NANOSLEEP: {form: always},
		unix.SYS_IO_URING_SETUP:  {form: always}, // what is asked of it then needs no call
		unix.SYS_PSELECT6:        {form: selected, arg: 4},
		unix.SYS_PPOLL:           {form: pointer, arg: 2, files: 1},
		unix.SYS_EPOLL_PWAIT:     {form: millisecond, arg: 3},
		unix.SYS_EPOLL_PWAIT2:    {form: pointer, arg: 3},
		unix.SYS_FUTEX:           {form: futex, arg: 3},
		unix.SYS_FUTEX_WAITV:     {form: pointer, arg: 3},
		unix.SYS_FUTEX_WAIT:      {form: pointer, arg: 4},
		unix.SYS_TIMERFD_SETTIME: {form: timer, arg: 2},
		unix.SYS_TIMER_SETTIME:   {form: timer, arg: 2},
		unix.SYS_SETITIMER:       {form: realTimer, arg: 1},
		unix.SYS_RT_SIGTIMEDWAIT: {form: pointer, arg: 2},
		unix.SYS_MQ_TIMEDSEND:    {form: pointer, arg: 4},
		unix.SYS_MQ_TIMEDRECEIVE: {form: pointer, arg: 4},
		unix.SYS_RECVMMSG:        {form: pointer, arg: 4},
		unix.SYS_IO_GETEVENTS:    {form: pointer, arg: 4},
		unix.SYS_IO_PGETEVENTS:   {form: pointer, arg: 4},
	}
	for number, call := range ownTimedCalls {
		all[number] = call
	}
	return all
}()

// repeating is for how many waits a timer counts that goes off again and again: for more than
// a program is seen to make.
const repeating = 1 << 20

// waits tells how often a thread can wait until some time by the call. read reads the
// program's memory.
func (i *syscallInfo) waits(read func(at uint64, into []byte) bool) int {
	call, timed := timedCalls[i.number]
	switch {
	case !timed || !i.timed(call, read):
		return 0
	case (call.form == timer || call.form == realTimer) && !zero(i.args[call.arg], read):
		return repeating
	}
	return 1
}

// timed tells whether the call is given a time. Programs that are late may ask for no time at
// all, where they sleep; where they wait for files, that is just a look.
func (i *syscallInfo) timed(call timedCall, read func(at uint64, into []byte) bool) bool {
	given := i.args[call.arg]
	none := (call.files > 0 || call.form == selected) && i.args[call.files] == 0
	switch call.form {
	case always:
		return true
	case nonzero:
		return uint32(given) != 0
	case millisecond:
		return int32(given) > 0 || int32(given) == 0 && none
	case timer, realTimer:
		cpuTime := call.form == realTimer && uint32(i.args[0]) != 0 // ITIMER_VIRTUAL, ITIMER_PROF
		return given != 0 && !cpuTime && !zero(given+2*wordBytes, read)
	case futex:
		return given != 0 && futexWaits(uint32(i.args[1]))
	}
	return given != 0 && (none || !zero(given, read))
}

const wordBytes = 8

// zero tells whether two words of the program's memory are; what can't be read is not.
func zero(at uint64, read func(at uint64, into []byte) bool) bool {
	var words [2 * wordBytes]byte
	return read(at, words[:]) && binary.NativeEndian.Uint64(words[:]) == 0 && binary.NativeEndian.Uint64(words[wordBytes:]) == 0
}

// futexWaits tells the operations of futex(2) whose fourth argument is a time.
func futexWaits(operation uint32) bool {
	const private, realtime = 128, 256
	switch operation &^ (private | realtime) {
	case 0, 6, 9, 11, 13: // WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2
		return true
	}
	return false
}
