package cli

import (
	"github.com/spf13/cobra"

	"chronoscope/clock"
	"chronoscope/internal/probe"
	"chronoscope/render"
	"chronoscope/view"
)

// completions tells a shell what may follow the flags and commands that take one of a
// few words. Files are what it offers by itself.
func completions(root *cobra.Command) {
	words := map[string][]string{
		"format":  render.Formats(),
		"require": {"trusted", "suspect"},
		"sort":    {"quality", "accuracy", "cost"},
		"runtime": append([]string{"all", ownRuntime}, probe.Runtimes()...),
		"set":     {view.Kuperberg2011},
	}
	for _, cmd := range append(root.Commands(), root) {
		for flag, values := range words {
			// Its error says that the command has no such flag, or shares it.
			cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
		if cmd.Name() == "clocks" {
			cmd.ValidArgsFunction = cobra.FixedCompletions(clock.Names(), cobra.ShellCompDirectiveNoFileComp)
		}
	}
}
