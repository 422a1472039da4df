package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// flags are those of every command.
type flags struct {
	format          string
	output          string
	quick, thorough bool
	seed            uint64
	cpus            string
	require         string
	html, plot      string
	saveIn          string // the folder of --save

	set   *pflag.FlagSet // where they are registered
	notes io.Writer      // where is said what else was written
}

func (f *flags) register(set *pflag.FlagSet) {
	f.set = set
	f.registerSave()
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

// measuring are the flags that mean nothing to a command that measures nothing.
var measuring = []string{"save", "require", "cpu", "quick", "thorough"}

// refuse hides flags that mean nothing to a command and its subcommands from their help,
// and says why where one of them is given all the same.
func (f *flags) refuse(cmd *cobra.Command, why string, names ...string) {
	for _, name := range names {
		cmd.PersistentFlags().AddFlag(&pflag.Flag{
			Name: name, Hidden: true, Value: refusal{cmd, name, why},
			NoOptDefVal: f.set.Lookup(name).NoOptDefVal,
		})
	}
}

// measuresNothing refuses what says how to measure. A seed is taken, as it does no harm.
func (f *flags) measuresNothing(cmd *cobra.Command) {
	f.refuse(cmd, "measures nothing: give it to a command that does", measuring...)
	cmd.PersistentFlags().Uint64Var(&f.seed, "seed", 0, "")
	cmd.PersistentFlags().Lookup("seed").Hidden = true
}

// refusal is the value of a flag that a command does not take.
type refusal struct {
	cmd       *cobra.Command
	name, why string
}

func (r refusal) String() string   { return "" }
func (r refusal) Type() string     { return "" }
func (r refusal) Set(string) error { return usagef("--%s: %q %s", r.name, r.cmd.Name(), r.why) }

// settings are flags that were found good.
type settings struct {
	format  render.Format
	output  string
	html    string
	plot    string
	archive *record.Archive // nil where the result is not kept
	notes   io.Writer
	plan    timermeter.Plan
	seed    uint64
	cpus    []int
	require stats.Verdict // empty where nothing is required
}

// check turns flags into settings, or says which one is wrong and what is
// allowed.
func (f *flags) check() (settings, error) {
	s := settings{output: f.output, html: f.html, plot: f.plot, notes: f.notes, seed: f.seed, plan: timermeter.DefaultPlan, require: stats.Verdict(f.require)}
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
		s.plan = timermeter.QuickPlan
	case f.thorough:
		s.plan = timermeter.ThoroughPlan
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
		s.seed = rand.Uint64N(1<<53-1) + 1 // JSON numbers keep 53 bits
	}
	if err := s.checkPlaces(); err != nil {
		return s, err
	}
	s.archive, err = f.archive()
	return s, err
}

// checkPlaces makes sure that each file can be written, and that no two are the same.
func (s settings) checkPlaces() error {
	if s.plot != "" {
		if _, err := render.FigureFormat(s.plot); err != nil {
			return usagef("--plot: %v", err)
		}
	}
	files := map[string]string{}
	for _, place := range []struct{ flag, file string }{{"-o", s.output}, {"--html", s.html}, {"--plot", s.plot}} {
		if place.file == "" {
			continue
		}
		name := filepath.Clean(place.file)
		if other, taken := files[name]; taken {
			return usagef("%s and %s both name %s: give each a file of its own", place.flag, other, place.file)
		}
		files[name] = place.flag
		if err := checkPlace(place.file); err != nil {
			return err
		}
	}
	return nil
}

// write hands the document, rendered, to standard output or to the file, and as it is to
// what else was asked for. What goes wrong with one of them does not keep the others
// from a result that took long.
func (s settings) write(stdout io.Writer, document record.Document, text func(io.Writer, render.Style) error) error {
	return errors.Join(s.print(stdout, text), s.keep(document), s.page(document), s.figure(document))
}

