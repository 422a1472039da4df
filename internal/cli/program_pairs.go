package cli

import "chronoscope/program"

// pairs compares each command with the first other one that has the same parameters, so far as both have
// them, and returns the indices of both. Where there is one command alone, its parameters are what is
// compared: the other values are compared with the first.
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

// agree reports whether two choices of values don't differ in a name that both have.
func agree(a, b values) bool {
	for name, value := range a {
		if other, both := b[name]; both && other != value {
			return false
		}
	}
	return true
}
