package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// A command holds what is specific to a subcommand: its texts, its flags, and how it measures.
// [command.run] does everything else: the flags that all commands share, the header of the
// document, progress, interruption, writing, and the exit status.
type command struct {
	*cobra.Command // Use, Short, Long and Example; Args if it takes arguments
	// flags adds the command's own flags; nil if it has none.
	flags func(own *pflag.FlagSet, f *flags)
	// refused are shared flags that mean nothing to the command, and why.
	refused map[string]string
	// measuresNothing marks commands that show existing records.
	measuresNothing bool
	// values are the completions that a shell offers for its flags.
	values map[string][]string
	// exports are the formats of --export, with the tools that read them.
	exports map[string]string
	// gateFlag is the command's name for --max-regression; empty for that name.
	gateFlag string
	// undecided is the default of --undecided; empty means fail.
	undecided string
	// regressions is the help text of --max-regression; empty if the command compares nothing.
	regressions string
	// unknownFlag is added to the error about a flag that the command does not have.
	unknownFlag string
	// check checks flags and arguments before anything is measured.
	check func(*call) error
	// measure does the measurement. If its context ends, it returns what was measured so far with
	// the error.
	measure func(context.Context, *call) (found, error)
	// serve runs until its context ends, and writes no result; nil if measure returns one.
	serve func(context.Context, *call) error
	// sub are the subcommands.
	sub []*command
}

// found is the result of a command.
type found struct {
	document record.Document
	// text writes the result as text; nil if the view of the document does.
	text func(io.Writer, render.Style) error
	// aside sends the text to standard error, since standard output belongs to the measured
	// program.
	aside bool
	// exports write the formats of other tools.
	exports map[string]func(io.Writer) error
	// failed is an error that makes the command exit with status 1 after everything was written.
	failed error
	// rivals are the comparisons that --max-regression judges. verdicts are judged by
	// --require; each key names the result that has the verdict.
	rivals   []rival
	verdicts map[string]stats.Verdict
	// afterwards is run after everything was written, also if measuring failed or was interrupted; nil
	// for nothing. Its context ends with an interruption that comes while it runs.
	afterwards func(context.Context) error
}

// A call is one call of a command, with what all commands need to measure.
type call struct {
	settings
	cmd     *cobra.Command
	args    []string
	streams Streams
	header  *record.Header
	bar     *progress
}

// given reports whether a flag is given.
func (c *call) given(flag string) bool { return c.cmd.Flags().Changed(flag) }

func (c *call) caveat(format string, args ...any) {
	c.header.Caveats = append(c.header.Caveats, fmt.Sprintf(format, args...))
}

// measuresCodeIn records the commit of the code in a folder, if the result is kept or written as a document.
func (c *call) measuresCodeIn(ctx context.Context, folder string) {
	if c.store != nil || c.format == render.JSONFormat {
		var err error
		if c.header.Source, err = record.SourceIn(ctx, folder); err != nil {
			c.caveat("%v", err)
		}
	}
}

// finish completes the header after the measurement.
func (c *call) finish(ctx context.Context) record.Header {
	c.header.Finish(ctx.Err() != nil)
	return *c.header
}

// build returns the command, ready to be called.
func (c *command) build(f *flags, s Streams) *cobra.Command {
	if c.Args == nil {
		c.Args = takesNone
	}
	if c.measure != nil || c.serve != nil {
		c.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd, args, f, s) }
	}
	if c.unknownFlag != "" {
		c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef("%v; %s", flagError(cmd, err), c.unknownFlag) })
	}
	own := c.Flags()
	if c.flags != nil {
		c.flags(own, f)
	}
	if c.regressions != "" {
		own.StringVar(&f.regression, cmp.Or(c.gateFlag, maxRegression), "", c.regressions)
		own.StringVar(&f.undecided, "undecided", "", "whether what can't be told shall pass with a warning, or fail with status 1: pass or fail (default: "+cmp.Or(c.undecided, undecidedFails)+")")
		c.offer("undecided", undecidedPasses, undecidedFails)
	}
	if len(c.exports) > 0 {
		own.StringArrayVar(&f.exports, "export", nil, "write another tool's `format:file`: "+c.exportsInWords())
	}
	if c.measuresNothing {
		f.measuresNothing(c.Command)
	}
	for _, name := range slices.Sorted(maps.Keys(c.refused)) {
		f.refuse(c.Command, c.refused[name], name)
	}
	for _, sub := range c.sub {
		c.AddCommand(sub.build(f, s))
	}
	for flag, values := range c.values {
		c.offer(flag, values...)
	}
	return c.Command
}

