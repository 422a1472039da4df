package process

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// notedCall describes a system call that the filter stops at and that is counted: why (what), and under which condition
// on its arguments (form, arg). For most, the condition is that an argument limits how long the call waits.
type notedCall struct {
	what callKind
	form callForm
	// arg is the index of the argument that form is about.
	arg int
	// files is the index of the argument with the number of files that are waited for; 0 if there is none, or
	// if it is the first argument and form says so.
	files int
}

// callKind is the reason for which a call is noted.
type callKind uint8

const (
	timedWait callKind = iota // it can wait until some time
	yield
	policyChange // it asks for a scheduling policy other than the normal ones
	clockRead    // it tells the time
	usageRead    // it tells what the program used, and how often it was preempted
	uptimeRead   // it tells for how many seconds the machine has been up, and how busy it is
	tracing      // it fails if the program is traced
	fileOpened   // it opens a file for reading, which may tell how long the program has waited
)

// callForm is the condition under which a call is to be noted, in terms of its argument arg.
type callForm uint8

const (
	always      callForm = iota // in all cases
	nonzero                     // a number other than 0
	millisecond                 // a C int; below 0 is for ever
	pointer                     // to two words; null is for ever
	timer                       // a pointer to an interval and a time, each of two words
	realTimer                   // as timer; the first argument is 0 if the time is no CPU time
	selected                    // as pointer; the first argument is how many files are waited for
	futex                       // as pointer, if the operation waits
	policy                      // a scheduling policy, with flags
	attributes                  // a pointer to struct sched_attr, whose second word is the policy
	socketTime                  // an option of a socket
	ownUsage                    // whose usage to tell (getrusage(2)), unless it is that of children
	traceMe                     // a request of ptrace(2) to be traced by its parent
	clockTime                   // a clock, unless it is one of CPU time; clockCode marks its own calls
	ring                        // as always; many waits follow that need no call
	pathname                    // a path, with flags in the next argument (open(2))
)

// notedCalls holds the system calls that are noted, by number: those of every architecture, and those of this
// one alone. Both the filter and the count use it.
var notedCalls = func() map[uint64]notedCall {
	all := map[uint64]notedCall{
		unix.SYS_NANOSLEEP:          {form: always},
		unix.SYS_CLOCK_NANOSLEEP:    {form: always},
		unix.SYS_IO_URING_SETUP:     {form: ring},
		unix.SYS_PSELECT6:           {form: selected, arg: 4},
		unix.SYS_PPOLL:              {form: pointer, arg: 2, files: 1},
		unix.SYS_EPOLL_PWAIT:        {form: millisecond, arg: 3},
		unix.SYS_EPOLL_PWAIT2:       {form: pointer, arg: 3},
		unix.SYS_FUTEX:              {form: futex, arg: 3},
		unix.SYS_FUTEX_WAITV:        {form: pointer, arg: 3},
		unix.SYS_FUTEX_WAIT:         {form: pointer, arg: 4},
		unix.SYS_TIMERFD_SETTIME:    {form: timer, arg: 2},
		unix.SYS_TIMER_SETTIME:      {form: timer, arg: 2},
		unix.SYS_SETITIMER:          {form: realTimer, arg: 1},
		unix.SYS_RT_SIGTIMEDWAIT:    {form: pointer, arg: 2},
		unix.SYS_MQ_TIMEDSEND:       {form: pointer, arg: 4},
		unix.SYS_MQ_TIMEDRECEIVE:    {form: pointer, arg: 4},
		unix.SYS_RECVMMSG:           {form: pointer, arg: 4},
		unix.SYS_IO_GETEVENTS:       {form: pointer, arg: 4},
		unix.SYS_IO_PGETEVENTS:      {form: pointer, arg: 4},
		unix.SYS_SETSOCKOPT:         {form: socketTime, arg: 2},
		unix.SYS_SCHED_YIELD:        {what: yield},
		unix.SYS_SCHED_SETSCHEDULER: {what: policyChange, form: policy, arg: 1},
		unix.SYS_SCHED_SETATTR:      {what: policyChange, form: attributes, arg: 1},
		unix.SYS_CLOCK_GETTIME:      {what: clockRead, form: clockTime},
		unix.SYS_GETTIMEOFDAY:       {what: clockRead},
		unix.SYS_TIMES:              {what: clockRead},
		unix.SYS_SYSINFO:            {what: uptimeRead},
		unix.SYS_ADJTIMEX:           {what: clockRead},
		unix.SYS_CLOCK_ADJTIME:      {what: clockRead},
		unix.SYS_GETITIMER:          {what: clockRead},
		unix.SYS_TIMER_GETTIME:      {what: clockRead},
		unix.SYS_TIMERFD_GETTIME:    {what: clockRead},
		unix.SYS_GETRUSAGE:          {what: usageRead, form: ownUsage},
		unix.SYS_PTRACE:             {what: tracing, form: traceMe},
		unix.SYS_OPENAT:             {what: fileOpened, form: pathname, arg: 1},
		unix.SYS_OPENAT2:            {what: fileOpened, arg: 1},
	}
	for number, call := range ownNotedCalls {
		all[number] = call
	}
	return all
}()

