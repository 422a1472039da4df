package classfile

import (
	"fmt"
	"slices"
)

// Limits is what the code of a method needs: slots of the operand stack, and slots of local variables
// including its parameters.
type Limits struct{ Stack, Locals int }

// Limits follows the method's code along all paths. It panics if the stack has different depths at an instruction on
// different paths, if an instruction takes more than the stack has, or if the code does not end with a return or a jump.
func (m *Method) Limits() Limits {
	f := flow{code: m.Code, depths: slices.Repeat([]int{unvisited}, len(m.Code))}
	f.limits.Locals, _ = methodSlots(m.Descriptor)
	if m.Access&Static == 0 {
		f.limits.Locals++
	}
	f.reach(0, 0)
	for len(f.pending) > 0 {
		i := f.pending[len(f.pending)-1]
		f.pending = f.pending[:len(f.pending)-1]
		f.step(i)
	}
	for _, in := range m.Code {
		if variable, slots := in.Op.localUse(in.Arg); slots > 0 {
			f.limits.Locals = max(f.limits.Locals, variable+slots)
		}
	}
	return f.limits
}

const unvisited = -1

// flow holds the depth of the stack before each instruction, as far as it is known.
type flow struct {
	code    []Instruction
	depths  []int
	pending []int // instructions that are reached and not followed yet
	limits  Limits
}

// reach records that an instruction is reached with a stack of the given depth.
func (f *flow) reach(i, depth int) {
	switch f.depths[i] {
	case depth:
	case unvisited:
		f.depths[i] = depth
		f.pending = append(f.pending, i)
	default:
		panic(fmt.Sprintf("classfile: instruction %d is reached with a stack of %d slots, and of %d", i, f.depths[i], depth))
	}
}

// step applies the effect of instruction i to the depth of the stack, and calls reach for each instruction that
// can follow it.
func (f *flow) step(i int) {
	in := f.code[i]
	takes, leaves := in.effect()
	after := within(f.depths[i]-takes, 0, f.depths[i]) + leaves
	f.limits.Stack = max(f.limits.Stack, after)
	if in.Op.branches() {
		f.reach(in.Arg, after)
	}
	if !in.Op.ends() {
		f.reach(i+1, after)
	}
}

// effect returns how many slots an instruction takes from the operand stack and leaves there.
func (in *Instruction) effect() (takes, leaves int) {
	s := in.Op.shape()
	takes, leaves = s.takes, s.leaves
	switch s.format {
	case field:
		takes, _ = slots(in.Ref.(Member).Descriptor)
		if in.Op == Getstatic || in.Op == Getfield {
			takes, leaves = 0, takes
		}
	case method, interfaceMethod:
		takes, leaves = methodSlots(in.Ref.(Member).Descriptor)
	default:
		return takes, leaves
	}
	if in.Op != Getstatic && in.Op != Putstatic && in.Op != Invokestatic {
		takes++ // the object
	}
	return takes, leaves
}

// branches reports whether an instruction has a jump target.
func (op Op) branches() bool {
	f := op.shape().format
	return f == branch || f == wideBranch
}