// page writes the document as a page for a browser, where that was asked for.
func (s settings) page(document record.Document) error {
	if s.html == "" {
		return nil
	}
	return writeFile(s.html, func(w io.Writer) error { return render.Page(w, document) })
}

// figure draws the document's charts, where that was asked for.
func (s settings) figure(document record.Document) error {
	if s.plot == "" {
		return nil
	}
	format, err := render.FigureFormat(s.plot)
	if err != nil {
		return err
	}
	return writeFile(s.plot, func(w io.Writer) error { return render.Figure(w, format, document) })
}

// print hands the rendered document to standard output or, whole or not at all, to the
// file; to standard output too where the file can't be written.
func (s settings) print(stdout io.Writer, text func(io.Writer, render.Style) error) error {
	toStdout := func() error { return text(stdout, render.Style{Color: showsColor(stdout), Width: widthOf(stdout)}) }
	if s.output == "" {
		return toStdout()
	}
	err := writeFile(s.output, func(w io.Writer) error { return text(w, render.Style{}) })
	if err != nil {
		return errors.Join(err, toStdout()) // what took long to measure is not lost
	}
	return nil
}

// standardOutput is what -o takes for standard output, as many commands do.
const standardOutput = "-"

// writeFile renders into a file.
func writeFile(name string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	if err := save(name, b.Bytes()); err != nil {
		return fmt.Errorf("writing the result to %s: %w: choose a place that can be written", name, err)
	}
	return nil
}

// save writes a file whole or not at all. What is no file, such as a pipe or
// /dev/null, is written to and not replaced, and a link stays a link. A pipe that nobody
// reads is an error, and no wait for a reader (open(2), ENXIO).
func save(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY|withoutWaiting, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	return maybe.WriteFile(name, data, 0o644)
}

// checkPlace finds out before a long measurement that its result could not be
// written.
func checkPlace(output string) error {
	switch output {
	case "":
		return nil
	case standardOutput:
		return usagef("%q: only -o writes to standard output by that name: give a file, or ./%[1]s for one that is called so", output)
	}
	switch info, err := os.Stat(output); {
	case err != nil || info.Mode().IsRegular():
	case info.IsDir():
		return fmt.Errorf("%s can't be written: it is a folder: name a file in it", output)
	case info.Mode()&fs.ModeSocket != 0, info.Mode()&fs.ModeDevice != 0 && info.Mode()&fs.ModeCharDevice == 0:
		return fmt.Errorf("%s can't be written: it is a socket or a disk: choose another place", output)
	default:
		return nil // a pipe or a device, which is not replaced
	}
	if target, err := filepath.EvalSymlinks(output); err == nil {
		output = target
	}
	directory := filepath.Dir(output)
	if info, err := os.Stat(directory); err != nil {
		return fmt.Errorf("%s can't be written: %w: make the directory first", output, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%s can't be written: %s is no directory: choose another place", output, directory)
	}
	f, err := os.CreateTemp(directory, ".chronoscope-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("%s can't be written: %w: choose another place", output, err)
	}
	return nil
}

// showsColor reports that w is a terminal whose user wants colours
// (no-color.org).
func showsColor(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// widthOf is how many letters a terminal has on a line; 0 for what is none.
func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// met reports an error where a verdict is worse than what is required, or where there is none.
func (s settings) met(verdicts map[string]stats.Verdict) error {
	if s.require == "" {
		return nil
	}
	if len(verdicts) == 0 {
		return fmt.Errorf("--require %s: nothing was measured that could be judged: the reasons stand in the result", s.require)
	}
	worse := 0
	var one string
	for name, v := range verdicts {
		if v.WorseThan(s.require) {
			worse++
			if one == "" || name < one {
				one = name
			}
		}
	}
	if worse > 0 {
		return fmt.Errorf("%d of %d results are worse than %s, as %s is required with --require: %s is %s", worse, len(verdicts), s.require, s.require, one, verdicts[one])
	}
	return nil
}
