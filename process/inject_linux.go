package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterCalls has a program that is stopped at its first instruction install the filter. The filter stays in
// the program and in all that it starts; without a tracer the calls that it stops would fail. A program without
// rights that could get some by starting another program may not install a filter (seccomp(2)): it gives up
// that possibility first. stops is how often the program was stopped meanwhile.
func filterCalls(thread int, opens bool) (stops int, err error) {
	info, err := lookAtCall(thread)
	if err != nil {
		return 0, err
	}
	if info.machine != thisMachine {
		return 0, errOtherMachine
	}
	in, err := enterThread(thread)
	if err != nil {
		return 0, fmt.Errorf("entering the program to have it filter its system calls: %w", err)
	}
	errno := in.install(callFilter(opens))
	if errno == unix.EACCES {
		if errno = in.call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); errno == 0 {
			errno = in.install(callFilter(opens))
		}
	}
	if err := in.leave(); err != nil {
		return in.stops, fmt.Errorf("leaving the program that filters its system calls: %w", err)
	}
	if errno != 0 {
		return in.stops, fmt.Errorf("filtering system calls: seccomp: %w: allow it in the container's seccomp profile", errno)
	}
	return in.stops, nil
}

// entered is a stopped thread that makes system calls for the tracer.
type entered struct {
	thread    int
	registers registers // to be restored
	code      []byte    // at the instruction pointer, to be restored
	memory    []byte    // at scratch, to be restored
	scratch   uintptr
	stops     int // at the ends of calls
}

// scratchBytes is the size of the memory that is used on the stack, below what the program may have there
// (redZoneBytes). The kernel gives a new program a larger stack.
const scratchBytes, redZoneBytes = 8 << 10, 256

var errShort = errors.New("it can't be read or written")

func enterThread(thread int) (*entered, error) {
	e := &entered{thread: thread, code: make([]byte, len(callAndTrap)), memory: make([]byte, scratchBytes)}
	if err := e.registers.read(thread); err != nil {
		return nil, err
	}
	e.scratch = (e.registers.stack() - redZoneBytes - scratchBytes) &^ 15
	if n, err := unix.PtracePeekText(thread, e.registers.instruction(), e.code); err != nil || n < len(e.code) {
		return nil, errors.Join(err, errShort)
	}
	if n, err := unix.PtracePeekData(thread, e.scratch, e.memory); err != nil || n < len(e.memory) {
		return nil, errors.Join(err, errShort)
	}
	if n, err := unix.PtracePokeText(thread, e.registers.instruction(), callAndTrap); err != nil || n < len(callAndTrap) {
		return nil, errors.Join(err, errShort)
	}
	return e, nil
}

// leave restores what was changed.
func (e *entered) leave() error {
	_, text := unix.PtracePokeText(e.thread, e.registers.instruction(), e.code)
	_, data := unix.PtracePokeData(e.thread, e.scratch, e.memory)
	return errors.Join(text, data, e.registers.write(e.thread))
}

// errEnded stands for a thread that was killed meanwhile; it still has to be waited for.
var errEnded = unix.ESRCH

// call makes a system call in the thread, and returns its error.
func (e *entered) call(number uintptr, args ...uintptr) unix.Errno {
	r := e.registers
	r.prepare(number, args)
	if r.write(e.thread) != nil || unix.PtraceCont(e.thread, 0) != nil {
		return errEnded
	}
	e.stops++
	var status unix.WaitStatus
	if _, leaving, err := next(); err != nil || leaving {
		return errEnded
	}
	if _, err := wait(e.thread, 0, &status, nil); err != nil || status.StopSignal() != unix.SIGTRAP || r.read(e.thread) != nil {
		return errEnded
	}
	if result := r.result(); result < 0 && result > -4096 {
		return unix.Errno(-result)
	}
	return 0
}

// install has the thread install a filter.
func (e *entered) install(filter instructions) unix.Errno {
	// struct sock_fprog, followed by the instructions that it points to.
	const header = 16
	data := make([]byte, header, header+len(filter)*int(unsafe.Sizeof(filter[0])))
	binary.NativeEndian.PutUint16(data, uint16(len(filter)))
	binary.NativeEndian.PutUint64(data[8:], uint64(e.scratch+header))
	data, err := binary.Append(data, binary.NativeEndian, filter)
	if err != nil || len(data) > scratchBytes {
		return unix.E2BIG
	}
	if _, err := unix.PtracePokeData(e.thread, e.scratch, data); err != nil {
		return unix.EFAULT
	}
	const noMitigation = 4 // SECCOMP_FILTER_FLAG_SPEC_ALLOW, since Linux 4.17: else it slows the program down
	return e.call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, noMitigation, e.scratch)
}
