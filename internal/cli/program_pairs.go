package cli

import "chronoscope/program"

// A programPair is two results that are set side by side.
type programPair struct{ a, b *program.Result }

// pairs compares each result with the first of another command that has the same
// parameters, so far as both have them. Where there is one command alone, its parameters
// are what is compared: the other values are compared with the first.
func (t *programFlags) pairs(results []*program.Result) (all []programPair) {
	for i, b := range results {
		for _, a := range results[:i] {
			if len(t.commands) == 1 || agree(a.Command.Parameters, b.Command.Parameters) {
				all = append(all, programPair{a, b})
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
