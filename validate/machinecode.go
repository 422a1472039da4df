package validate

import (
	"debug/elf"
	"fmt"

	"chronoscope/internal/elffile"
)

// The programs whose length is known are written here, instruction by instruction: that needs no
// compiler, no language runtime starts, and nothing runs except what the pattern says. A program
// keeps the chain's product in a register. It ends with status 1 if the product is wrong, and with
// status 2 if a system call fails.

// architecture encodes the operations that patterns are made of. The scratch memory lies below the
// stack pointer, where nothing else writes, since a program has no signal handlers.
type architecture struct {
	machine  elf.Machine
	calls    map[string]uint64
	start    func() []byte                              // sets the product to the chain's start value
	rounds   func(n uint64) []byte                      // multiplies the product n times by the factor
	roundsAt func(at uint64) []byte                     // the same, with n from the scratch memory
	call     func(number uint64, args []operand) []byte // makes a system call; the program ends with status 2 on an error
	keep     func(register uint64) []byte               // keeps the result of the call
	load     func(register, at uint64) []byte           // keeps a 32-bit word of the scratch memory
	store    func(at, value uint64) []byte              // writes a 64-bit word to the scratch memory
	ifZero   func(then []byte) []byte                   // runs then if the result of the call is 0
	forever  func(body []byte) []byte                   // runs body again and again
	addTime  func(at, ns uint64) []byte                 // adds ns, less than a second, to the timespec at a place
	finish   func(product, exitGroup uint64) []byte     // ends with status 0 if the product is the given one, otherwise 1
}

// operand is an argument of a system call: a constant, the address of a place in the scratch
// memory, or a result that was kept.
type operand struct {
	from  int
	value uint64
}

const (
	constant = iota
	scratch
	kept
)

// scratchBytes is the size of the scratch memory.
const scratchBytes = 256

var joined = elffile.Bytes

