package bytecode

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"chronoscope/internal/elffile"
)

// Go's own ELF reader finds in the shared object what the dynamic loader looks for, and it leads to the
// function.
func TestLibrary(t *testing.T) {
	for arch, c := range cycleCodes {
		data, err := cycleLibrary(arch)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", arch, err)
		}
		if f.Type != elf.ET_DYN || f.Machine != elffile.Machines[arch] || f.Class != elf.ELFCLASS64 {
			t.Errorf("%s: %v of %v, %v", arch, f.Type, f.Machine, f.Class)
		}
		flags := map[elf.ProgType]elf.ProgFlag{}
		var dynamic []byte
		for _, p := range f.Progs {
			flags[p.Type] |= p.Flags
			if p.Off%elffile.PageBytes != p.Vaddr%elffile.PageBytes && p.Type == elf.PT_LOAD {
				t.Errorf("%s: a segment at %#x of the file and %#x of memory can't be mapped", arch, p.Off, p.Vaddr)
			}
			if p.Type == elf.PT_DYNAMIC {
				dynamic = data[p.Off : p.Off+p.Filesz]
			}
			if p.Type == elf.PT_LOAD && p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X {
				t.Errorf("%s: a segment can be written and executed", arch)
			}
		}
		if flags[elf.PT_GNU_STACK] != elf.PF_R|elf.PF_W {
			t.Errorf("%s: the stack is %v", arch, flags[elf.PT_GNU_STACK])
		}
		tags := map[elf.DynTag]uint64{}
		for entry := dynamic; len(entry) > 0; entry = entry[16:] {
			tags[elf.DynTag(binary.LittleEndian.Uint64(entry))] = binary.LittleEndian.Uint64(entry[8:])
		}
		if _, ok := tags[elf.DT_NULL]; !ok {
			t.Errorf("%s: the dynamic section has no end", arch)
		}
		hash := data[tags[elf.DT_HASH]:]
		if buckets, chains := binary.LittleEndian.Uint32(hash), binary.LittleEndian.Uint32(hash[4:]); buckets != 1 || chains != 2 {
			t.Fatalf("%s: %d buckets, %d chains", arch, buckets, chains)
		}
		index := uint64(binary.LittleEndian.Uint32(hash[8:]))
		var symbol elf.Sym64
		if err := binary.Read(bytes.NewReader(data[tags[elf.DT_SYMTAB]+index*tags[elf.DT_SYMENT]:]), binary.LittleEndian, &symbol); err != nil {
			t.Fatal(err)
		}
		name, _, _ := bytes.Cut(data[tags[elf.DT_STRTAB]+uint64(symbol.Name):], []byte{0})
		if string(name) != "Java_chronoscope_Cycles_read" || symbol.Info != elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC) {
			t.Errorf("%s: symbol %q, %#x", arch, name, symbol.Info)
		}
		if code := data[symbol.Value : symbol.Value+symbol.Size]; !bytes.Equal(code, c.code) {
			t.Errorf("%s: the symbol leads to %x", arch, code)
		}
	}
	if _, err := cycleLibrary("vax"); err == nil {
		t.Error("a VAX has a library")
	}
}