// repeating is the number of waits that is counted for a timer that goes off repeatedly, for a time limit that
// holds for all later waits, and for a ring in which waits are requested without a call. It is larger than the
// number of waits that a program is seen to make.
const repeating = 1 << 20

// readMemory reads the program's memory, and reports whether it could.
type readMemory func(at uint64, into []byte) bool

// noted returns the number of waits that the call counts for: 0 if it is not noted, 1, or repeating.
func (i *syscallInfo) noted(read readMemory) int {
	call, known := notedCalls[i.number]
	switch {
	case !known || !i.asks(call, read):
		return 0
	case (call.form == timer || call.form == realTimer) && !zero(i.args[call.arg], read), call.form == socketTime, call.form == ring:
		return repeating
	}
	return 1
}

// sleeps reports whether a call waits for nothing but a time, or for other threads of its own process.
func (i *syscallInfo) sleeps() bool {
	switch call := notedCalls[i.number]; {
	case i.number == unix.SYS_NANOSLEEP, i.number == unix.SYS_CLOCK_NANOSLEEP:
		return true
	case call.files > 0, call.form == selected:
		return i.args[call.files] == 0
	case call.form == futex:
		return i.args[1]&futexPrivate != 0
	}
	return false
}

// absoluteTime returns the address in the program's memory of the time until which a call waits; 0 if it waits
// for no time of a clock that goes on while the program does not run.
func (i *syscallInfo) absoluteTime() uintptr {
	const absolute = 1 // TIMER_ABSTIME and TFD_TIMER_ABSTIME
	switch i.number {
	case unix.SYS_CLOCK_NANOSLEEP:
		if i.args[1]&absolute != 0 && !clockOfCPUTime(uint32(i.args[0])) {
			return uintptr(i.args[2])
		}
	case unix.SYS_TIMERFD_SETTIME:
		if i.args[1]&absolute != 0 && i.args[2] != 0 {
			return uintptr(i.args[2] + 2*wordBytes)
		}
	case unix.SYS_FUTEX:
		if operation := uint32(i.args[1]) &^ futexFlags; operation != 0 && slices.Contains(timedFutexes, operation) {
			return uintptr(i.args[3])
		}
	}
	return 0
}