// offer has shells complete a flag with these values, and no names of files.
func (c *command) offer(flag string, values ...string) {
	c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// exportsInWords describes the formats, each with the tool that reads it.
func (c *command) exportsInWords() string {
	var all []string
	for _, format := range slices.Sorted(maps.Keys(c.exports)) {
		all = append(all, strings.TrimSpace(format+" "+c.exports[format]))
	}
	return strings.Join(all, ", ")
}

// anyNumber is more arguments than anybody gives.
const anyNumber = math.MaxInt

var takesNone = takes(0, 0, "%[1]q takes no arguments, and got %[3]q")

// takes returns a check that a command has at least and at most so many arguments. The format of its error may use the command's
// name, the number of arguments, the arguments, and the first one.
func takes(least, most int, format string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef(format, cmd.CommandPath(), len(args), args, append(args, "")[0])
		}
		return nil
	}
}

// nameIn returns the command's name in documents; empty for the report card.
func nameIn(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())
	return strings.Join(words[1:min(2, len(words))], "")
}

// run checks, measures, writes and judges.
func (c *command) run(cmd *cobra.Command, args []string, f *flags, s Streams) error {
	set, err := f.check(c)
	if err != nil {
		return err
	}
	here := &call{settings: set, cmd: cmd, args: args, streams: s, bar: &progress{to: s.Err}}
	if !c.measuresNothing {
		if err := checkForm(nameIn(cmd), set.format); err != nil {
			return err
		}
	}
	if c.check != nil {
		if err := c.check(here); err != nil {
			return err
		}
	}
	header := record.NewHeader(nameIn(cmd), machine.Identify(), set.seed)
	here.header = &header
	if err := here.bindable(); err != nil {
		return err
	}
	ctx := cmd.Context()
	if c.serve != nil {
		return c.serve(ctx, here)
	}
	defer here.bar.end()
	result, err := c.measure(ctx, here)
	here.bar.end()
	err = here.show(ctx, result, err)
	if result.afterwards == nil {
		return err
	}
	ends := Interruptions()
	if hungUp(ctx) {
		ends = slices.DeleteFunc(ends, func(s os.Signal) bool { return s == syscall.SIGHUP })
	}
	again, stop := signal.NotifyContext(context.WithoutCancel(ctx), ends...)
	defer stop()
	if failed := result.afterwards(again); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// hungUp reports whether a hang-up ended ctx. A terminal that closes hangs up, and so does its shell a moment later: the second
// one is no wish to end what cleans up.
func hungUp(ctx context.Context) bool {
	return ctx.Err() != nil && strings.HasPrefix(context.Cause(ctx).Error(), syscall.SIGHUP.String())
}

// Interruptions returns the signals that interrupt a command.
func Interruptions() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// show writes what was measured before it failed with err, and returns the error that determines the exit
// status.
func (c *call) show(ctx context.Context, result found, err error) error {
	stopped := ctx.Err() != nil
	switch {
	case stopped && result.document == nil:
		return errInterrupted
	case err != nil && !stopped:
		return explained(err)
	}
	out := c.streams.Out
	if result.aside && c.format == render.TextFormat {
		out = c.streams.Err
	}
	err = c.write(out, result)
	if stopped { // Ctrl-C also ends the reader of standard output, as in "| tee log"
		return cmp.Or(worthSaying(err), errInterrupted)
	}
	return errors.Join(err, c.outcome(result)) // a file that can't be written hides no regression
}

// bindable returns an error, before a long measurement, if threads can't be bound to the CPUs of
// --cpu.
func (c *call) bindable() error {
	if len(c.cpus) == 0 {
		return nil
	}
	restore, err := machine.Pin(c.cpus)
	var unbound *machine.AffinityError
	switch {
	case errors.As(err, &unbound) && (errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)):
		return fmt.Errorf("--cpu: %w; or measure without --cpu", err) // the system can't bind threads
	case errors.As(err, &unbound):
		return usagef("--cpu: %v; without --cpu this process runs on CPUs %s", err, c.header.Machine.CPUList)
	case err != nil:
		return fmt.Errorf("--cpu: %w", err)
	}
	return restore()
}

// explained turns a library's error about an unknown name into a usage error: exit status 2.
func explained(err error) error {
	if _, ok := errors.AsType[*clock.UnknownName](err); ok {
		return usagef("%v", err)
	}
	return err
}

// outcome returns the error that determines the exit status of a finished measurement. It writes
// undecided comparisons that pass to the notes.
func (s settings) outcome(r found) error {
	v := gate(r.rivals, gateRule{s.mostRegression, s.gateFlag, s.regression, s.undecidedPasses})
	if warning := v.warning(); warning != "" && s.notes != nil {
		fmt.Fprintf(s.notes, "chronoscope: warning: %s\n", view.OneLine(warning)) // with names from records
	}
	return cmp.Or(errors.Join(r.failed, v.err()), s.met(r.verdicts))
}