var architectures = map[string]architecture{
	"amd64": {
		machine: elf.EM_X86_64,
		calls: map[string]uint64{
			"read": 0, "write": 1, "close": 3, "nanosleep": 35, "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "clone": 56, "exit": 60, "wait4": 61,
			"clock_gettime": 228, "clock_nanosleep": 230, "exit_group": 231, "eventfd2": 290, "pipe2": 293,
		},
		start: func() []byte { return joined([]byte{0xbb}, uint32(chainStart)) }, // mov ebx, start
		rounds: func(n uint64) []byte {
			if n == 0 {
				return nil
			}
			return joined(
				[]byte{0x48, 0xb9}, n, // mov rcx, n
				amd64Loop,
			)
		},
		roundsAt: func(at uint64) []byte {
			return joined(
				[]byte{0x48, 0x8b, 0x8c, 0x24}, amd64At(at), // mov rcx, [rsp + at]
				[]byte{0x48, 0x85, 0xc9, 0x74, byte(len(amd64Loop))}, // test rcx, rcx; jz beyond the loop
				amd64Loop,
			)
		},
		call: func(number uint64, args []operand) []byte {
			// Each argument is a mov or lea of rdi, rsi, rdx, r10, r8 or r9.
			var code []byte
			for i, a := range args {
				to := []byte{7, 6, 2, 10, 8, 9}[i] // rdi, rsi, rdx, r10, r8, r9
				switch a.from {
				case constant: // mov register, value
					code = append(code, joined([]byte{0x48 + to>>3, 0xb8 + to&7}, a.value)...)
				case scratch: // lea register, [rsp + at]
					code = append(code, joined([]byte{0x48 + to>>3<<2, 0x8d, 0x84 + to&7<<3, 0x24}, amd64At(a.value))...)
				default: // mov register, r12 + value
					code = append(code, 0x4c+to>>3, 0x89, 0xe0+byte(a.value)<<3+to&7)
				}
			}
			return joined(code,
				[]byte{0xb8}, uint32(number), []byte{0x0f, 0x05}, // mov eax, number; syscall
				[]byte{0x48, 0x85, 0xc0, 0x79, 0x0c},                                   // test rax, rax; jns beyond the exit
				[]byte{0xbf}, uint32(2), []byte{0xb8}, uint32(231), []byte{0x0f, 0x05}, // exit_group(2)
			)
		},
		keep: func(register uint64) []byte { return []byte{0x49, 0x89, 0xc4 + byte(register)} }, // mov r12 + register, rax
		load: func(register, at uint64) []byte { // mov r12d + register, [rsp + at]
			return joined([]byte{0x44, 0x8b, 0xa4 + byte(register)<<3, 0x24}, amd64At(at))
		},
		store: func(at, value uint64) []byte { // mov rax, value; mov [rsp + at], rax
			return joined([]byte{0x48, 0xb8}, value, []byte{0x48, 0x89, 0x84, 0x24}, amd64At(at))
		},
		ifZero: func(then []byte) []byte { // test rax, rax; jnz beyond it
			return joined([]byte{0x48, 0x85, 0xc0, 0x0f, 0x85}, uint32(len(then)), then)
		},
		forever: func(body []byte) []byte { return joined(body, byte(0xe9), -int32(len(body)+5)) }, // jmp to the body
		addTime: func(at, ns uint64) []byte {
			const second = uint32(1e9)
			return joined(
				[]byte{0x48, 0x81, 0x84, 0x24}, amd64At(at+8), uint32(ns), // add [nanoseconds], ns
				[]byte{0x48, 0x81, 0xbc, 0x24}, amd64At(at+8), second, // cmp [nanoseconds], a second
				[]byte{0x7c, 0x14},                                    // jl beyond the carry
				[]byte{0x48, 0x81, 0xac, 0x24}, amd64At(at+8), second, // sub [nanoseconds], a second
				[]byte{0x48, 0xff, 0x84, 0x24}, amd64At(at), // inc [seconds]
			)
		},
		finish: func(product, exitGroup uint64) []byte {
			return joined(
				[]byte{0x48, 0xba}, product, // mov rdx, product
				[]byte{0x31, 0xff},                                  // xor edi, edi
				[]byte{0x48, 0x39, 0xd3},                            // cmp rbx, rdx
				[]byte{0x40, 0x0f, 0x95, 0xc7},                      // setne dil
				[]byte{0xb8}, uint32(exitGroup), []byte{0x0f, 0x05}, // mov eax, exit_group; syscall
			)
		},
	},
	"arm64": {
		machine: elf.EM_AARCH64,
		calls: map[string]uint64{
			"eventfd2": 19, "close": 57, "pipe2": 59, "read": 63, "write": 64, "exit": 93, "exit_group": 94, "nanosleep": 101,
			"clock_gettime": 113, "clock_nanosleep": 115, "socket": 198, "bind": 200, "listen": 201, "accept": 202, "connect": 203, "clone": 220, "wait4": 260,
		},
		start: func() []byte { return arm64Set(19, chainStart) },
		rounds: func(n uint64) []byte {
			if n == 0 {
				return nil
			}
			return joined(arm64Set(1, n), arm64Loop)
		},
		roundsAt: func(at uint64) []byte {
			return joined(
				0xf84003e1|arm64At(at),                   // ldur x1, [sp, at]
				0xb4000001|uint32(len(arm64Loop)/4+1)<<5, // cbz x1, beyond the loop
				arm64Loop,
			)
		},
		call: func(number uint64, args []operand) []byte {
			var code []byte
			for i, a := range args {
				register := uint32(i)
				switch a.from {
				case constant:
					code = append(code, arm64Set(register, a.value)...)
				case scratch: // sub x, sp, offset
					code = append(code, joined(0xd10003e0|uint32(scratchBytes-a.value)<<10|register)...)
				default: // mov x, x20 + value
					code = append(code, joined(0xaa0003e0|uint32(20+a.value)<<16|register)...)
				}
			}
			end := joined(arm64Set(0, 2), arm64Set(8, 94), uint32(0xd4000001))
			return joined(code, arm64Set(8, number), uint32(0xd4000001), // svc 0
				0xb6f80000|uint32(len(end)/4+1)<<5, end) // tbz x0, 63, beyond the exit
		},
		keep: func(register uint64) []byte { return joined(0xaa0003e0 | uint32(20+register)) },                   // mov x20 + register, x0
		load: func(register, at uint64) []byte { return joined(0xb84003e0 | arm64At(at) | uint32(20+register)) }, // ldur w, [sp, at]
		store: func(at, value uint64) []byte {
			return joined(arm64Set(1, value), 0xf80003e1|arm64At(at)) // stur x1, [sp, at]
		},
		ifZero:  func(then []byte) []byte { return joined(0xb5000000|uint32(len(then)/4+1)<<5, then) },       // cbnz x0, beyond it
		forever: func(body []byte) []byte { return joined(body, 0x14000000|uint32(-len(body)/4)&0x3ffffff) }, // b to the body
		addTime: func(at, ns uint64) []byte {
			return joined(
				0xf84003e1|arm64At(at+8),            // ldur x1, [nanoseconds]
				arm64Set(2, ns), uint32(0x8b020021), // add x1, x1, x2
				arm64Set(2, 1e9), uint32(0xeb02003f), // cmp x1, x2
				uint32(0x540000ab),       // b.lt to stur of x1
				uint32(0xcb020021),       // sub x1, x1, x2
				0xf84003e3|arm64At(at),   // ldur x3, [seconds]
				uint32(0x91000463),       // add x3, x3, 1
				0xf80003e3|arm64At(at),   // stur x3, [seconds]
				0xf80003e1|arm64At(at+8), // stur x1, [nanoseconds]
			)
		},
		finish: func(product, exitGroup uint64) []byte {
			return joined(arm64Set(2, product),
				uint32(0xeb02027f), // cmp x19, x2
				uint32(0x9a9f07e0), // cset x0, ne
				arm64Set(8, exitGroup), uint32(0xd4000001))
		},
	},
}

