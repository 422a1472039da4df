package bytecode

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The shared object that reads the time stamp counter for the virtual machine: one
// function, found by the name that the Java Native Interface gives it. It is written here,
// byte by byte, so that no C compiler is needed (System V ABI, chapters 4 and 5).

// cycleSymbol is the native method's name by the JNI specification, chapter 2.
const cycleSymbol = "Java_chronoscope_Cycles_read"

// cycleCode are the instructions of the function for an architecture, and the
// architecture's number in ELF.
type cycleCode struct {
	machine uint16
	code    []byte
	// clock names the clock that it reads, by this module's names.
	clock string
}

var cycleCodes = map[string]cycleCode{
	"amd64": {machine: 62, clock: "tsc", code: []byte{
		0x0f, 0xae, 0xe8, // lfence: what came before is done
		0x0f, 0x31, // rdtsc
		0x0f, 0xae, 0xe8, // lfence: what follows has not begun
		0x48, 0xc1, 0xe2, 0x20, // shl rdx, 32
		0x48, 0x09, 0xd0, // or rax, rdx
		0xc3, // ret
	}},
	"arm64": {machine: 183, clock: "cntvct", code: []byte{
		0xdf, 0x3f, 0x03, 0xd5, // isb
		0x40, 0xe0, 0x3b, 0xd5, // mrs x0, cntvct_el0
		0xdf, 0x3f, 0x03, 0xd5, // isb
		0xc0, 0x03, 0x5f, 0xd6, // ret
	}},
}

// What is needed of ELF's numbers.
const (
	elfHeaderBytes, programHeaderBytes, symbolBytes = 64, 56, 24
	sharedObject                                    = 3
	loadSegment, dynamicSegment, stackSegment       = 1, 2, 0x6474e551
	executable, writable, readable                  = 1, 2, 4
	tagHash, tagStrings, tagSymbols                 = 4, 5, 6
	tagStringBytes, tagSymbolBytes                  = 10, 11
	globalFunction                                  = 0x12
	// pageBytes is as large as pages get on the architectures above.
	pageBytes = 1 << 16
)

// cycleLibrary is the shared object for an architecture.
func cycleLibrary(arch string) ([]byte, error) {
	c, ok := cycleCodes[arch]
	if !ok {
		return nil, fmt.Errorf("no way is known to read a cycle counter on %s", arch)
	}
	strings := "\x00" + cycleSymbol + "\x00"
	const segments = 4
	textAt := uint64(elfHeaderBytes + segments*programHeaderBytes)
	hashAt := aligned(textAt + uint64(len(c.code)))
	symbolsAt := aligned(hashAt + 6*4)
	stringsAt := symbolsAt + 2*symbolBytes
	dynamicAt := aligned(stringsAt + uint64(len(strings)))
	dynamic := []uint64{
		tagHash, hashAt, tagStrings, stringsAt, tagSymbols, symbolsAt,
		tagStringBytes, uint64(len(strings)), tagSymbolBytes, symbolBytes, 0, 0,
	}
	dynamicBytes := uint64(8 * len(dynamic))

	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
		}
	}
	segment := func(kind, flags uint32, at, shift, size uint64, align uint64) {
		put(kind, flags, at, at+shift, at+shift, size, size, align)
	}
	put([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)) // 64 bits, little end first
	put(uint16(sharedObject), c.machine, uint32(1), uint64(0), uint64(elfHeaderBytes), uint64(0), uint32(0),
		uint16(elfHeaderBytes), uint16(programHeaderBytes), uint16(segments), uint16(64), uint16(0), uint16(0))
	segment(loadSegment, readable|executable, 0, 0, dynamicAt, pageBytes)
	// The loader writes into the dynamic section: it lies on a page of its own in memory,
	// and follows the rest in the file.
	segment(loadSegment, readable|writable, dynamicAt, pageBytes, dynamicBytes, pageBytes)
	segment(dynamicSegment, readable|writable, dynamicAt, pageBytes, dynamicBytes, 8)
	segment(stackSegment, readable|writable, 0, 0, 0, 16)
	put(c.code)
	pad(&b, hashAt)
	put([]uint32{1, 2, 1, 0, 0}) // one bucket, two symbols, the chain begins with symbol 1
	pad(&b, symbolsAt)
	put(make([]byte, symbolBytes)) // the first symbol is none
	put(uint32(1), byte(globalFunction), byte(0), uint16(1), textAt, uint64(len(c.code)))
	put([]byte(strings))
	pad(&b, dynamicAt)
	put(dynamic)
	return b.Bytes(), nil
}

// aligned is the next offset that 8 divides.
func aligned(at uint64) uint64 { return (at + 7) &^ 7 }

func pad(b *bytes.Buffer, to uint64) { b.Write(make([]byte, to-uint64(b.Len()))) }
