// Package cli is the command line. Each subcommand has a file, which turns its flags into calls of the library,
// and the results into a document.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/fidelity"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// Streams holds the outputs of the command.
type Streams struct {
	Out, Err io.Writer
}

// Run runs the command with its arguments, without the program's name. It has already shown the error that it
// returns, from which [ExitStatus] finds the exit status.
func Run(ctx context.Context, args []string, s Streams) error {
	if _, isChild := os.LookupEnv(childMarker); isChild {
		return fidelity.ServeChild(os.Stdin, os.Stdout)
	}
	root := newRoot(s)
	help := bufio.NewWriter(s.Out) // keeps write errors, which cobra drops
	root.SetOut(help)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if failed := help.Flush(); err == nil && failed != nil {
		err = fromStdout(fmt.Errorf("writing to standard output: %w", failed))
	}
	if said := worthSaying(err); said != nil {
		fmt.Fprintln(s.Err, "chronoscope:", view.Harmless(said.Error()))
	}
	return err
}

// newRoot returns the command without a subcommand: the report card.
func newRoot(s Streams) *cobra.Command {
	f, card := &flags{notes: s.Err}, &cardFlags{}
	c := &command{Command: &cobra.Command{
		Use:   "chronoscope",
		Short: "How fast does X run on machine Y, and how far can the number be trusted?",
		Long: `Chronoscope measures time, and first of all its own clocks.

Without a subcommand it prints the report card of this machine: whether it can
measure, which clock to use for what, whether the counters can be trusted, how noisy
it is, and what to do. With --all also how good every clock is, and all caveats.`,
		Example: `  chronoscope                   the report card of this machine
  chronoscope --all             with every clock and all caveats
  chronoscope clocks            every clock, ranked by quality
  chronoscope fidelity          can the counters be trusted?
  chronoscope activity          how noisy is the machine, and why?
  chronoscope doctor            what disturbs measurements here, and what helps
  chronoscope bench ./...       a module's Go benchmarks, with intervals that hold
  chronoscope run -- sleep 0.1  how long a program takes, also on a busy machine
  chronoscope validate          how far methods of measuring are off on this machine
  chronoscope bytecode          what each instruction of a Java virtual machine takes
  chronoscope compare A B       two machines or runs side by side
  chronoscope --html card.html  the report card as a page, too
  chronoscope clocks --format json | jq .best`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: refuseEmpty,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				known := subcommands(cmd.Root())
				return usagef("there is no command %q: %suse one of %s", args[0], didYouMean(args[0], known), strings.Join(known, ", "))
			}
			return nil
		},
	}, measure: card.measure, values: map[string][]string{
		"format":  render.Formats(),
		"require": {string(stats.Trusted), string(stats.Suspect)},
	}, flags: func(own *pflag.FlagSet, _ *flags) {
		own.BoolVar(&card.all, "all", false, "write all of the report card as text, not its answers alone")
	}}
	f.register(c.PersistentFlags())
	c.sub = []*command{
		newActivity(), newBench(), newBisect(), newBytecode(), newClocks(), newCompare(), newDoctor(), newFidelity(), newFleet(),
		newHistory(), newLateness(), newRecords(), newReport(), newRun(), newServe(), newSlowClock(), newValidate(), newWhy(),
	}
	root := c.build(f, s)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newManual())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseAsUsage(root)
	return root
}

// refuseAsUsage makes wrong arguments of the commands that cobra adds usage errors, as in all other commands.
func refuseAsUsage(root *cobra.Command) {
	for _, added := range root.Commands() {
		switch added.Name() {
		case "help":
			added.Args = func(_ *cobra.Command, args []string) error {
				if _, unknown, _ := root.Find(args); len(unknown) > 0 {
					return root.Args(root, unknown)
				}
				return nil
			}
		case "completion":
			for _, shell := range added.Commands() {
				shell.Args = takesNone
			}
		}
	}
}

// refuseEmpty returns an error if the value of a flag is an empty text, as from an unset variable of a shell.
// If --require "$WANTED" counted as not given, all verdicts would pass.
func refuseEmpty(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		isEmpty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			all := list.GetSlice()
			isEmpty = len(all) == 0 || slices.Contains(all, "")
		}
		if isEmpty && err == nil {
			_, usage := pflag.UnquoteUsage(f)
			err = usagef("--%s: its value is empty (is a variable of the shell unset?): %s", f.Name, usage)
		}
	})
	return err
}

// flagError returns a usage error that says which flags there are, or which values a flag takes.
func flagError(cmd *cobra.Command, err error) error {
	if refused, ok := errors.AsType[*usageError](err); ok {
		return refused
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := bad.GetFlag()
		return usagef("--%s: %q is not %s", flag.Name, bad.GetValue(), valuesOf[flag.Value.Type()])
	}
	guess := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		guess = didYouMean("--"+unknown.GetSpecifiedName(), flagNames(cmd))
	}
	return usagef("%v: %sthe flags of %q are %s", err, guess, cmd.CommandPath(), strings.Join(flagNames(cmd), ", "))
}

// didYouMean suggests the known names that are nearest to an unknown one, as cobra finds them; it is empty if
// none is near.
func didYouMean(name string, known []string) string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, k := range known {
		all.AddCommand(&cobra.Command{Use: k, Run: func(*cobra.Command, []string) {}})
	}
	if near := all.SuggestionsFor(name); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "? "
	}
	return ""
}

// valuesOf says which values the flags of a type take. Flags of text are checked where they are used.
var valuesOf = map[string]string{
	"uint64":   "a whole number from 0 to 18446744073709551615",
	"bool":     "true or false",
	"int":      "a whole number",
	"duration": "a duration such as 1ms, 10us or 2s",
}

func subcommands(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// packageVersion is the version of the package that the command is part of; the linker sets it (-X).
var packageVersion string

// version returns the version of the package, or else of the module; the commit; and the Go version and system
// that it was built with.
func version() string {
	v, commit := cmp.Or(packageVersion, "(devel)"), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		v = cmp.Or(packageVersion, info.Main.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("%s%s (%s %s/%s)", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// usageError is a wrong use of the command: exit status 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// errInterrupted says that the user stopped the command: exit status 130.
var errInterrupted = errors.New("interrupted")

// ExitStatus returns the exit status of the process for an error of Run.
func ExitStatus(err error) int {
	var usage *usageError
	var regression *regressionError
	var late *lateError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &regression):
		return 3
	case errors.As(err, &late):
		return 4
	case errors.Is(err, errInterrupted):
		return 130
	}
	return 1
}