// These loops multiply the product by the factor as many times as a register says: rcx, or x1.
var (
	amd64Loop = joined(
		[]byte{0x48, 0xba}, uint64(chainFactor), // mov rdx, factor
		[]byte{0x48, 0x0f, 0xaf, 0xda}, // imul rbx, rdx
		[]byte{0x48, 0xff, 0xc9},       // dec rcx
		[]byte{0x75, 0xf7},             // jnz to imul
	)
	arm64Loop = joined(arm64Set(2, chainFactor),
		uint32(0x9b027e73), // mul x19, x19, x2
		uint32(0xf1000421), // subs x1, x1, 1
		uint32(0x54ffffc1), // b.ne to mul
	)
)

// amd64At returns the displacement of a place in the scratch memory from the stack pointer.
func amd64At(at uint64) int32 { return int32(at) - scratchBytes }

// arm64At returns the displacement of [amd64At], as the instructions ldur and stur encode it.
func arm64At(at uint64) uint32 { return uint32((int32(at)-scratchBytes)&0x1ff) << 12 }

// arm64Set returns the code that sets a register to a value: movz and three movk.
func arm64Set(register uint32, value uint64) []byte {
	var code []byte
	for part := range uint32(4) {
		instruction := uint32(0xf2800000) // movk
		if part == 0 {
			instruction = 0xd2800000 // movz
		}
		code = append(code, joined(instruction|part<<21|uint32(value>>(16*part)&0xffff)<<5|register)...)
	}
	return code
}

// codeAt is the address at which a program is loaded.
const codeAt = 0x400000

// programFile returns the ELF file of a program for Linux. It has one segment, which is not
// writable, and the code follows the headers.
func programFile(of elf.Machine, code []byte) []byte {
	at := elffile.BodyAt(1)
	size := at + uint64(len(code))
	return elffile.File(elf.ET_EXEC, of, codeAt+at, []elf.Prog64{{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: codeAt, Paddr: codeAt, Filesz: size, Memsz: size, Align: elffile.PageBytes,
	}}, code)
}

// architectureOf returns the architecture of a GOARCH.
func architectureOf(name string) (architecture, error) {
	a, ok := architectures[name]
	if !ok {
		return a, fmt.Errorf("no instructions are known for %s", name)
	}
	return a, nil
}

// chainResult returns the chain's product after the given number of rounds, by repeated squaring.
func chainResult(rounds uint64) uint64 {
	result, power := uint64(chainStart), uint64(chainFactor)
	for ; rounds > 0; rounds /= 2 {
		if rounds%2 == 1 {
			result *= power
		}
		power *= power
	}
	return result
}
