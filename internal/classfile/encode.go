package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// mostCode is the largest number of bytes of a method's code (JVM specification, section 4.7.3: less
// than 65536).
const mostCode = math.MaxUint16

// Encode returns the class file. The error says what the format can't express, and in which method.
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

// count writes the number of elements of a list.
func (w *writer) count(what string, n int) error {
	if n > math.MaxUint16 {
		return fmt.Errorf("%d %s, where %d are possible", n, what, math.MaxUint16)
	}
	w.u16(n)
	return nil
}

func (w *writer) class(c *Class) error {
	if err := c.check(); err != nil {
		return err
	}
	w.u16(int(c.Access))
	w.u16(int(w.pool.class(c.Name)))
	super := uint16(0)
	if c.Super != "" {
		super = w.pool.class(c.Super)
	}
	w.u16(int(super))
	if err := w.count("interfaces", len(c.Interfaces)); err != nil {
		return err
	}
	for _, name := range c.Interfaces {
		w.u16(int(w.pool.class(name)))
	}
	if err := w.count("fields", len(c.Fields)); err != nil {
		return err
	}
	for _, f := range c.Fields {
		w.member(f.Access, f.Name, f.Descriptor)
		w.u16(0) // number of attributes
	}
	if err := w.count("methods", len(c.Methods)); err != nil {
		return err
	}
	for i := range c.Methods {
		if err := w.method(&c.Methods[i]); err != nil {
			return fmt.Errorf("method %s%s: %w", c.Methods[i].Name, c.Methods[i].Descriptor, err)
		}
	}
	w.u16(0) // number of attributes
	return w.pool.err
}

// check returns an error if a name or a descriptor is invalid.
func (c *Class) check() error {
	names := append([]string{c.Name}, c.Interfaces...)
	if c.Super != "" {
		names = append(names, c.Super)
	}
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
	}
	for _, f := range c.Fields {
		if err := (Member{c.Name, f.Name, f.Descriptor}).checkField(); err != nil {
			return err
		}
	}
	for _, m := range c.Methods {
		if err := (Member{c.Name, m.Name, m.Descriptor}).checkMethod(); err != nil {
			return err
		}
		if abstract := m.Access&(Abstract|Native) != 0; abstract != (m.Code == nil) {
			return fmt.Errorf("method %s%s: abstract and native methods have no code, and all others have", m.Name, m.Descriptor)
		}
	}
	return nil
}

func (w *writer) member(access Access, name, descriptor string) {
	w.u16(int(access))
	w.u16(int(w.pool.text(name)))
	w.u16(int(w.pool.text(descriptor)))
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
	limits, err := m.Limits()
	if err != nil {
		return err
	}
	offsets, err := offsets(m.Code)
	if err != nil {
		return err
	}
	w.u16(1) // number of attributes
	w.u16(int(w.pool.text(codeAttribute)))
	length := offsets[len(m.Code)]
	w.u32(codeFrame + length)
	w.u16(limits.Stack)
	w.u16(limits.Locals)
	w.u32(length)
	for i := range m.Code {
		if err := w.instruction(m.Code, i, offsets); err != nil {
			return fmt.Errorf("instruction %d, %v: %w", i, m.Code[i].Op, err)
		}
	}
	w.u16(0) // number of exception handlers
	w.u16(0) // number of attributes
	return nil
}

// offsets returns the offset at which each instruction begins, and the one at which the code ends.
func offsets(code []Instruction) ([]int, error) {
	at := make([]int, len(code)+1)
	for i, in := range code {
		s, ok := in.Op.shape()
		if !ok {
			return nil, fmt.Errorf("instruction %d: %v (%d) is not supported", i, in.Op, byte(in.Op))
		}
		at[i+1] = at[i] + s.format.length()
	}
	if n := at[len(code)]; n > mostCode {
		return nil, fmt.Errorf("the code has %d bytes, and %d are possible", n, mostCode)
	}
	return at, nil
}

