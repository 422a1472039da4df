// Package elffile writes programs and shared objects of known machine code, so that no
// compiler is needed (System V ABI, chapters 4 and 5): 64 bits, little end first.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// Machines are the architectures that code is written for, by the names of GOARCH.
var Machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// PageBytes is as large as pages get on these architectures.
const PageBytes = 1 << 16

var headerBytes, segmentBytes = binary.Size(elf.Header64{}), binary.Size(elf.Prog64{})

// BodyAt is the offset at which the body of a file with that many segments begins.
func BodyAt(segments int) uint64 { return uint64(headerBytes + segments*segmentBytes) }

// Bytes joins numbers, and slices and structures of them, little end first.
func Bytes(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
	}
	return b.Bytes()
}

// File is a file of a kind that begins at entry, if it is a program. The body follows the
// segments' headers.
func File(kind elf.Type, machine elf.Machine, entry uint64, segments []elf.Prog64, body []byte) []byte {
	return Bytes(elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(kind), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Entry: entry,
		Phoff: uint64(headerBytes), Ehsize: uint16(headerBytes), Phentsize: uint16(segmentBytes), Phnum: uint16(len(segments)),
		Shentsize: uint16(binary.Size(elf.Section64{})), // which Go's reader asks for, though there are no sections
	}, segments, body)
}
