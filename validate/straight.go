package validate

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// A straight program does so many rounds of the chain, sees whether their result is right,
// and ends: one thread, no start of a runtime, no memory. It is written here, byte by byte,
// so that no compiler is needed (System V ABI, chapters 4 and 5), and ends with status 1
// where the result is wrong.

// codes are the instructions of such a program by architecture: its own, and ELF's number.
var codes = map[string]struct {
	machine elf.Machine
	code    func(rounds, result uint64) []byte
}{
	"amd64": {elf.EM_X86_64, amd64Code},
	"arm64": {elf.EM_AARCH64, arm64Code},
}

func amd64Code(rounds, result uint64) []byte {
	return joined(
		[]byte{0x48, 0xb9}, rounds, // mov rcx, rounds
		[]byte{0x48, 0xba}, uint64(chainFactor), // mov rdx, factor
		[]byte{0xb8}, uint32(chainStart), // mov eax, start
		[]byte{0x48, 0x85, 0xc9},       // test rcx, rcx
		[]byte{0x74, 0x09},             // jz beyond the loop
		[]byte{0x48, 0x0f, 0xaf, 0xc2}, // imul rax, rdx
		[]byte{0x48, 0xff, 0xc9},       // dec rcx
		[]byte{0x75, 0xf7},             // jnz to imul
		[]byte{0x48, 0xba}, result,     // mov rdx, result
		[]byte{0x31, 0xff},             // xor edi, edi
		[]byte{0x48, 0x39, 0xd0},       // cmp rax, rdx
		[]byte{0x40, 0x0f, 0x95, 0xc7}, // setne dil
		[]byte{0xb8}, uint32(231),      // mov eax, exit_group
		[]byte{0x0f, 0x05}, // syscall
	)
}

func arm64Code(rounds, result uint64) []byte {
	return joined(
		uint32(0x58000181),               // ldr x1, rounds
		uint32(0x580001a2),               // ldr x2, factor
		uint32(0xd2800000|chainStart<<5), // mov x0, start
		uint32(0xb4000081),               // cbz x1, beyond the loop
		uint32(0x9b027c00),               // mul x0, x0, x2
		uint32(0xf1000421),               // subs x1, x1, 1
		uint32(0x54ffffc1),               // b.ne to mul
		uint32(0x58000122),               // ldr x2, result
		uint32(0xeb02001f),               // cmp x0, x2
		uint32(0x9a9f07e0),               // cset x0, ne
		uint32(0xd2800bc8),               // mov x8, exit_group
		uint32(0xd4000001),               // svc 0
		rounds, uint64(chainFactor), result,
	)
}

func joined(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
	}
	return b.Bytes()
}

// straightAt is where the program lies in memory.
const straightAt = 0x400000

// straight is the file of such a program, for Linux on an architecture.
func straight(arch string, rounds int) ([]byte, error) {
	of, ok := codes[arch]
	if !ok {
		return nil, fmt.Errorf("no instructions are known for %s", arch)
	}
	code := of.code(uint64(rounds), chainResult(uint64(rounds)))
	headers := uint64(binary.Size(elf.Header64{}) + binary.Size(elf.Prog64{}))
	size := headers + uint64(len(code))
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(of.machine), Version: uint32(elf.EV_CURRENT), Entry: straightAt + headers,
		Phoff: uint64(binary.Size(elf.Header64{})), Ehsize: uint16(binary.Size(elf.Header64{})), Phentsize: uint16(binary.Size(elf.Prog64{})), Phnum: 1,
	}
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: straightAt, Paddr: straightAt, Filesz: size, Memsz: size, Align: 1 << 16,
	}
	return joined(header, segment, code), nil
}

// chainResult is what so many rounds make of the chain's start, by squaring.
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
