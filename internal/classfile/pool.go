package classfile

import (
	"encoding/binary"
	"math"
)

// The tags of constants (JVM specification, section 4.4).
const (
	tagUTF8            = 1
	tagInteger         = 3
	tagFloat           = 4
	tagLong            = 5
	tagDouble          = 6
	tagClass           = 7
	tagField           = 9
	tagMethod          = 10
	tagInterfaceMethod = 11
	tagNameAndType     = 12
)

// pool is a constant pool that is being written. It holds each constant once, identified by its bytes.
type pool struct {
	bytes []byte
	next  int
	index map[string]int
}

func newPool() *pool { return &pool{next: 1, index: map[string]int{}} }

// mostConstants is one more than the largest index of a constant.
const mostConstants = math.MaxUint16

// enter returns the index of a constant, which takes one or two indices, and adds it if it is new.
func (p *pool) enter(entry []byte, places int) int {
	if i, ok := p.index[string(entry)]; ok {
		return i
	}
	i := within(p.next, 1, mostConstants-places)
	p.index[string(entry)] = i
	p.bytes = append(p.bytes, entry...)
	p.next += places
	return i
}

// refer returns the index of a constant that consists of other indices.
func (p *pool) refer(tag byte, to ...int) int {
	entry := []byte{tag}
	for _, index := range to {
		entry = binary.BigEndian.AppendUint16(entry, uint16(index))
	}
	return p.enter(entry, 1)
}

// text returns the index of a string's bytes.
func (p *pool) text(s string) int {
	return p.enter(append(binary.BigEndian.AppendUint16([]byte{tagUTF8}, uint16(within(len(s), 0, math.MaxUint16))), s...), 1)
}

func (p *pool) class(name string) int { return p.refer(tagClass, p.text(name)) }

func (p *pool) member(tag byte, m Member) int {
	return p.refer(tag, p.class(m.Class), p.refer(tagNameAndType, p.text(m.Name), p.text(m.Descriptor)))
}

// constant returns the index of a constant for ldc_w or ldc2_w.
func (p *pool) constant(value any) int {
	big := binary.BigEndian
	switch v := value.(type) {
	case int32:
		return p.enter(big.AppendUint32([]byte{tagInteger}, uint32(v)), 1)
	case float32:
		return p.enter(big.AppendUint32([]byte{tagFloat}, math.Float32bits(v)), 1)
	case int64:
		return p.enter(big.AppendUint64([]byte{tagLong}, uint64(v)), 2)
	default:
		return p.enter(big.AppendUint64([]byte{tagDouble}, math.Float64bits(v.(float64))), 2)
	}
}
