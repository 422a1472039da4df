package cli

import "chronoscope/program"

// pairs returns the indices of the commands to compare: each command with those that the first template makes, where
// they agree in the values of all parameters that both have. Parameters multiply, so that there is one for each command. If
// the user gave a single template, each command is compared with the one of the first values.
func (t *programFlags) pairs(commands []program.Command) (all [][2]int) {
	first := 1
	if len(t.commands) > 1 {
		first = len(combinations(t.parametersOf(0)))
	}
	for i, b := range commands[first:] {
		for j, a := range commands[:first] {
			if len(t.commands) == 1 || agree(a.Parameters, b.Parameters) {
				all = append(all, [2]int{j, first + i})
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
