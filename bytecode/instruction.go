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

// Instruction is an instruction of the catalogue.
type Instruction struct {
	Mnemonic string
	Opcode   byte
	Kind     Kind
	// Takes and Leaves are the types of the values that the instruction takes from the operand stack,
	// and of those that it leaves there, the top one last: i, l, f, d, and a for a reference.
	// Instructions that move slots of any type have the type int here, because they are timed with
	// ints.
	Takes, Leaves string
}

// variable is the local variable for instructions that have its number as an operand. Variables with
// lower numbers are for instructions whose opcode contains the number.
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

// reads returns the local variable that the instruction reads, and its type; the type is 0 if it reads
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

// conditional reports whether the instruction is a conditional branch.
func (in *Instruction) conditional() bool { return in.Kind == Branches && in.Takes != "" }

// slots returns the number of slots of a value of the type.
func slots(kind byte) int {
	if kind == 'l' || kind == 'd' {
		return 2
	}
	return 1
}
