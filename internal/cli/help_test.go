package cli

import (
	"strings"
	"testing"
)

// The help tells what else only the code or a mistyped name told.
func TestHelpTells(t *testing.T) {
	for _, c := range []struct {
		command string
		tells   []string
	}{
		{"history sync", []string{"chronoscope-records", "origin if none is named", "shows the history", "of sync, git"}},
		{"history import", []string{"shows the history"}},
		{"slowclock", []string{"with --plan to plan for, 6 if not given"}},
		{"fidelity", independentNames()},
		{"run", []string{"With --max-regression or --gate it is 3"}},
	} {
		help, _, _ := runHere(t, append(strings.Fields(c.command), "--help")...)
		for _, text := range c.tells {
			if !strings.Contains(strings.Join(strings.Fields(help), " "), text) {
				t.Errorf("%s --help does not tell %q", c.command, text)
			}
		}
	}
}
