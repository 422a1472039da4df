package classfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// parse reads a class file of the kind that this package writes, and returns an error with the place of
// anything else. It skips attributes that the tests do not need.
func parse(data []byte) (c *Class, err error) {
	defer func() { // the code is none of this package
		if why := recover(); why != nil {
			c, err = nil, fmt.Errorf("%v", why)
		}
	}()
	r := &reader{rest: data}
	if c, err = r.class(); err != nil {
		return nil, fmt.Errorf("reading a class file of %d bytes, at byte %d: %w", len(data), len(data)-len(r.rest), err)
	}
	return c, nil
}

// reader reads from the front of rest. After an error it reads zeros.
type reader struct {
	rest      []byte
	constants constants
	err       error
}

var errShort = errors.New("it ends too early")

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.fail(errShort)
	}
	if r.err != nil {
		return make([]byte, min(n, 8))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) u8() int  { return int(r.take(1)[0]) }
func (r *reader) u16() int { return int(binary.BigEndian.Uint16(r.take(2))) }
func (r *reader) u32() int { return int(binary.BigEndian.Uint32(r.take(4))) }

func (r *reader) class() (*Class, error) {
	if uint32(r.u32()) != magic {
		return nil, errors.New("the first four bytes are not those of a class file")
	}
	if minor, major := r.u16(), r.u16(); r.err == nil && (minor != 0 || major != Version) {
		return nil, fmt.Errorf("it is of version %d.%d, and only %d.0 is read", major, minor, Version)
	}
	if err := r.readPool(); err != nil {
		return nil, err
	}
	c := &Class{Access: Access(r.u16()), Name: r.className(r.u16())}
	if super := r.u16(); super != 0 {
		c.Super = r.className(super)
	}
	for range r.u16() {
		if r.err != nil {
			break
		}
		c.Interfaces = append(c.Interfaces, r.className(r.u16()))
	}
	for range r.u16() {
		if r.err != nil {
			break
		}
		c.Fields = append(c.Fields, Field{Access(r.u16()), r.text(r.u16()), r.text(r.u16())})
		r.attributes(nil)
	}
	for range r.u16() {
		if r.err != nil {
			break
		}
		c.Methods = append(c.Methods, r.method())
	}
	r.attributes(nil)
	if r.err == nil && len(r.rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow its end", len(r.rest))
	}
	return c, r.err
}

// attributes reads a list of attributes and calls the function in wanted for each that has one. It skips
// the others.
func (r *reader) attributes(wanted map[string]func(*reader)) {
	for range r.u16() {
		name, length := r.text(r.u16()), r.u32()
		content := r.take(length)
		if r.err != nil {
			return
		}
		read, ok := wanted[name]
		if !ok {
			continue
		}
		inner := &reader{rest: content, constants: r.constants}
		read(inner)
		if inner.err == nil && len(inner.rest) > 0 {
			inner.fail(fmt.Errorf("%d bytes follow its end", len(inner.rest)))
		}
		if inner.err != nil {
			r.fail(fmt.Errorf("attribute %s: %w", name, inner.err))
		}
	}
}

func (r *reader) method() Method {
	m := Method{Access: Access(r.u16()), Name: r.text(r.u16()), Descriptor: r.text(r.u16())}
	r.attributes(map[string]func(*reader){codeAttribute: func(r *reader) { r.code(&m) }})
	if r.err != nil {
		r.err = fmt.Errorf("method %s%s: %w", m.Name, m.Descriptor, r.err)
	}
	return m
}

// code reads the attribute Code.
func (r *reader) code(m *Method) {
	if m.Code != nil {
		r.fail(errors.New("it is there twice"))
		return
	}
	declared := Limits{r.u16(), r.u16()}
	length := r.u32()
	if length == 0 || length > mostCode {
		r.fail(fmt.Errorf("the code has %d bytes, and 1 to %d are possible", length, mostCode))
		return
	}
	code := &reader{rest: r.take(length), constants: r.constants}
	if r.err != nil {
		return
	}
	m.Code = code.instructions()
	r.err = code.err
	if handlers := r.u16(); handlers != 0 {
		r.fail(errors.New("it has exception handlers, which are not read"))
	}
	r.attributes(nil)
	if r.err != nil {
		return
	}
	if needed := m.Limits(); needed.Stack > declared.Stack || needed.Locals > declared.Locals {
		r.fail(fmt.Errorf("it needs %d slots of the operand stack and %d of local variables, and declares %d and %d",
			needed.Stack, needed.Locals, declared.Stack, declared.Locals))
	}
}

