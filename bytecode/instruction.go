package bytecode

import "chronoscope/internal/classfile"

// Kind is a group of instructions.
type Kind string

// The kinds, as the JVM specification groups them.
const (
	Constants   Kind = "constants"
	Loads       Kind = "loads"
	Stores      Kind = "stores"
	StackMoves  Kind = "stack"
	Arithmetic  Kind = "arithmetic"
	Conversions Kind = "conversions"
	Comparisons Kind = "comparisons"
	Branches    Kind = "branches"
)

// Instruction is one of the catalogue.
type Instruction struct {
	Mnemonic string
	Opcode   byte
	Kind     Kind
	// Takes and Leaves are the types of what it takes from the operand stack and
	// leaves there, the top last: i, l, f, d, and a for a reference. Instructions that
	// move slots of any type are given with int, as they are timed.
	Takes, Leaves string
}

// variable is the local variable of instructions that can name any; those before it are
// for instructions that name one of them by their opcode.
const variable = 4

// append adds the instruction to code. A branch goes to the next instruction.
func (in *Instruction) append(code *classfile.Code) {
	op := classfile.Op(in.Opcode)
	switch {
	case in.Kind == Branches:
		code.Do(op, code.Here()+1)
	case op == classfile.Bipush, op == classfile.Sipush:
		code.Do(op, 100)
	case op == classfile.Iinc:
		*code = append(*code, classfile.Instruction{Op: op, Arg: variable, Increment: 1})
	case op >= classfile.Iload && op <= classfile.Dload, op >= classfile.Istore && op <= classfile.Dstore:
		code.Do(op, variable)
	default:
		code.Do(op)
	}
}

// reads is the local variable that the instruction reads, and its type; 0 where it reads
// none.
func (in *Instruction) reads() (local int, kind byte) {
	op := classfile.Op(in.Opcode)
	switch {
	case op == classfile.Iinc:
		return variable, 'i'
	case in.Kind != Loads:
		return 0, 0
	case op <= classfile.Dload:
		return variable, in.Leaves[0]
	}
	return int(op-classfile.Iload0) % 4, in.Leaves[0]
}

// conditional reports that the instruction is a branch that may jump or not.
func (in *Instruction) conditional() bool { return in.Kind == Branches && in.Takes != "" }

// slots is how many slots a value of the type has.
func slots(kind byte) int {
	if kind == 'l' || kind == 'd' {
		return 2
	}
	return 1
}
