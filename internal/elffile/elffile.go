// Package elffile writes programs and shared objects of given machine code, so that no compiler is
// needed (System V ABI, chapters 4 and 5). The files are 64-bit and little endian.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// Machines are the supported architectures, by the names of GOARCH.
var Machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// PageBytes is the largest size of a page on these architectures.
const PageBytes = 1 << 16

var headerBytes, segmentBytes = binary.Size(elf.Header64{}), binary.Size(elf.Prog64{})

// BodyAt returns the offset of the body of a file with the given number of segments.
func BodyAt(segments int) uint64 { return uint64(headerBytes + segments*segmentBytes) }

// Bytes encodes numbers, and slices and structures of numbers, as little endian.
func Bytes(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		_ = binary.Write(&b, binary.LittleEndian, v) // writing to a buffer can't fail
	}
	return b.Bytes()
}

// File returns a file of the given kind. entry is where execution begins if it is a program. The body
// follows the headers of the segments.
func File(kind elf.Type, machine elf.Machine, entry uint64, segments []elf.Prog64, body []byte) []byte {
	return Bytes(elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(kind), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Entry: entry,
		Phoff: uint64(headerBytes), Ehsize: uint16(headerBytes), Phentsize: uint16(segmentBytes), Phnum: uint16(len(segments)),
		Shentsize: uint16(binary.Size(elf.Section64{})), // Go's reader requires it although there are no sections
	}, segments, body)
}