// instructions reads all instructions, and converts the offsets of branches to indices.
func (r *reader) instructions() []Instruction {
	var code []Instruction
	var starts []int
	length := len(r.rest)
	for len(r.rest) > 0 && r.err == nil {
		start := length - len(r.rest)
		in := r.instruction()
		if in.Op.branches() {
			in.Arg += start
		}
		code, starts = append(code, in), append(starts, start)
	}
	for i := range code {
		if r.err != nil || !code[i].Op.branches() {
			continue
		}
		target, ok := slices.BinarySearch(starts, code[i].Arg)
		if !ok {
			r.fail(fmt.Errorf("instruction %d, %v, goes to byte %d, where no instruction begins", i, code[i].Op, code[i].Arg))
		}
		code[i].Arg = target
	}
	return code
}

// instruction reads one instruction. The argument of a branch is its distance in bytes.
func (r *reader) instruction() Instruction {
	in := Instruction{Op: Op(r.u8())}
	switch in.Op.shape().format {
	case byteValue:
		in.Arg = int(int8(r.u8()))
	case shortValue, branch:
		in.Arg = int(int16(r.u16()))
	case wideBranch:
		in.Arg = int(int32(r.u32()))
	case local:
		in.Arg = r.u8()
	case arrayType:
		if in.Arg = r.u8(); in.Arg < firstArrayType || in.Arg > lastArrayType {
			r.fail(fmt.Errorf("%d is no type of an array's elements", in.Arg))
		}
	case increment:
		in.Arg, in.Increment = r.u8(), int(int8(r.u8()))
	case constant:
		in.Ref = r.loadable(r.u16())
	case class:
		in.Ref = ClassRef(r.className(r.u16()))
	case field:
		in.Ref = r.member(tagField, r.u16())
	case method:
		in.Ref = r.member(tagMethod, r.u16())
	case interfaceMethod:
		r.interfaceMethod(&in)
	}
	return in
}

func (r *reader) interfaceMethod(in *Instruction) {
	m := r.member(tagInterfaceMethod, r.u16())
	in.Ref = m
	count, zero := r.u8(), r.u8()
	if r.err != nil {
		return
	}
	if arguments, _ := methodSlots(m.Descriptor); zero != 0 || count != arguments+1 {
		r.fail(fmt.Errorf("%d slots of arguments, where %s has %d with its object", count, m.Descriptor, arguments+1))
	}
}

// constants holds the constants of a pool, by their index.
type constants []entry

// entry is a constant: what it refers to, or its value.
type entry struct {
	tag   byte
	a, b  int
	value any
}

// readPool reads the constant pool. A constant is only interpreted when something refers to it.
func (r *reader) readPool() error {
	count := r.u16()
	r.constants = make(constants, max(1, min(count, 1+len(r.rest)/3)))
	for i := 1; i < count && r.err == nil; i++ {
		if i >= len(r.constants) {
			return errShort // each constant has at least three bytes
		}
		e := r.entry()
		r.constants[i] = e
		if isWide(e.value) {
			i++ // the next index is unused (JVM specification, section 4.4.5)
			if i == count {
				r.fail(errors.New("the last constant lacks its second place"))
			}
		}
	}
	return r.err
}

// isWide reports whether a constant takes two indices.
func isWide(value any) bool {
	switch value.(type) {
	case int64, float64:
		return true
	}
	return false
}

func (r *reader) entry() entry {
	e := entry{tag: byte(r.u8())}
	switch e.tag {
	case tagUTF8:
		e.value = string(r.take(r.u16()))
	case tagInteger:
		e.value = int32(r.u32())
	case tagFloat:
		e.value = math.Float32frombits(uint32(r.u32()))
	case tagLong:
		e.value = int64(binary.BigEndian.Uint64(r.take(8)))
	case tagDouble:
		e.value = math.Float64frombits(binary.BigEndian.Uint64(r.take(8)))
	case tagClass:
		e.a = r.u16()
	case tagField, tagMethod, tagInterfaceMethod, tagNameAndType:
		e.a, e.b = r.u16(), r.u16()
	default:
		r.fail(fmt.Errorf("%d is no tag of a constant", e.tag))
	}
	return e
}

// at returns the constant at an index. It is an error if the constant has another tag.
func (r *reader) at(index int, tag byte) entry {
	if index < len(r.constants) && r.constants[index].tag == tag {
		return r.constants[index]
	}
	r.fail(fmt.Errorf("constant %d is not there, or not of type %d", index, tag))
	return entry{}
}

func (r *reader) text(index int) string {
	text, _ := r.at(index, tagUTF8).value.(string)
	return text
}

func (r *reader) className(index int) string { return r.text(r.at(index, tagClass).a) }

func (r *reader) member(tag byte, index int) Member {
	e := r.at(index, tag)
	named := r.at(e.b, tagNameAndType)
	return Member{r.className(e.a), r.text(named.a), r.text(named.b)}
}

// loadable returns a constant in the form in which ldc_w and ldc2_w load it.
func (r *reader) loadable(index int) any {
	if index < len(r.constants) {
		switch e := r.constants[index]; e.tag {
		case tagInteger, tagFloat, tagLong, tagDouble:
			return e.value
		}
	}
	r.fail(fmt.Errorf("constant %d is none that can be loaded", index))
	return nil
}
