package process

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
)

// stopAtCounter has the instructions that read the time-stamp counter end in SIGSEGV in a program
// whose only thread stands still at its first instruction, and in all that it starts
// (PR_SET_TSC, prctl(2)): threads and children inherit that, and it survives an exec. Where it is
// refused these looks are not seen. stops are how often the program stood still in between.
func (l *looks) stopAtCounter(thread int) (stops int) {
	if l == nil || l.why != nil {
		return 0
	}
	in, err := enterThread(thread)
	if err != nil {
		return 0
	}
	in.call(unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV, 0, 0, 0)
	if err := in.leave(); err != nil {
		l.keep(fmt.Errorf("leaving the program that is to stop at reads of the counter: %w", err))
	}
	return in.stops
}

// readCounter tells whether a thread has stopped with SIGSEGV because it reads the counter, and has
// it go on with what the counter shows now. Reads by the vDSO are not counted: those looks stop at
// breakpoints. Nor are those of the dynamic linker, which takes its own time. Once not all looks
// are known the thread may read the counter again.
func (l *looks) readCounter(thread int) bool {
	var r registers
	if l == nil || signalCode(thread) != signalKernel || r.read(thread) != nil {
		return false
	}
	at, code := r.instruction(), make([]byte, len(rdtscp))
	n, _ := unix.PtracePeekText(thread, at, code) // fewer, where the memory ends there
	if !r.readCounter(code[:n]) || r.write(thread) != nil {
		return false
	}
	vdso, _ := auxiliary(thread, auxVDSO)
	linker, _ := auxiliary(thread, auxBase)
	if !within1MiB(at, vdso) && !within1MiB(at, linker) {
		l.look(thread)
	}
	if l.why != nil && vdso > 0 {
		l.allowCounter(thread, r, vdso)
	}
	return true
}

// within1MiB tells whether an address lies in what begins at base: neither the vDSO nor a dynamic
// linker is as large as 1 MiB. base is 0 where there is none.
func within1MiB(at, base uintptr) bool { return base > 0 && at-base < 1<<20 }

// allowCounter has a thread call prctl(2), by an instruction of the vDSO: other threads may execute
// the code where it stands. It goes on from the registers r after that.
func (l *looks) allowCounter(thread int, r registers, vdso uintptr) {
	image, err := ownImage()
	call := bytes.Index(image, syscallInstruction)
	if err != nil || call < 0 {
		return
	}
	in := r
	in.prepare(unix.SYS_PRCTL, []uintptr{unix.PR_SET_TSC, unix.PR_TSC_ENABLE, 0, 0, 0})
	in.setInstruction(vdso + uintptr(call))
	if in.write(thread) == nil {
		l.calling[thread] = r
	}
}

// The instructions that read the time-stamp counter, and the one that makes a system call (Intel
// SDM, volume 2).
var rdtsc, rdtscp, syscallInstruction = []byte{0x0f, 0x31}, []byte{0x0f, 0x01, 0xf9}, []byte{0x0f, 0x05}

// readCounter does what such an instruction does, and tells whether code begins with one. rdtscp
// also tells the number of the CPU, which is not known here: it is said to be the first one.
func (r *registers) readCounter(code []byte) bool {
	switch {
	case bytes.HasPrefix(code, rdtsc):
		r.Rip += uint64(len(rdtsc))
	case bytes.HasPrefix(code, rdtscp):
		r.Rip += uint64(len(rdtscp))
		r.Rcx = 0
	default:
		return false
	}
	now := uint64(clock.Counter())
	r.Rax, r.Rdx = now&(1<<32-1), now>>32
	return true
}
