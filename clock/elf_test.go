package clock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math"
	"testing"
)

// made is an image made by hand: one symbol, and the hash table of the kind
// that is asked for.
func made(kind elf.DynTag, bias uint64) image {
	const symbols, names, hash, dynamic = 0x200, 0x300, 0x400, 0x500
	m := make([]byte, 0x600)
	put := func(at int, x any) {
		if _, err := binary.Encode(m[at:], binary.LittleEndian, x); err != nil {
			panic(err)
		}
	}
	header := elf.Header64{Phoff: headerSize, Phnum: 2}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	put(0, header)
	put(headerSize, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: bias, Filesz: uint64(len(m))})
	put(headerSize+programSize, elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Off: dynamic, Vaddr: bias + dynamic, Filesz: 5 * dynamicSize})
	copy(m[names:], "\x00the_function\x00another\x00")
	function := uint8(elf.STB_GLOBAL)<<4 | uint8(elf.STT_FUNC)
	put(symbols+symbolSize, elf.Sym64{Name: 14, Info: function, Shndx: 7, Value: bias + 0x120})
	put(symbols+2*symbolSize, elf.Sym64{Name: 1, Info: function, Shndx: 7, Value: bias + 0x140})
	if kind == elf.DT_HASH {
		put(hash, []uint32{1, 3})
	} else {
		// One bucket, symbols from 1 on, one word of filter; the chain of the
		// bucket ends with the second symbol.
		put(hash, []uint32{1, 1, 1, 0})
		put(hash+24, []uint32{1, 0x1234, 0x5679})
	}
	for i, d := range []elf.Dyn64{
		{Tag: int64(elf.DT_SYMTAB), Val: bias + symbols},
		{Tag: int64(elf.DT_STRTAB), Val: bias + names},
		{Tag: int64(kind), Val: bias + hash},
		{Tag: int64(elf.DT_NULL)},
	} {
		put(dynamic+i*dynamicSize, d)
	}
	return m
}

func TestSymbolsOfImagesMadeByHand(t *testing.T) {
	for _, kind := range []elf.DynTag{elf.DT_HASH, elf.DT_GNU_HASH} {
		for _, bias := range []uint64{0, 0xffffffffff700000} {
			m := made(kind, bias)
			for name, want := range map[string]uint64{"another": 0x120, "the_function": 0x140} {
				if got, err := m.symbol(name); err != nil || got != want {
					t.Errorf("%v, bias %#x: %s is at %#x, %v; want %#x", kind, bias, name, got, err, want)
				}
			}
			for _, name := range []string{"the_func", "", "function", "nothing"} {
				if got, err := m.symbol(name); err == nil {
					t.Errorf("%v: there is a symbol %q at %#x", kind, name, got)
				}
			}
		}
	}
}

func TestImagesThatAreCutShort(t *testing.T) {
	whole := made(elf.DT_GNU_HASH, 0)
	for n := range whole {
		whole[:n].symbol("the_function")
		whole[:n].size()
	}
	if _, err := whole[:headerSize].symbol("the_function"); err == nil {
		t.Error("a header alone has symbols")
	}
}

func TestSlicesEndWithTheImage(t *testing.T) {
	m := image("0123456789")
	cases := []struct {
		offset, n uint64
		ok        bool
	}{
		{0, 0, true}, {0, 10, true}, {3, 7, true}, {10, 0, true},
		{0, 11, false}, {3, 8, false}, {11, 0, false},
		{math.MaxUint64, 1, false}, {math.MaxUint64 - 3, 8, false}, {4, math.MaxUint64 - 1, false},
	}
	for _, c := range cases {
		got, ok := m.slice(c.offset, c.n)
		if ok != c.ok || ok && uint64(len(got)) != c.n {
			t.Errorf("%d bytes from %d are %q, %v", c.n, c.offset, got, ok)
		}
	}
}

// A symbol that is found has its name in the image, whatever else is broken.
func FuzzImage(f *testing.F) {
	f.Add([]byte(made(elf.DT_HASH, 0)), "the_function")
	f.Add([]byte(made(elf.DT_GNU_HASH, math.MaxUint64-0xfff)), "another")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		m := image(data)
		m.size()
		if _, err := m.symbol(name); err == nil && !bytes.Contains(data, []byte(name)) {
			t.Errorf("found %q in an image that doesn't hold it", name)
		}
	})
}
