package bytecode

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"chronoscope/internal/elffile"
)

// This file writes the shared object that reads the time stamp counter for the virtual machine: one
// function, with the name that the Java Native Interface requires. It is written here so that no C
// compiler is needed.

// cycleSymbol is the native method's symbol according to the JNI specification, chapter 2.
const cycleSymbol = "Java_chronoscope_Cycles_read"

// cycleCode is the machine code of the function for an architecture.
type cycleCode struct {
	code []byte
	// clock is this module's name of the clock that the function reads.
	clock string
}

var cycleCodes = map[string]cycleCode{
	"amd64": {clock: "tsc", code: []byte{
		0x0f, 0xae, 0xe8, // lfence: all earlier instructions have ended
		0x0f, 0x31, // rdtsc
		0x0f, 0xae, 0xe8, // lfence: no later instruction has begun
		0x48, 0xc1, 0xe2, 0x20, // shl rdx, 32
		0x48, 0x09, 0xd0, // or rax, rdx
		0xc3, // ret
	}},
	"arm64": {clock: "cntvct", code: []byte{
		0xdf, 0x3f, 0x03, 0xd5, // isb
		0x40, 0xe0, 0x3b, 0xd5, // mrs x0, cntvct_el0
		0xdf, 0x3f, 0x03, 0xd5, // isb
		0xc0, 0x03, 0x5f, 0xd6, // ret
	}},
}

// cycleLibrary returns the shared object for an architecture.
func cycleLibrary(arch string) ([]byte, error) {
	c, ok := cycleCodes[arch]
	if !ok {
		return nil, fmt.Errorf("no way is known to read a cycle counter on %s", arch)
	}
	strings := "\x00" + cycleSymbol + "\x00"
	symbolBytes, segments := uint64(binary.Size(elf.Sym64{})), 4
	textAt := elffile.BodyAt(segments)
	hashAt := aligned(textAt + uint64(len(c.code)))
	symbolsAt := aligned(hashAt + 5*4)
	stringsAt := symbolsAt + 2*symbolBytes
	dynamicAt := aligned(stringsAt + uint64(len(strings)))
	dynamic := []elf.Dyn64{
		{Tag: int64(elf.DT_HASH), Val: hashAt}, {Tag: int64(elf.DT_STRTAB), Val: stringsAt}, {Tag: int64(elf.DT_SYMTAB), Val: symbolsAt},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(strings))}, {Tag: int64(elf.DT_SYMENT), Val: symbolBytes}, {Tag: int64(elf.DT_NULL)},
	}
	segment := func(kind elf.ProgType, flags elf.ProgFlag, at, shift uint64, size int, align uint64) elf.Prog64 {
		return elf.Prog64{
			Type: uint32(kind), Flags: uint32(flags), Off: at, Vaddr: at + shift, Paddr: at + shift,
			Filesz: uint64(size), Memsz: uint64(size), Align: align,
		}
	}
	padded := func(to uint64, before []byte, more ...any) []byte {
		space := make([]byte, to-textAt-uint64(len(before)))
		return slices.Concat(before, space, elffile.Bytes(more...))
	}
	body := padded(hashAt, c.code, []uint32{1, 2, 1, 0, 0}) // one bucket, two symbols; the chain begins with symbol 1
	body = padded(symbolsAt, body, elf.Sym64{},             // the first symbol is empty
		elf.Sym64{Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: textAt, Size: uint64(len(c.code))}, []byte(strings))
	body = padded(dynamicAt, body, dynamic)
	// The loader writes into the dynamic section, which therefore has a page of its own in memory.
	// In the file it follows the rest.
	const page, writable = elffile.PageBytes, elf.PF_R | elf.PF_W
	return elffile.File(elf.ET_DYN, elffile.Machines[arch], 0, []elf.Prog64{
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_X, 0, 0, int(dynamicAt), page),
		segment(elf.PT_LOAD, writable, dynamicAt, page, binary.Size(dynamic), page),
		segment(elf.PT_DYNAMIC, writable, dynamicAt, page, binary.Size(dynamic), 8),
		segment(elf.PT_GNU_STACK, writable, 0, 0, 0, 16),
	}, body), nil
}

// aligned returns the next multiple of 8.
func aligned(at uint64) uint64 { return (at + 7) &^ 7 }
