package bytecode

import (
	"fmt"
	"slices"

	"chronoscope/internal/classfile"
)

// sequence is the code between two readings of the timers, with the operands that it needs and the
// results that it leaves.
type sequence struct {
	name string // its name in a series
	unit []*Instruction
	// repeats is the number of units. balance names the instructions of a unit other than the timed one.
	repeats int
	balance []string
	feed    []typed // the values that are pushed onto the stack before the sequence, the bottom first
	drain   string  // the types that the sequence leaves on the stack, the top last
	locals  map[int]byte
}

type typed struct {
	kind  byte
	value float64
}

// emptyName is the name of the sequence without instructions, which shows the overhead.
const emptyName = "empty"

// sequenceName returns the name of an instruction's sequence in a form.
func sequenceName(in *Instruction, f Form) string {
	if f == Homogeneous {
		return in.Mnemonic
	}
	return in.Mnemonic + "/" + string(f)
}

// forms returns the forms in which an instruction is timed.
func (in *Instruction) forms(pairs bool) []Form {
	forms := []Form{Homogeneous}
	if in.conditional() {
		forms = []Form{Taken, NotTaken}
	}
	if pairs && in.companions() != nil {
		forms = append(forms, Pair)
	}
	return forms
}

// newSequence returns a sequence that repeats an instruction length times. If the instruction can't work
// on its own result, the result is popped after each execution.
func newSequence(in *Instruction, f Form, length int) *sequence {
	s := &sequence{name: sequenceName(in, f), repeats: length}
	s.unit = s.balanced(in, f)
	for _, u := range s.unit {
		if u != in {
			s.balance = append(s.balance, u.Mnemonic)
		}
	}
	s.locals = map[int]byte{}
	for _, u := range s.unit {
		if local, kind := u.reads(); kind != 0 {
			s.locals[local] = kind
		}
	}
	needs, left := s.run()
	s.drain = left
	for k := range needs {
		s.feed = append(s.feed, typed{needs[k], in.operand(f, k, length)})
	}
	slices.Reverse(s.feed)
	return s
}

// balanced returns a unit: the instruction with the others that make it repeatable.
func (s *sequence) balanced(in *Instruction, f Form) []*Instruction {
	if f == Pair {
		return in.companions()
	}
	if in.Takes == "" || in.Leaves == "" || repeatable(in) {
		return []*Instruction{in}
	}
	return []*Instruction{in, mustLookup(popOf(in.Leaves))}
}

// repeatable reports whether an instruction can work on its own result.
func repeatable(in *Instruction) bool {
	for i := 1; i <= min(len(in.Takes), len(in.Leaves)); i++ {
		if in.Takes[len(in.Takes)-i] != in.Leaves[len(in.Leaves)-i] {
			return false
		}
	}
	return true
}

func mustLookup(mnemonic string) *Instruction {
	in, err := Lookup(mnemonic)
	if err != nil {
		panic(err)
	}
	return in
}

// run follows the types on the stack through all units. It returns the types that the stack has to hold
// before the sequence, the top first, and the types that remain after it.
func (s *sequence) run() (needs []byte, left string) {
	var stack []byte
	for range s.repeats {
		for _, in := range s.unit {
			for i := len(in.Takes) - 1; i >= 0; {
				var have byte
				if n := len(stack); n > 0 {
					have, stack = stack[n-1], stack[:n-1]
				} else {
					have = in.Takes[i]
					needs = append(needs, have)
				}
				i -= in.covers(have, i)
			}
			stack = append(stack, in.Leaves...)
		}
	}
	return needs, string(stack)
}

// covers returns the number of operand types that one value on the stack satisfies: two for a long or
// double that is taken by an instruction that moves slots of any type, such as pop2.
func (in *Instruction) covers(have byte, i int) int {
	if in.Kind == StackMoves && slots(have) == 2 && i > 0 {
		return 2
	}
	return 1
}

// operand returns the value of the k-th operand, counted from 0, in a sequence of the given length. The
// values keep chains of results away from zero, infinity and exceptions.
func (in *Instruction) operand(f Form, k, length int) float64 {
	operation := in.Mnemonic[1:]
	switch {
	case f == Pair:
		return 1
	case in.conditional():
		return in.condition(f == Taken, k)
	case operation == "div":
		if k == 0 {
			return 3
		}
		return 9 // nine divided by three is three again
	case operation == "rem":
		divisor := length + 1
		if k == 0 {
			return float64(divisor)
		}
		return float64(2*(divisor-k+1) - 1) // the remainder is one less than the divisor
	case operation == "mul" && (in.Takes[0] == 'f' || in.Takes[0] == 'd'):
		if k%2 == 0 {
			return 2
		}
		return 0.5
	case operation == "mul":
		return 3
	}
	return 1
}

