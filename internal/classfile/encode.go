package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// mostCode is the largest number of bytes of a method's code (JVM specification, section 4.7.3: less
// than 65536).
const mostCode = math.MaxUint16

// Encode returns the class file. The error says which method has too much code. Anything else that can't be written is a
// fault of the program, and Encode panics. The virtual machine checks the names, descriptors and references.
func (c *Class) Encode() ([]byte, error) {
	w := writer{pool: newPool()}
	if err := w.class(c); err != nil {
		return nil, fmt.Errorf("class %s: %w", c.Name, err)
	}
	head := binary.BigEndian.AppendUint32(nil, magic)
	head = append(head, 0, 0, 0, Version)
	head = binary.BigEndian.AppendUint16(head, uint16(w.pool.next))
	return append(append(head, w.pool.bytes...), w.bytes...), nil
}

// writer writes the part of the file after the constant pool, and fills the pool meanwhile.
type writer struct {
	pool  *pool
	bytes []byte
}

func (w *writer) u8(v int)  { w.bytes = append(w.bytes, byte(v)) }
func (w *writer) u16(v int) { w.bytes = binary.BigEndian.AppendUint16(w.bytes, uint16(v)) }
func (w *writer) u32(v int) { w.bytes = binary.BigEndian.AppendUint32(w.bytes, uint32(v)) }

func (w *writer) class(c *Class) error {
	w.u16(int(c.Access))
	w.u16(w.pool.class(c.Name))
	w.u16(w.pool.class(c.Super))
	w.u16(within(len(c.Interfaces), 0, math.MaxUint16))
	for _, name := range c.Interfaces {
		w.u16(w.pool.class(name))
	}
	w.u16(within(len(c.Fields), 0, math.MaxUint16))
	for _, f := range c.Fields {
		w.member(f.Access, f.Name, f.Descriptor)
		w.u16(0) // number of attributes
	}
	w.u16(within(len(c.Methods), 0, math.MaxUint16))
	for i := range c.Methods {
		if err := w.method(&c.Methods[i]); err != nil {
			return fmt.Errorf("method %s%s: %w", c.Methods[i].Name, c.Methods[i].Descriptor, err)
		}
	}
	w.u16(0) // number of attributes
	return nil
}

func (w *writer) member(access Access, name, descriptor string) {
	w.u16(int(access))
	w.u16(w.pool.text(name))
	w.u16(w.pool.text(descriptor))
}

// codeAttribute is the name of the attribute that holds a method's code, and codeFrame the number of its
// bytes in addition to the code.
const (
	codeAttribute = "Code"
	codeFrame     = 12
)

func (w *writer) method(m *Method) error {
	w.member(m.Access, m.Name, m.Descriptor)
	if m.Code == nil {
		w.u16(0) // number of attributes
		return nil
	}
	offsets := offsets(m.Code)
	length := offsets[len(m.Code)]
	if length > mostCode {
		return fmt.Errorf("the code has %d bytes, and %d are possible", length, mostCode)
	}
	limits := m.Limits()
	w.u16(1) // number of attributes
	w.u16(w.pool.text(codeAttribute))
	w.u32(codeFrame + length)
	w.u16(within(limits.Stack, 0, math.MaxUint16))
	w.u16(within(limits.Locals, 0, math.MaxUint16))
	w.u32(length)
	for i := range m.Code {
		w.instruction(&m.Code[i], offsets[i], offsets)
	}
	w.u16(0) // number of exception handlers
	w.u16(0) // number of attributes
	return nil
}

// offsets returns the offset at which each instruction begins, and the one at which the code ends.
func offsets(code []Instruction) []int {
	at := make([]int, len(code)+1)
	for i, in := range code {
		at[i+1] = at[i] + in.Op.shape().format.length()
	}
	return at
}

// instruction writes the instruction that begins at an offset.
func (w *writer) instruction(in *Instruction, at int, offsets []int) {
	w.u8(int(in.Op))
	switch in.Op.shape().format {
	case byteValue:
		w.u8(within(in.Arg, math.MinInt8, math.MaxInt8))
	case shortValue:
		w.u16(within(in.Arg, math.MinInt16, math.MaxInt16))
	case local:
		w.u8(within(in.Arg, 0, math.MaxUint8))
	case arrayType:
		w.u8(within(in.Arg, firstArrayType, lastArrayType))
	case increment:
		w.u8(within(in.Arg, 0, math.MaxUint8))
		w.u8(within(in.Increment, math.MinInt8, math.MaxInt8))
	case branch:
		w.u16(within(offsets[in.Arg]-at, math.MinInt16, math.MaxInt16))
	case wideBranch:
		w.u32(offsets[in.Arg] - at)
	case constant:
		w.u16(w.pool.constant(in.Ref))
	case class:
		w.u16(w.pool.class(string(in.Ref.(ClassRef))))
	case field:
		w.u16(w.pool.member(tagField, in.Ref.(Member)))
	case method:
		w.u16(w.pool.member(tagMethod, in.Ref.(Member)))
	case interfaceMethod:
		m := in.Ref.(Member)
		w.u16(w.pool.member(tagInterfaceMethod, m))
		arguments, _ := methodSlots(m.Descriptor)
		w.u8(arguments + 1)
		w.u8(0)
	}
}

// The first and the last code of newarray's types: boolean and long.
const firstArrayType, lastArrayType = 4, 11

// within returns v, and panics if it is not between least and most.
func within(v, least, most int) int {
	if v < least || v > most {
		panic(fmt.Sprintf("classfile: %d is not from %d to %d", v, least, most))
	}
	return v
}
