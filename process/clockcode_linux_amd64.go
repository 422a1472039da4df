package process

import "encoding/binary"

const vdsoPrefix = "__vdso_"

// clockCode holds the functions that replace those of the vDSO that read clocks, by name. They follow C's
// conventions, and change only the registers that a function may change.
var clockCode = map[string][]byte{
	clockGettime: {
		0x41, 0xba, clockMark & 0xff, clockMark >> 8, 0, 0, // mov $clockMark, %r10d
		0x83, 0xff, clocks, // cmp $clocks, %edi
		0x73, 0x13, // jae call
		0x89, 0xfa, // mov %edi, %edx
		0xc1, 0xe2, 4, // shl $4, %edx
		0x4c, 0x8d, 0x05, limitsOffset - 0x17, 0, 0, 0, // lea limits(%rip), %r8
		0x49, 0x01, 0xd0, // add %rdx, %r8
		0x4d, 0x8b, 0x48, 8, // begin: mov 8(%r8), %r9
		0xb8, 228, 0, 0, 0, // call: mov $228, %eax: clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xc0, // test %eax, %eax
		0x75, 0x32, // jne end
		0x83, 0xff, clocks, // cmp $clocks, %edi
		0x73, 0x2d, // jae end
		0x48, 0x69, 0x06, 0x00, 0xca, 0x9a, 0x3b, // imul $1000000000, (%rsi), %rax
		0x48, 0x03, 0x46, 8, // add 8(%rsi), %rax
		0x49, 0x3b, 0x00, // cmp (%r8), %rax
		0x7c, 1, // jl over the next
		0xcc,                // int3
		0x4d, 0x3b, 0x48, 8, // cmp 8(%r8), %r9
		0x75, 0xd5, // jne begin: the offset changed meanwhile
		0x4c, 0x29, 0xc8, // sub %r9, %rax
		0x31, 0xd2, // xor %edx, %edx
		0xb9, 0x00, 0xca, 0x9a, 0x3b, // mov $1000000000, %ecx
		0x48, 0xf7, 0xf1, // div %rcx
		0x48, 0x89, 0x06, // mov %rax, (%rsi)
		0x48, 0x89, 0x56, 8, // mov %rdx, 8(%rsi)
		0x31, 0xc0, // xor %eax, %eax
		0xc3, // end: ret
	},
	"gettimeofday": {
		0x48, 0x85, 0xf6, // test %rsi, %rsi
		0x74, 7, // je over the next
		0x48, 0xc7, 0x06, 0, 0, 0, 0, // movq $0, (%rsi): no time zone
		0x48, 0x85, 0xff, // test %rdi, %rdi
		0x74, 0x1e, // je end
		0x57,             // push %rdi
		0x48, 0x89, 0xfe, // mov %rdi, %rsi
		0x31, 0xff, // xor %edi, %edi: CLOCK_REALTIME
		0xe8, 0, 0, 0, 0, // call clock_gettime
		0x5f,                // pop %rdi
		0x48, 0x8b, 0x47, 8, // mov 8(%rdi), %rax
		0x31, 0xd2, // xor %edx, %edx
		0xb9, 0xe8, 0x03, 0, 0, // mov $1000, %ecx
		0x48, 0xf7, 0xf1, // div %rcx
		0x48, 0x89, 0x47, 8, // mov %rax, 8(%rdi)
		0x31, 0xc0, // end: xor %eax, %eax
		0xc3, // ret
	},
	"time": {
		0x57,                 // push %rdi
		0x48, 0x83, 0xec, 16, // sub $16, %rsp
		0x48, 0x89, 0xe6, // mov %rsp, %rsi
		0x31, 0xff, // xor %edi, %edi: CLOCK_REALTIME
		0xe8, 0, 0, 0, 0, // call clock_gettime
		0x48, 0x8b, 0x04, 0x24, // mov (%rsp), %rax
		0x48, 0x83, 0xc4, 16, // add $16, %rsp
		0x5f,             // pop %rdi
		0x48, 0x85, 0xff, // test %rdi, %rdi
		0x74, 3, // je over the next
		0x48, 0x89, 0x07, // mov %rax, (%rdi)
		0xc3, // ret
	},
}

// clockCalls holds the offsets at which functions of clockCode call clock_gettime.
var clockCalls = map[string]int{"gettimeofday": 0x17, "time": 10}

// trapOffset and callOffset are the offsets of int3 and of syscall in clock_gettime.
const trapOffset, callOffset = 0x3e, 0x23

// relocateCall sets the target of the call at the beginning of code to the given distance in bytes.
func relocateCall(code []byte, offset int) {
	const callBytes = 5
	binary.LittleEndian.PutUint32(code[1:], uint32(int32(offset-callBytes)))
}

// clock returns the clock that a thread was reading when it stopped in clockCode.
func (r *registers) clock() uint32 { return uint32(r.Rdi) }

// time returns the time in nanoseconds that a thread read before it stopped in clockCode.
func (r *registers) time() int64 { return int64(r.Rax) }

// show gives a thread that has stopped in clockCode the time ns, and lets it continue behind the stop.
func (r *registers) show(ns int64) {
	const toDivision = 9
	r.Rax = uint64(ns)
	r.Rip += toDivision
}
