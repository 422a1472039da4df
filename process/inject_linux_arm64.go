package process

import "golang.org/x/sys/unix"

// callAndTrap are the instructions svc #0 and brk #0.
var callAndTrap = []byte{0x01, 0x00, 0x00, 0xd4, 0x00, 0x00, 0x20, 0xd4}

// breakpoint is the instruction brk #0: the instruction pointer then stands breakpointAdvance behind
// it.
var breakpoint = []byte{0x00, 0x00, 0x20, 0xd4}

const breakpointAdvance = 0

// registers are those of a thread that stands still for its tracer.
type registers struct{ unix.PtraceRegsArm64 }

const generalRegisters = 1 // NT_PRSTATUS

func (r *registers) read(thread int) error {
	return unix.PtraceGetRegSetArm64(thread, generalRegisters, &r.PtraceRegsArm64)
}

func (r *registers) write(thread int) error {
	return unix.PtraceSetRegSetArm64(thread, generalRegisters, &r.PtraceRegsArm64)
}

func (r *registers) instruction() uintptr { return uintptr(r.Pc) }
func (r *registers) stack() uintptr       { return uintptr(r.Sp) }

// pass would do what the code at a breakpoint does: here a step does it.
func (r *registers) pass(int, []byte) bool { return false }

func (r *registers) setInstruction(at uintptr) { r.Pc = uint64(at) }

// firstArgument is that of a function that begins, as a C int.
func (r *registers) firstArgument() uint32 { return uint32(r.Regs[0]) }

// prepare sets what a system call takes.
func (r *registers) prepare(number uintptr, args []uintptr) {
	r.Regs[8] = uint64(number)
	for i, value := range args {
		r.Regs[i] = uint64(value)
	}
}

// result is what a system call returned.
func (r *registers) result() int64 { return int64(r.Regs[0]) }
