package process

import "golang.org/x/sys/unix"

// callAndTrap are the instructions syscall and int3.
var callAndTrap = []byte{0x0f, 0x05, 0xcc}

// breakpointAdvance is the distance in bytes from an int3 that stopped a thread to the instruction pointer.
const breakpointAdvance = 1

// registers are the registers of a thread that is stopped for its tracer.
type registers struct{ unix.PtraceRegsAmd64 }

func (r *registers) read(thread int) error {
	return unix.PtraceGetRegsAmd64(thread, &r.PtraceRegsAmd64)
}
func (r *registers) write(thread int) error {
	return unix.PtraceSetRegsAmd64(thread, &r.PtraceRegsAmd64)
}

func (r *registers) instruction() uintptr { return uintptr(r.Rip) }
func (r *registers) stack() uintptr       { return uintptr(r.Rsp) }

// prepare sets the registers for a system call.
func (r *registers) prepare(number uintptr, args []uintptr) {
	r.Rax, r.Orig_rax = uint64(number), ^uint64(0) // else the kernel would restart a call
	for i, to := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9}[:len(args)] {
		*to = uint64(args[i])
	}
}

// result returns what a system call returned.
func (r *registers) result() int64 { return int64(r.Rax) }
