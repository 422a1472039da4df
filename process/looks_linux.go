package process

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// looks are those of a traced program at clocks that go on while it does not run. Programs look
// by the functions of the vDSO, without a system call: a breakpoint stands in each of these. A
// thread that meets one stops. The tracer does what the instruction does that belongs there, or has
// the thread execute it as a single step, and writes the breakpoint again after that: other threads
// may pass meanwhile, unseen.
type looks struct {
	leader int // the program's first process
	count  int
	// workNs is what [Run.ClockWorkNs] says, of the threads that have ended.
	workNs int64
	// why says why not all are known. Then no more breakpoints are written, and those that are
	// met are taken out for good.
	why error
	// of are the looks of each thread that looked.
	of map[int]*threadLooks
	// at are the functions in which breakpoints were written, by their addresses in programs.
	at map[uintptr]function
	// stepping are the threads that execute what belongs to a breakpoint's place, and where.
	stepping map[int]uintptr
}

// threadLooks are the looks of one thread at clocks.
type threadLooks struct {
	firstNs int64 // its CPU time at the first one
	// laterNs is what it had used since then at later ones. One that is less than a tenth later
	// than the one before is left out, so that there are some hundred at most.
	laterNs []int64
}

// Looks cost some 50 µs each. A program may look manyLooks times at once, and once more for each
// perLookNs of its CPU time. By the clock there would be no bound: beside competitors a stop may
// take longer than that.
const manyLooks, perLookNs = 256, 1e6

var errManyLooks = errors.New("it looks at clocks too often: not all of its looks were counted")

func newLooks(leader int) *looks {
	return &looks{leader: leader, of: map[int]*threadLooks{}, at: map[uintptr]function{}, stepping: map[int]uintptr{}}
}

// begin writes breakpoints into a new program, at whose first instruction a thread stands still.
func (l *looks) begin(thread int) {
	if l == nil {
		return
	}
	delete(l.stepping, thread)
	if used, err := readThread(thread); err == nil {
		l.end(thread, used.CPUNs) // what the program before looked for does not matter to this one
	}
	if l.why == nil {
		l.why = l.write(thread)
	}
}

func (l *looks) write(thread int) error {
	vdso, err := machine.ReadVDSO()
	if err != nil {
		return fmt.Errorf("finding looks at clocks: %w", err)
	}
	functions, err := vdsoClocks(vdso)
	if err != nil {
		return err
	}
	base, err := vdsoBase(thread)
	if err != nil {
		return err
	}
	for _, f := range functions {
		at, there := base+f.offset, make([]byte, len(f.code))
		err := peek(thread, at, there)
		if err == nil && !bytes.Equal(there, f.code) {
			return fmt.Errorf("finding looks at clocks: %w", errOtherMachine)
		}
		if err == nil {
			err = poke(thread, at, breakpoint)
		}
		if err != nil {
			return fmt.Errorf("finding looks at clocks: ptrace: %w", err)
		}
		l.at[at] = f
	}
	return nil
}

// stopped writes the breakpoint again that a thread was to pass, and tells whether there is one.
func (l *looks) stopped(thread int) (stepped bool) {
	if l == nil {
		return false
	}
	at, stepped := l.stepping[thread]
	if delete(l.stepping, thread); stepped && l.why == nil {
		l.keep(poke(thread, at, breakpoint))
	}
	return stepped
}

// trapped tells whether a SIGTRAP is the doing of a breakpoint or of the step that follows it,
// and has the thread go on from there. Where another thread has written the breakpoint again
// before the step, the thread meets it once more.
func (l *looks) trapped(thread int, stepped bool) bool {
	var r registers
	if l == nil || r.read(thread) != nil {
		return false
	}
	at := r.instruction() - breakpointAdvance
	f, known := l.at[at]
	switch code := signalCode(thread); {
	case code == trapTrace && stepped:
		return true
	case !known || code != trapBreakpoint && code != signalKernel:
		return false
	}
	if !f.named || !clockOfCPUTime(r.firstArgument()) {
		l.look(thread)
	}
	if l.why == nil && r.pass(thread, f.code) {
		l.keep(r.write(thread))
		return true
	}
	l.keep(poke(thread, at, f.code))
	r.setInstruction(at)
	l.keep(r.write(thread))
	if l.why == nil {
		l.stepping[thread] = at
	}
	return true
}

// What the kernel says that a SIGTRAP is for (sigaction(2)): TRAP_BRKPT, TRAP_TRACE and, for int3,
// SI_KERNEL.
const trapBreakpoint, trapTrace, signalKernel = 1, 2, 0x80

// signalCode is what the signal is for that a thread has stopped with.
func signalCode(thread int) int32 {
	var info struct { // siginfo_t
		_, _, code int32
		_          [116]byte
	}
	unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(thread), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	return info.code
}

// keep keeps an error that makes looks unknown. A thread that was killed meanwhile makes none.
func (l *looks) keep(err error) {
	if l.why == nil && !errors.Is(err, unix.ESRCH) {
		l.why = err
	}
}

// look is a look of a thread at a clock.
func (l *looks) look(thread int) {
	l.count++
	used, err := readThread(thread)
	if err != nil { // it was killed meanwhile
		return
	}
	if l.count > manyLooks+int(max(used.CPUNs, processCPUNs(l.leader))/perLookNs) {
		l.keep(errManyLooks)
	}
	if l.of[thread] == nil {
		l.of[thread] = &threadLooks{firstNs: used.CPUNs}
	}
	l.of[thread].later(used.CPUNs)
}

// processCPUNs is the CPU time of a process, by the clock of clock_getcpuclockid(3); 0 where it has
// none.
func processCPUNs(pid int) int64 {
	const sum = 2 // of all threads
	var used unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|sum), &used) != nil {
		return 0
	}
	return used.Nano()
}

func (t *threadLooks) later(cpuNs int64) {
	since := cpuNs - t.firstNs
	if n := len(t.laterNs); since > 0 && (n == 0 || since > t.laterNs[n-1]+t.laterNs[n-1]/10) {
		t.laterNs = append(t.laterNs, since)
	}
}

// end is a thread that ends, or becomes another program, after so much CPU time.
func (l *looks) end(thread int, cpuNs int64) {
	if l == nil {
		return
	}
	if t := l.of[thread]; t != nil {
		l.workNs += t.workNs(cpuNs)
	}
	delete(l.of, thread)
	delete(l.stepping, thread)
}

// workNs is the CPU time that the thread used both before a look, since its first one, and after
// it: the most of all looks.
func (t *threadLooks) workNs(cpuNs int64) (most int64) {
	for _, since := range t.laterNs {
		most = max(most, min(since, cpuNs-t.firstNs-since))
	}
	return most
}

// steps tells whether a thread is to execute the one instruction at a breakpoint.
func (l *looks) steps(thread int) bool {
	if l == nil {
		return false
	}
	_, steps := l.stepping[thread]
	return steps
}
