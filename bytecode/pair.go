package bytecode

import "strings"

// companions returns the instruction together with others that supply its operands and consume its
// result, so that the stack is unchanged after them. It is nil for an instruction that needs none, or
// whose homogeneous sequence is the same.
func (in *Instruction) companions() []*Instruction {
	var unit []*Instruction
	add := func(mnemonics ...string) {
		for _, m := range mnemonics {
			unit = append(unit, mustLookup(m))
		}
	}
	switch in.Kind {
	case Constants, Loads:
		if in.Leaves == "" {
			return nil
		}
		unit = append(unit, in)
		add(popOf(in.Leaves))
	case Stores:
		add(constantOf(in.Takes))
		unit = append(unit, in)
	case StackMoves:
		return in.stackCompanions()
	case Arithmetic:
		if in.Takes == "" {
			return nil
		}
		if len(in.Takes) == 1 { // a negation
			add(constantOf(in.Takes))
			unit = append(unit, in)
			add(popOf(in.Leaves))
			return unit
		}
		add(constantOf(in.Takes[1:]))
		unit = append(unit, in)
	case Conversions:
		if in.Takes == in.Leaves {
			return nil
		}
		unit = append(unit, in)
		add(in.Leaves + "2" + in.Takes)
	case Comparisons:
		add(constantOf(in.Takes[:1]), constantOf(in.Takes[1:]))
		unit = append(unit, in)
		add("pop")
	case Branches:
		return nil
	}
	return unit
}

// stackCompanions returns the companions of an instruction that moves stack slots.
func (in *Instruction) stackCompanions() []*Instruction {
	var unit []*Instruction
	for n := len(in.Takes); n > 0 && strings.HasPrefix(in.Mnemonic, "pop"); n-- {
		unit = append(unit, mustLookup("iconst_1"))
	}
	unit = append(unit, in)
	switch len(in.Leaves) - len(in.Takes) {
	case 1:
		unit = append(unit, mustLookup("pop"))
	case 2:
		unit = append(unit, mustLookup("pop2"))
	case 0:
		return nil // swap
	}
	return unit
}

// popOf returns the instruction that removes a value of the type.
func popOf(kind string) string {
	if slots(kind[0]) == 2 {
		return "pop2"
	}
	return "pop"
}

// constantOf returns the instruction that pushes a one of the type.
func constantOf(kind string) string { return kind[:1] + "const_1" }
