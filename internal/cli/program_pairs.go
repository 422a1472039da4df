package cli

import "slices"

// pairs returns the indices of the commands to compare, in the order of [programFlags.programs]: each command with those
// that the first template makes, where they agree in the values of all parameters that both have. Parameters multiply, so
// that there is one for each command. If the user gave a single template, each command is compared with the one of the first
// values.
func (t *programFlags) pairs() (all [][2]int) {
	if len(t.commands) == 0 {
		return nil
	}
	of := make([][]values, len(t.commands))
	for i := range t.commands {
		of[i] = combinations(t.parametersOf(i))
	}
	first, others := of[0], slices.Concat(of[1:]...)
	if len(of) == 1 {
		first, others = first[:1], first[1:]
	}
	for i, b := range others {
		for j, a := range first {
			if len(of) == 1 || agree(a, b) {
				all = append(all, [2]int{j, len(first) + i})
			}
		}
	}
	return all
}

// agree reports whether two sets of values agree in all names that both have.
func agree(a, b values) bool {
	for name, value := range a {
		if other, both := b[name]; both && other != value {
			return false
		}
	}
	return true
}
