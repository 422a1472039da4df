package classfile

import "strings"

// Code is the code of a method while it is assembled.
type Code []Instruction

// Do adds an instruction that has no operand, or one whose operand is a number: a local variable or an
// immediate value.
func (c *Code) Do(op Op, arg ...int) {
	in := Instruction{Op: op}
	if len(arg) > 0 {
		in.Arg = arg[0]
	}
	*c = append(*c, in)
}

// Add adds instructions by their mnemonics. An instruction that needs a number, such as a local
// variable, takes the next one of args; iinc takes two, the variable and the increment.
func (c *Code) Add(mnemonics string, args ...int) {
	for mnemonic := range strings.FieldsSeq(mnemonics) {
		op, known := OpOf(mnemonic)
		if !known {
			panic("classfile: there is no instruction " + mnemonic)
		}
		in := Instruction{Op: op}
		if shapes[op].format != none {
			in.Arg, args = args[0], args[1:]
		}
		if op == Iinc {
			in.Increment, args = args[0], args[1:]
		}
		*c = append(*c, in)
	}
}

// Refer adds an instruction that refers to a Member, a ClassRef or a constant.
func (c *Code) Refer(op Op, ref any) { *c = append(*c, Instruction{Op: op, Ref: ref}) }

// Here returns the index of the next instruction.
func (c *Code) Here() int { return len(*c) }

// Jump adds a branch whose target Land sets, and returns its index.
func (c *Code) Jump(op Op) (at int) {
	c.Do(op)
	return c.Here() - 1
}

// Land makes the next instruction the target of the branch with the given index.
func (c *Code) Land(at int) { (*c)[at].Arg = c.Here() }

// Int adds the shortest instruction that pushes an int.
func (c *Code) Int(v int32) {
	switch {
	case v >= -1 && v <= 5:
		c.Do(Iconst0 + Op(v))
	case int32(int8(v)) == v:
		c.Do(Bipush, int(v))
	case int32(int16(v)) == v:
		c.Do(Sipush, int(v))
	default:
		c.Refer(LdcW, v)
	}
}

// Long adds the shortest instruction that pushes a long.
func (c *Code) Long(v int64) {
	if v == 0 || v == 1 {
		c.Do(Lconst0 + Op(v))
		return
	}
	c.Refer(Ldc2W, v)
}

// Float adds the shortest instruction that pushes a float.
func (c *Code) Float(v float32) {
	switch v {
	case 1, 2: // 0 is not among them, because the instruction ignores its sign
		c.Do(Fconst0 + Op(v))
	default:
		c.Refer(LdcW, v)
	}
}

// Double adds the shortest instruction that pushes a double.
func (c *Code) Double(v float64) {
	if v == 1 {
		c.Do(Dconst1)
		return
	}
	c.Refer(Ldc2W, v)
}
