package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/record/gitarchive"
	"chronoscope/render"
	"chronoscope/stats"
)

// flags holds the flags that every command has, and those that several commands share.
type flags struct {
	format          string
	output          string
	quick, thorough bool
	seed            uint64
	cpus            string
	require         string
	html, plot      string
	saveIn          string // the folder of --save
	regression      string
	undecided       string
	exports         []string

	set   *pflag.FlagSet // holds the flags of every command
	notes io.Writer      // receives messages about other files that were written
}

// defaultSave is the value of --save without a folder. It appears in the help text:
// --save folder[=default].
const defaultSave = "default"

func (f *flags) register(set *pflag.FlagSet) {
	f.set = set
	set.StringVar(&f.saveIn, "save", "", "keep the result as a record, in this `folder` (give it as --save=FOLDER; git is a branch of the repository here; default is chronoscope/records among the user's data)")
	set.Lookup("save").NoOptDefVal = defaultSave
	set.StringVar(&f.format, "format", "text", "form of the result: text, json or csv")
	set.StringVarP(&f.output, "output", "o", "", "write the result to this `file` instead of standard output")
	set.StringVar(&f.plot, "plot", "", "draw the result's charts into this `file`, .svg or .png, too")
	set.StringVar(&f.html, "html", "", "write the result as a page for a browser into this `file`, too")
	set.BoolVar(&f.quick, "quick", false, "take less time, for less precision")
	set.BoolVar(&f.thorough, "thorough", false, "take more time, for more precision")
	set.Uint64Var(&f.seed, "seed", 0, "`number` that fixes every random choice (default: another each time)")
	set.StringVar(&f.cpus, "cpu", "", "keep the measuring thread to these CPUs, a `list` such as 0,2-3, or all")
	set.StringVar(&f.require, "require", "", "exit with 1 if a result's verdict is worse than `verdict`: trusted or suspect")
}

// measuring holds the flags that mean nothing to a command that does not measure.
var measuring = []string{"save", "require", "cpu", "quick", "thorough"}

// refuse hides flags that mean nothing to a command and its subcommands from their help, and makes
// their use an error with the reason why.
func (f *flags) refuse(cmd *cobra.Command, why string, names ...string) {
	for _, name := range names {
		cmd.PersistentFlags().AddFlag(&pflag.Flag{
			Name: name, Hidden: true, Value: refusal{cmd, name, why},
			NoOptDefVal: f.set.Lookup(name).NoOptDefVal,
		})
	}
}

// measuresNothing refuses the flags in measuring. --seed is accepted, as it does no harm.
func (f *flags) measuresNothing(cmd *cobra.Command) {
	f.refuse(cmd, "measures nothing: give it to a command that does", measuring...)
	cmd.PersistentFlags().Uint64Var(&f.seed, "seed", 0, "")
	cmd.PersistentFlags().Lookup("seed").Hidden = true
}

// refusal is the value of a flag that a command does not accept.
type refusal struct {
	cmd       *cobra.Command
	name, why string
}

func (r refusal) String() string   { return "" }
func (r refusal) Type() string     { return "" }
func (r refusal) Set(string) error { return usagef("--%s: %q %s", r.name, r.cmd.Name(), r.why) }

// effort is how much time a measurement takes: --quick, --thorough, or neither.
type effort int

const (
	usual effort = iota
	quick
	thorough
)

// of returns the value for the effort.
func of[T any](e effort, asQuick, asUsual, asThorough T) T {
	return [...]T{usual: asUsual, quick: asQuick, thorough: asThorough}[e]
}

// settings are the flags after they were checked.
type settings struct {
	format     render.Format
	output     string
	html, plot string
	exports    []export
	store      record.Store // nil if the result is not kept
	notes      io.Writer
	effort     effort
	seed       uint64
	cpus       []int
	require    stats.Verdict // empty if nothing is required
	// gateFlag is the name of the flag that limits regressions, usually --max-regression,
	// regression its text, and mostRegression the share; NaN if there is no limit.
	gateFlag       string
	regression     string
	mostRegression float64
	// undecidedPasses says that an undecided comparison does not fail.
	undecidedPasses bool
}

// allKnown returns an error for names in a flag's list that are not among the known ones.
func allKnown(flag string, names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			return usagef("%s: none is called %q: use some of %s", flag, name, strings.Join(known, ", "))
		}
	}
	return nil
}

// texts converts names to strings.
func texts[T ~string](names []T) (all []string) {
	for _, name := range names {
		all = append(all, string(name))
	}
	return all
}