// condition returns an operand with which a branch is taken or not. The second operand of a comparison is
// on top of the stack, and is taken first.
func (in *Instruction) condition(taken bool, k int) float64 {
	for _, difference := range []float64{0, 1, -1} {
		if in.jumps(difference) == taken {
			if len(in.Takes) == 2 && k%2 == 0 {
				return 1
			}
			if len(in.Takes) == 2 {
				return 1 + difference
			}
			return difference
		}
	}
	return 0
}

// jumps reports whether a conditional branch is taken if its operand, or the difference of its two
// operands, has the given value.
func (in *Instruction) jumps(difference float64) bool {
	switch in.Mnemonic[len(in.Mnemonic)-2:] {
	case "eq":
		return difference == 0
	case "ne":
		return difference != 0
	case "lt":
		return difference < 0
	case "ge":
		return difference >= 0
	case "gt":
		return difference > 0
	}
	return difference <= 0
}

// push appends the code that pushes the value onto the stack.
func (v typed) push(code *classfile.Code) {
	whole := int32(v.value)
	switch {
	case v.kind == 'i':
		code.Int(whole)
	case v.kind == 'l' && (whole == 0 || whole == 1):
		code.Long(int64(whole))
	case v.kind == 'l':
		code.Int(whole)
		code.Do(classfile.I2l)
	case v.kind == 'f' && (v.value != float64(whole) || whole == 1 || whole == 2):
		code.Float(float32(v.value))
	case v.kind == 'f':
		code.Int(whole)
		code.Do(classfile.I2f)
	case v.kind == 'd' && (v.value != float64(whole) || whole == 1):
		code.Double(v.value)
	case v.kind == 'd':
		code.Int(whole)
		code.Do(classfile.I2d)
	}
}

// pushAll, body and popAll append the code before, between and after the timers.
func (s *sequence) pushAll(code *classfile.Code) {
	for _, v := range s.feed {
		v.push(code)
	}
}

func (s *sequence) body(code *classfile.Code) {
	for range s.repeats {
		for _, in := range s.unit {
			in.append(code)
		}
	}
}

func (s *sequence) popAll(code *classfile.Code) {
	for i := len(s.drain) - 1; i >= 0; i-- {
		if slots(s.drain[i]) == 2 {
			code.Do(classfile.Pop2)
		} else {
			code.Do(classfile.Pop)
		}
	}
}

// initialise appends the code that sets the local variables that the sequence reads.
func (s *sequence) initialise(code *classfile.Code) {
	for local, kind := range s.locals {
		typed{kind, 1}.push(code)
		code.Do(map[byte]classfile.Op{'i': classfile.Istore, 'l': classfile.Lstore, 'f': classfile.Fstore, 'd': classfile.Dstore}[kind], local)
	}
}

// sequences returns the sequences of the instructions in all their forms, together with the empty one,
// the sentinels, and the sequences of the balancing instructions.
func sequences(instructions []*Instruction, pairs bool, length int) ([]*sequence, error) {
	if length < 1 {
		return nil, fmt.Errorf("a sequence of %d instructions: 1 or more are needed", length)
	}
	all := []*sequence{{name: emptyName}}
	known := map[string]bool{}
	var add func(in *Instruction, f Form)
	add = func(in *Instruction, f Form) {
		s := newSequence(in, f, length)
		if known[s.name] {
			return
		}
		known[s.name] = true
		all = append(all, s)
		for _, mnemonic := range s.balance {
			add(mustLookup(mnemonic), Homogeneous)
		}
	}
	for _, mnemonic := range []string{slowSentinel, fastSentinel} {
		add(mustLookup(mnemonic), Homogeneous)
	}
	for _, in := range instructions {
		for _, f := range in.forms(pairs) {
			add(in, f)
		}
	}
	return all, nil
}

// The sentinels are timed repeatedly among all other sequences. nop consists of the interpreter's
// dispatch alone, which a busy hyperthread on the same core slows down most; it hardly slows ldiv.
const fastSentinel, slowSentinel = "nop", "ldiv"