// instruction writes instruction i of the code.
func (w *writer) instruction(code []Instruction, i int, offsets []int) error {
	in := &code[i]
	w.u8(int(in.Op))
	switch s, _ := in.Op.shape(); s.format {
	case byteValue:
		return w.within(in.Arg, math.MinInt8, math.MaxInt8, w.u8)
	case shortValue:
		return w.within(in.Arg, math.MinInt16, math.MaxInt16, w.u16)
	case local:
		return w.within(in.Arg, 0, math.MaxUint8, w.u8)
	case arrayType:
		return w.within(in.Arg, firstArrayType, lastArrayType, w.u8)
	case increment:
		if err := w.within(in.Arg, 0, math.MaxUint8, w.u8); err != nil {
			return err
		}
		return w.within(in.Increment, math.MinInt8, math.MaxInt8, w.u8)
	case branch, wideBranch:
		if in.Arg < 0 || in.Arg >= len(code) {
			return fmt.Errorf("it goes to instruction %d of %d", in.Arg, len(code))
		}
		distance := offsets[in.Arg] - offsets[i]
		if s.format == wideBranch {
			w.u32(distance)
			return nil
		}
		return w.within(distance, math.MinInt16, math.MaxInt16, w.u16)
	case constant8, constant, class, field, method, interfaceMethod:
		return w.reference(in, s.format)
	}
	return nil
}

// The first and the last code of newarray's types: boolean and long.
const firstArrayType, lastArrayType = 4, 11

// within writes a value, or returns an error if it is not between least and most.
func (w *writer) within(v, least, most int, write func(int)) error {
	if v < least || v > most {
		return fmt.Errorf("%d is not from %d to %d", v, least, most)
	}
	write(v)
	return nil
}

// reference writes the index of the constant to which an instruction refers.
func (w *writer) reference(in *Instruction, f format) error {
	if err := in.checkRef(f); err != nil {
		return err
	}
	switch f {
	case constant8:
		return w.within(int(w.pool.constant(in.Ref)), 0, math.MaxUint8, w.u8)
	case constant:
		w.u16(int(w.pool.constant(in.Ref)))
	case class:
		w.u16(int(w.pool.class(string(in.Ref.(ClassRef)))))
	case field:
		w.u16(int(w.pool.member(tagField, in.Ref.(Member))))
	case method:
		w.u16(int(w.pool.member(tagMethod, in.Ref.(Member))))
	case interfaceMethod:
		m := in.Ref.(Member)
		w.u16(int(w.pool.member(tagInterfaceMethod, m)))
		arguments, _, _ := methodSlots(m.Descriptor)
		w.u8(arguments + 1)
		w.u8(0)
	}
	return w.pool.err
}

// checkRef returns an error if the instruction can't have this kind of reference.
func (in *Instruction) checkRef(f format) error {
	wrong := fmt.Errorf("it can't refer to a %T", in.Ref)
	switch ref := in.Ref.(type) {
	case Member:
		if f == field {
			return ref.checkField()
		}
		if f == method || f == interfaceMethod {
			return ref.checkMethod()
		}
	case ClassRef:
		if f == class || f != field && f != method && f != interfaceMethod && in.Op != Ldc2W {
			return ref.check()
		}
	case int32, float32, string:
		if f == constant8 || f == constant && in.Op != Ldc2W {
			return nil
		}
	case int64, float64:
		if in.Op == Ldc2W {
			return nil
		}
	}
	return wrong
}

// check returns an error if c is not the name of a class. The name of an array class is its descriptor.
func (c ClassRef) check() error {
	if len(c) > 0 && c[0] == '[' {
		_, err := fieldSlots(string(c))
		return err
	}
	return checkName(string(c))
}

func (m Member) checkField() error {
	if err := m.checkNames(); err != nil {
		return err
	}
	_, err := fieldSlots(m.Descriptor)
	return err
}

func (m Member) checkMethod() error {
	if err := m.checkNames(); err != nil {
		return err
	}
	_, _, err := methodSlots(m.Descriptor)
	return err
}

func (m Member) checkNames() error {
	if err := ClassRef(m.Class).check(); err != nil {
		return err
	}
	return checkMember(m.Name)
}
