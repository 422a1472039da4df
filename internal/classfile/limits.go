package classfile

import (
	"fmt"
	"math"
)

// Limits is what the code of a method needs: slots of the operand stack, and slots of local variables
// including its parameters.
type Limits struct{ Stack, Locals int }

// Limits follows the method's code along all paths. It returns an error if the stack has different
// depths at an instruction on different paths, if an instruction takes more than the stack holds, or if
// the code does not end with a return or a jump.
func (m *Method) Limits() (Limits, error) {
	parameters, _, err := methodSlots(m.Descriptor)
	if err != nil {
		return Limits{}, err
	}
	if m.Access&Static == 0 {
		parameters++
	}
	f := flow{code: m.Code, depths: make([]int, len(m.Code))}
	for i := range f.depths {
		f.depths[i] = unvisited
	}
	f.limits.Locals = parameters
	if err := f.follow(); err != nil {
		return Limits{}, err
	}
	for _, in := range m.Code {
		if variable, slots := in.Op.localUse(in.Arg); slots > 0 {
			f.limits.Locals = max(f.limits.Locals, variable+slots)
		}
	}
	if f.limits.Stack > math.MaxUint16 || f.limits.Locals > math.MaxUint16 {
		return Limits{}, fmt.Errorf("it needs %d slots of the operand stack and %d of local variables, and %d each are possible",
			f.limits.Stack, f.limits.Locals, math.MaxUint16)
	}
	return f.limits, nil
}

const unvisited = -1

// flow holds the depth of the stack before each instruction, as far as it is known.
type flow struct {
	code    []Instruction
	depths  []int
	pending []int // instructions that are reached and not followed yet
	limits  Limits
}

func (f *flow) follow() error {
	if err := f.reach(0, 0); err != nil {
		return err
	}
	for len(f.pending) > 0 {
		i := f.pending[len(f.pending)-1]
		f.pending = f.pending[:len(f.pending)-1]
		if err := f.step(i); err != nil {
			return fmt.Errorf("instruction %d, %v: %w", i, f.code[i].Op, err)
		}
	}
	return nil
}

// reach records that an instruction is reached with a stack of the given depth.
func (f *flow) reach(i, depth int) error {
	if i < 0 || i >= len(f.code) {
		return fmt.Errorf("the code goes on at instruction %d of %d", i, len(f.code))
	}
	switch f.depths[i] {
	case depth:
	case unvisited:
		f.depths[i] = depth
		f.pending = append(f.pending, i)
	default:
		return fmt.Errorf("instruction %d is reached with a stack of %d slots, and of %d", i, f.depths[i], depth)
	}
	return nil
}

// step applies the effect of instruction i to the depth of the stack, and calls reach for each instruction that
// can follow it.
func (f *flow) step(i int) error {
	in, depth := f.code[i], f.depths[i]
	takes, leaves, err := in.effect()
	if err != nil {
		return err
	}
	if depth < takes {
		return fmt.Errorf("it takes %d slots, and the stack has %d", takes, depth)
	}
	after := depth - takes + leaves
	f.limits.Stack = max(f.limits.Stack, after)
	if in.Op.branches() {
		if err := f.reach(in.Arg, after); err != nil {
			return err
		}
	}
	if in.Op.ends() {
		return nil
	}
	return f.reach(i+1, after)
}

// effect returns how many slots an instruction takes from the operand stack and leaves there.
func (in *Instruction) effect() (takes, leaves int, err error) {
	s, ok := in.Op.shape()
	if !ok {
		return 0, 0, fmt.Errorf("%v (%d) is not supported", in.Op, byte(in.Op))
	}
	takes, leaves = s.takes, s.leaves
	if s.format != field && s.format != method && s.format != interfaceMethod {
		return takes, leaves, nil
	}
	m, ok := in.Ref.(Member)
	if !ok {
		return 0, 0, fmt.Errorf("%v needs a Member, and has a %T", in.Op, in.Ref)
	}
	if s.format == field {
		takes, err = fieldSlots(m.Descriptor)
		if in.Op == Getstatic || in.Op == Getfield {
			takes, leaves = 0, takes
		}
	} else {
		takes, leaves, err = methodSlots(m.Descriptor)
	}
	if in.Op != Getstatic && in.Op != Putstatic && in.Op != Invokestatic {
		takes++ // the object
	}
	return takes, leaves, err
}

// branches reports whether an instruction has a jump target.
func (op Op) branches() bool {
	s, ok := op.shape()
	return ok && (s.format == branch || s.format == wideBranch)
}
