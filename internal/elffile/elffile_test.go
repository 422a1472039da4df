package elffile

import (
	"bytes"
	"debug/elf"
	"testing"
)

// Go's own ELF reader finds in the file what was written.
func TestFile(t *testing.T) {
	body := Bytes([]byte("ab"), uint16(0x0201), uint64(7))
	if want := []byte{'a', 'b', 1, 2, 7, 0, 0, 0, 0, 0, 0, 0}; !bytes.Equal(body, want) {
		t.Fatalf("%v, want %v", body, want)
	}
	at := BodyAt(1)
	for arch, machine := range Machines {
		data := File(elf.ET_EXEC, machine, 0x400000+at, []elf.Prog64{{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Off: at, Vaddr: 0x400000 + at, Filesz: uint64(len(body)), Memsz: uint64(len(body)),
		}}, body)
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", arch, err)
		}
		if f.Type != elf.ET_EXEC || f.Machine != machine || f.Entry != 0x400000+at || len(f.Progs) != 1 {
			t.Errorf("%s: %+v", arch, f.FileHeader)
		}
		got := make([]byte, len(body))
		if _, err := f.Progs[0].ReadAt(got, 0); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: %v, %v", arch, got, err)
		}
	}
}