// timeoutNs returns the longest time for which the call waits for files, or for another thread; 0 if it is not
// known.
func (i *syscallInfo) timeoutNs(read readMemory) int64 {
	call := notedCalls[i.number]
	waitsForFiles := call.files > 0 || call.form == selected || i.number == unix.SYS_EPOLL_PWAIT2
	switch {
	case call.form == millisecond:
		return int64(int32(i.args[call.arg])) * 1e6
	case !waitsForFiles && (call.form != futex || uint32(i.args[1])&^futexFlags != 0): // only the time of FUTEX_WAIT is relative
		return 0
	}
	var words [2 * wordBytes]byte
	if !read(i.args[call.arg], words[:]) {
		return 0
	}
	seconds, rest := int64(binary.NativeEndian.Uint64(words[:])), int64(binary.NativeEndian.Uint64(words[wordBytes:]))
	if seconds < 0 || seconds > 1<<20 || rest < 0 || rest >= 1e9 {
		return 0
	}
	if call.form == selected && i.number != unix.SYS_PSELECT6 { // select(2) is given microseconds
		rest *= 1e3
	}
	return seconds*1e9 + rest
}

// asks reports, by a call's arguments, whether the noted call counts. A program that is late may ask to sleep for no
// time, which counts. A call that waits for files for no time only looks at them, and does not count.
func (i *syscallInfo) asks(call notedCall, read readMemory) bool {
	given := i.args[call.arg]
	none := (call.files > 0 || call.form == selected) && i.args[call.files] == 0
	switch call.form {
	case always, ring:
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
	case policy:
		return !normalPolicy(uint32(given))
	case attributes:
		var words [wordBytes]byte // the first word holds size and policy (sched_setattr(2))
		return !read(given, words[:]) || !normalPolicy(binary.NativeEndian.Uint32(words[4:]))
	case clockTime:
		return uint32(i.args[markArg]) != clockMark && !clockOfCPUTime(uint32(given))
	case traceMe:
		return given == unix.PTRACE_TRACEME
	case ownUsage:
		return int32(given) >= 0
	case pathname:
		return uint32(i.args[call.arg+1])&openedForOther == 0
	case socketTime:
		return uint32(i.args[1]) == unix.SOL_SOCKET && slices.Contains(socketTimes, uint32(given))
	}
	return given != 0 && (none || !zero(given, read))
}

const wordBytes = 8

// zero reports whether two words of the program's memory are zero; false if they can't be read.
func zero(at uint64, read readMemory) bool {
	var words [2 * wordBytes]byte
	return read(at, words[:]) && binary.NativeEndian.Uint64(words[:]) == 0 && binary.NativeEndian.Uint64(words[wordBytes:]) == 0
}

// futexPrivate is FUTEX_PRIVATE_FLAG, for threads of one process. futexFlags also has FUTEX_CLOCK_REALTIME.
const futexPrivate, futexFlags = 128, 128 | 256

// timedFutexes are the operations of futex(2) whose fourth argument is a time: WAIT, LOCK_PI,
// WAIT_BITSET, WAIT_REQUEUE_PI and LOCK_PI2.
var timedFutexes = []uint32{0, 6, 9, 11, 13}

func futexWaits(operation uint32) bool { return slices.Contains(timedFutexes, operation&^futexFlags) }

// resetOnFork is the flag SCHED_RESET_ON_FORK.
const resetOnFork = 0x40000000

// normalPolicies are SCHED_OTHER, SCHED_BATCH and SCHED_IDLE (sched(7)).
var normalPolicies = []uint32{0, 3, 5}

func normalPolicy(policy uint32) bool { return slices.Contains(normalPolicies, policy&^resetOnFork) }

// clockMark is the value that clockCode passes as the argument markArg, which clock_gettime(2) does not have:
// its own looks are noted already.
const clockMark, markArg = 0x10c5, 3

// cpuClocks holds CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID. The numbers of the CPU clocks of other
// processes and threads are below 0 (clock_getcpuclockid(3)).
var cpuClocks = []uint32{2, 3}

func clockOfCPUTime(id uint32) bool { return int32(id) < 0 || slices.Contains(cpuClocks, id) }

// socketTimes are SO_RCVTIMEO and SO_SNDTIMEO (socket(7)), each in its old and its new form.
var socketTimes = []uint32{20, 21, 66, 67}

// openedForOther holds the flags of open(2) for folders, and for files that are not read.
const openedForOther = unix.O_DIRECTORY | unix.O_WRONLY | unix.O_PATH
