package process

import "golang.org/x/sys/unix"

// callAndTrap are the instructions svc #0 and brk #0.
var callAndTrap = []byte{0x01, 0x00, 0x00, 0xd4, 0x00, 0x00, 0x20, 0xd4}

// breakpointAdvance is the distance in bytes from a brk that stopped a thread to the instruction pointer.
const breakpointAdvance = 0

// registers are the registers of a thread that is stopped for its tracer.
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

// prepare sets the registers for a system call.
func (r *registers) prepare(number uintptr, args []uintptr) {
	r.Regs[8] = uint64(number)
	for i, value := range args {
		r.Regs[i] = uint64(value)
	}
}

// result returns what a system call returned.
func (r *registers) result() int64 { return int64(r.Regs[0]) }