// These are the values of --undecided.
const undecidedPasses, undecidedFails = "pass", "fail"

// An export is a file in the format of another tool.
type export struct{ format, file string }

// check converts flags to the settings of a command. The error says which flag is wrong and what is
// allowed.
func (f *flags) check(c *command) (settings, error) {
	s := settings{
		output: f.output, html: f.html, plot: f.plot, notes: f.notes, seed: f.seed,
		require: stats.Verdict(f.require), regression: f.regression, gateFlag: "--" + cmp.Or(c.gateFlag, maxRegression),
	}
	if s.output == standardOutput {
		s.output = ""
	}
	var err error
	if s.format, err = render.ParseFormat(f.format); err != nil {
		return s, usagef("--format: %v", err)
	}
	switch {
	case f.quick && f.thorough:
		return s, usagef("--quick and --thorough exclude one another: give one of them")
	case f.quick:
		s.effort = quick
	case f.thorough:
		s.effort = thorough
	}
	switch s.require {
	case "", stats.Trusted, stats.Suspect:
	default:
		return s, usagef("--require: no verdict %q can be required: use trusted or suspect", f.require)
	}
	switch f.cpus {
	case "":
	case "all":
		if s.cpus, err = machine.Affinity(); err != nil {
			return s, fmt.Errorf("--cpu all: %w", err)
		}
	default:
		if s.cpus, err = machine.ParseCPUList(f.cpus); err != nil {
			return s, usagef("--cpu: %v; or all, for every CPU that may be used", err)
		}
	}
	if !f.set.Changed("seed") {
		s.seed = rand.Uint64N(1<<53-1) + 1 // JSON numbers have 53 bits
	}
	if s.mostRegression, err = allowedRegression(s.gateFlag, f.regression); err != nil {
		return s, err
	}
	if err := checkUndecided(c.Flags()); err != nil {
		return s, err
	}
	switch cmp.Or(f.undecided, c.undecided, undecidedFails) {
	case undecidedPasses:
		s.undecidedPasses = true
	case undecidedFails:
	default:
		return s, usagef("--undecided: %q is no answer: give pass or fail", f.undecided)
	}
	if s.exports, err = exportsOf(f.exports, slices.Sorted(maps.Keys(c.exports))); err != nil {
		return s, err
	}
	if err := s.checkPlaces(); err != nil {
		return s, err
	}
	s.store, err = f.store()
	return s, err
}

// checkUndecided returns an error for --undecided without a limit, which would have no effect.
func checkUndecided(set *pflag.FlagSet) error {
	var limits []string
	for _, name := range []string{maxRegression, "gate"} {
		if set.Changed(name) {
			return nil
		}
		if set.Lookup(name) != nil {
			limits = append(limits, "--"+name)
		}
	}
	if set.Changed("undecided") {
		return usagef("--undecided: nothing is limited: give %s too", strings.Join(limits, " or "))
	}
	return nil
}

// exportsOf returns the requested exports. Their formats must be among formats.
func exportsOf(texts, formats []string) (all []export, err error) {
	allowed := "FORMAT:FILE, the format being one of " + strings.Join(formats, ", ")
	if len(formats) == 1 {
		allowed = formats[0] + ":FILE"
	}
	for _, text := range texts {
		format, file, _ := strings.Cut(text, ":")
		if !slices.Contains(formats, format) || file == "" {
			return nil, usagef("--export: %q can't be written: give %s", text, allowed)
		}
		all = append(all, export{format, file})
	}
	return all, nil
}

// store returns the store that the result is to be kept in; nil if it is not to be kept. It checks
// before a long measurement that the store can be written to.
func (f *flags) store() (record.Store, error) {
	if !f.set.Changed("save") {
		return nil, nil
	}
	s, err := storeIn(f.saveIn)
	if err == nil {
		err = s.Prepare()
	}
	if err != nil {
		return nil, fmt.Errorf("--save: %w", err)
	}
	return s, nil
}

// inGit, as the place of a store, means a branch of the git repository that contains the working folder. A colon
// and the name of the branch may follow; the default is [gitarchive.DefaultBranch].
const inGit = "git"

// storeIn returns the store that the user named, or the default one.
func storeIn(place string) (record.Store, error) {
	if name, branch, _ := strings.Cut(place, ":"); name == inGit {
		return gitarchive.In(context.Background(), ".", branch)
	}
	if place == "" || place == defaultSave {
		return record.DefaultArchive()
	}
	return record.ArchiveIn(place), nil
}
