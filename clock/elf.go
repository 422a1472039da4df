package clock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
)

// image is a shared object as it lies in memory, from its first byte: the
// kernel's vDSO (vdso(7)). It is data from outside, and each access to it is
// checked.
type image []byte

// Sizes of the structures of ELF64.
const (
	headerSize  = 64
	programSize = 56
	dynamicSize = 16
	symbolSize  = 24
)

var (
	errNoImage = errors.New("no ELF image of 64 bits, little endian")
	errNoTable = errors.New("no symbol table")
)

// symbol is the offset of a function in the image, by its name.
func (m image) symbol(name string) (offset uint64, err error) {
	t, err := m.symbols()
	if err != nil {
		return 0, err
	}
	for i := range t.count {
		entry, ok := m.slice(t.symbols+i*symbolSize, symbolSize)
		if !ok {
			break
		}
		value, found := m.match(entry, t.names, name)
		if found {
			return value - t.bias, nil
		}
	}
	return 0, errors.New("no symbol " + name)
}

// match reports whether a symbol is the function of that name, and its value.
func (m image) match(entry []byte, names uint64, name string) (value uint64, ok bool) {
	var s elf.Sym64
	decode(entry, &s)
	if elf.ST_TYPE(s.Info) != elf.STT_FUNC || elf.SectionIndex(s.Shndx) == elf.SHN_UNDEF {
		return 0, false
	}
	text, ok := m.slice(names+uint64(s.Name), uint64(len(name))+1)
	return s.Value, ok && string(text) == name+"\x00"
}

// symbolTable is where the dynamic symbols lie, as offsets into the image.
type symbolTable struct {
	symbols, names, count uint64
	bias                  uint64 // of an address in the file over its offset
}

// symbols finds the dynamic symbol table through the dynamic section, since
// section headers need not be in memory (System V ABI, chapter 5, "Dynamic
// Section").
func (m image) symbols() (t symbolTable, err error) {
	dynamic, bias, err := m.segments()
	if err != nil {
		return t, err
	}
	tags := m.dynamicTags(dynamic)
	t.bias = bias
	t.symbols = tags[elf.DT_SYMTAB] - bias
	t.names = tags[elf.DT_STRTAB] - bias
	t.count = m.symbolCount(tags, bias)
	if t.count == 0 || tags[elf.DT_SYMTAB] == 0 || tags[elf.DT_STRTAB] == 0 {
		return t, errNoTable
	}
	return t, nil
}

// segments finds the dynamic section, and by how much an address exceeds its
// offset in the image.
func (m image) segments() (dynamic elf.Prog64, bias uint64, err error) {
	header, err := m.header()
	if err != nil {
		return dynamic, 0, err
	}
	loaded := false
	for i := range uint64(header.Phnum) {
		entry, ok := m.slice(header.Phoff+i*programSize, programSize)
		if !ok {
			return dynamic, 0, errNoImage
		}
		var p elf.Prog64
		decode(entry, &p)
		switch elf.ProgType(p.Type) {
		case elf.PT_LOAD:
			if !loaded {
				loaded, bias = true, p.Vaddr-p.Off
			}
		case elf.PT_DYNAMIC:
			dynamic = p
		}
	}
	if !loaded || dynamic.Filesz == 0 {
		return dynamic, 0, errNoTable
	}
	return dynamic, bias, nil
}

// size is how many bytes of memory the image takes, by its own word.
func (m image) size() (uint64, error) {
	header, err := m.header()
	if err != nil {
		return 0, err
	}
	end := uint64(headerSize)
	for i := range uint64(header.Phnum) {
		entry, ok := m.slice(header.Phoff+i*programSize, programSize)
		if !ok {
			return 0, errNoImage
		}
		var p elf.Prog64
		decode(entry, &p)
		if elf.ProgType(p.Type) == elf.PT_LOAD {
			end = max(end, p.Off+p.Filesz)
		}
	}
	return end, nil
}

func (m image) header() (h elf.Header64, err error) {
	data, ok := m.slice(0, headerSize)
	if !ok || !bytes.HasPrefix(data, []byte(elf.ELFMAG)) ||
		elf.Class(data[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(data[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return h, errNoImage
	}
	decode(data, &h)
	return h, nil
}

// dynamicTags reads the dynamic section, up to its end mark.
func (m image) dynamicTags(section elf.Prog64) map[elf.DynTag]uint64 {
	tags := map[elf.DynTag]uint64{}
	for offset := uint64(0); offset < section.Filesz; offset += dynamicSize {
		entry, ok := m.slice(section.Off+offset, dynamicSize)
		if !ok {
			break
		}
		var d elf.Dyn64
		decode(entry, &d)
		if elf.DynTag(d.Tag) == elf.DT_NULL {
			break
		}
		tags[elf.DynTag(d.Tag)] = d.Val
	}
	return tags
}

// symbolCount is the number of dynamic symbols, which only the hash tables
// know. Older vDSOs have the one kind, newer ones the other.
func (m image) symbolCount(tags map[elf.DynTag]uint64, bias uint64) uint64 {
	if table, ok := tags[elf.DT_HASH]; ok {
		count, _ := m.word(table - bias + 4)
		return uint64(count)
	}
	if table, ok := tags[elf.DT_GNU_HASH]; ok {
		return m.gnuSymbolCount(table - bias)
	}
	return 0
}

// gnuSymbolCount finds the last symbol of the last chain of a GNU hash table:
// four words (buckets, first hashed symbol, words of the Bloom filter, shift),
// the filter, the buckets, and one word a symbol, whose lowest bit ends a chain.
func (m image) gnuSymbolCount(table uint64) uint64 {
	buckets, ok1 := m.word(table)
	first, ok2 := m.word(table + 4)
	filter, ok3 := m.word(table + 8)
	if !ok1 || !ok2 || !ok3 {
		return 0
	}
	start := table + 16 + 8*uint64(filter)
	last := uint32(0)
	for i := range uint64(buckets) {
		symbol, ok := m.word(start + 4*i)
		if !ok {
			return 0
		}
		last = max(last, symbol)
	}
	if last < first {
		return uint64(first)
	}
	chains := start + 4*uint64(buckets)
	for ; ; last++ {
		hash, ok := m.word(chains + 4*uint64(last-first))
		if !ok {
			return 0
		}
		if hash&1 != 0 {
			return uint64(last) + 1
		}
	}
}

// slice is n bytes of the image from offset, if it has them.
func (m image) slice(offset, n uint64) ([]byte, bool) {
	size := uint64(len(m))
	if offset > size || n > size-offset {
		return nil, false
	}
	return m[offset : offset+n], true
}

// word is the 32-bit word at offset, if there is one.
func (m image) word(offset uint64) (uint32, bool) {
	b, ok := m.slice(offset, 4)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

// decode fills a structure of fixed size from as many bytes.
func decode[T any](b []byte, into *T) {
	if _, err := binary.Decode(b, binary.LittleEndian, into); err != nil {
		panic(err) // the sizes above are wrong
	}
}
