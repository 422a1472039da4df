package cli

import "chronoscope/program"

// pairs returns the indices of the commands to compare: each command with the first other one with which it
// agrees in the parameters that both have. If the user gave a single command, its parameters are compared: each
// command with the one of the first values.
func (t *programFlags) pairs(commands []program.Command) (all [][2]int) {
	for i, b := range commands {
		for j, a := range commands[:i] {
			if len(t.commands) == 1 || agree(a.Parameters, b.Parameters) {
				all = append(all, [2]int{j, i})
				break
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
