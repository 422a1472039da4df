package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// The tags of constants (JVM specification, section 4.4).
const (
	tagUTF8            = 1
	tagInteger         = 3
	tagFloat           = 4
	tagLong            = 5
	tagDouble          = 6
	tagClass           = 7
	tagString          = 8
	tagField           = 9
	tagMethod          = 10
	tagInterfaceMethod = 11
	tagNameAndType     = 12
)

// pool is a constant pool that is being written. It holds each constant once, identified by its bytes.
type pool struct {
	bytes []byte
	next  int
	index map[string]uint16
	err   error // the first error
}

func newPool() *pool { return &pool{next: 1, index: map[string]uint16{}} }

// mostConstants is one more than the largest index of a constant.
const mostConstants = math.MaxUint16

// enter returns the index of a constant, which takes one or two indices, and adds it if it is new.
func (p *pool) enter(entry []byte, places int) uint16 {
	if i, ok := p.index[string(entry)]; ok {
		return i
	}
	if p.next+places > mostConstants {
		p.fail("there are more than %d constants", mostConstants-1)
		return 0
	}
	i := uint16(p.next)
	p.index[string(entry)] = i
	p.bytes = append(p.bytes, entry...)
	p.next += places
	return i
}

func (p *pool) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// pair returns the index of a constant that consists of two indices.
func (p *pool) pair(tag byte, a, b uint16) uint16 {
	return p.enter(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{tag}, a), b), 1)
}

// text returns the index of a string's bytes.
func (p *pool) text(s string) uint16 {
	if err := checkText(s); err != nil {
		p.fail("%v", err)
		return 0
	}
	return p.enter(append(binary.BigEndian.AppendUint16([]byte{tagUTF8}, uint16(len(s))), s...), 1)
}

// checkText returns an error for characters that class files do not encode as UTF-8: NUL, and characters
// beyond the basic plane, which they encode as two surrogates.
func checkText(s string) error {
	if len(s) > math.MaxUint16 {
		return fmt.Errorf("a text of %d bytes, where at most %d are possible", len(s), math.MaxUint16)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r == 0 || r > 0xFFFF }) {
		return fmt.Errorf("%q holds characters that this package doesn't write", s)
	}
	return nil
}

func (p *pool) class(name string) uint16 {
	return p.enter(binary.BigEndian.AppendUint16([]byte{tagClass}, p.text(name)), 1)
}

func (p *pool) member(tag byte, m Member) uint16 {
	return p.pair(tag, p.class(m.Class), p.pair(tagNameAndType, p.text(m.Name), p.text(m.Descriptor)))
}

// constant returns the index of a constant for ldc, ldc_w or ldc2_w; 0 if they can't load the value.
func (p *pool) constant(value any) uint16 {
	big := binary.BigEndian
	switch v := value.(type) {
	case int32:
		return p.enter(big.AppendUint32([]byte{tagInteger}, uint32(v)), 1)
	case float32:
		return p.enter(big.AppendUint32([]byte{tagFloat}, math.Float32bits(v)), 1)
	case int64:
		return p.enter(big.AppendUint64([]byte{tagLong}, uint64(v)), 2)
	case float64:
		return p.enter(big.AppendUint64([]byte{tagDouble}, math.Float64bits(v)), 2)
	case string:
		return p.enter(big.AppendUint16([]byte{tagString}, p.text(v)), 1)
	case ClassRef:
		return p.class(string(v))
	}
	p.fail("a %T is no constant that can be loaded", value)
	return 0
}
