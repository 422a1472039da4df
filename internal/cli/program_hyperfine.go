package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"chronoscope/record"
	"chronoscope/stats"
)

// elsewhere is the value of a flag of hyperfine that has another form here. Setting it is an error that names
// that form.
type elsewhere struct {
	flag, instead string // instead has a verb %s for the first word of the value
}

func (e elsewhere) String() string { return "" }
func (e elsewhere) Type() string   { return "" }
func (e elsewhere) Set(value string) error {
	instead := e.instead
	if strings.Contains(instead, "%s") {
		instead = fmt.Sprintf(instead, value)
	}
	return usagef("%s: %s", e.flag, instead)
}

// flagsOfHyperfine holds the flags of hyperfine (1.20.0, src/cli.rs) that have another form here, with their
// letters.
var flagsOfHyperfine = []struct{ name, letter, instead string }{
	{"parameter-scan", "P", "it is one word here: give --param %s=FIRST..LAST, or --param %[1]s=FIRST..LAST..STEP"},
	{"parameter-step-size", "D", "it belongs to the range here: give --param NAME=FIRST..LAST..%s"},
	{"parameter-list", "L", "it is one word here: give --param %s=VALUE,VALUE"},
	{"export-json", "", "give --export hyperfine:%s"},
	{"export-csv", "", "give --export csv:%s"},
	{"export-markdown", "", "give --export markdown:%s"},
	{"export-asciidoc", "", "give --export asciidoc:%s"},
	{"export-orgmode", "", "give --export orgmode:%s"},
	{"style", "", "leave it out: colors and progress are for terminals only; -o FILE writes plain text"},
	{"min-benchmarking-time", "", "a measurement ends when its interval is narrow enough: give --precision, --min-runs or --max-time"},
}

// registerHyperfines adds hyperfine's flags that have another form here; help does not list them.
func registerHyperfines(set *pflag.FlagSet) {
	for _, f := range flagsOfHyperfine {
		set.AddFlag(&pflag.Flag{Name: f.name, Shorthand: f.letter, Hidden: true, Value: elsewhere{"--" + f.name, f.instead}})
	}
}

// chooseShell returns the shell that was asked for; empty for none.
func (t *programFlags) chooseShell(c *call) (string, error) {
	if ways := countTrue(c.given("shell"), c.given("shell-name"), t.noShell); ways > 1 {
		return "", usagef("--shell, -S and -N exclude one another: give one of them")
	}
	if c.given("shell") && len(c.args) > 0 && isShell(c.args[0]) {
		return "", usagef("--shell %s: the name of a shell follows an equals sign: give --shell=%[1]s, or -S %[1]s", c.args[0])
	}
	switch name := t.shell + t.shellName; name {
	case "none":
		return "", nil
	case "default":
		return usualShell, nil
	default:
		return name, nil
	}
}

func countTrue(all ...bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// isShell reports whether a command line names a shell and gives it nothing to do, or is one of
// hyperfine's words for a shell.
func isShell(line string) bool {
	words := strings.Fields(line)
	if len(words) == 0 || slices.ContainsFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }) {
		return false
	}
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "cmd.exe", "none", "default"}, filepath.Base(words[0]))
}

// checkShown checks the flags that say how the results are named and shown.
func (t *programFlags) checkShown(c *call) error {
	switch record.TimeUnit(t.timeUnit) {
	case "", record.Microsecond, record.Millisecond, record.Second:
	default:
		return usagef("--time-unit: there is no unit %q: give microsecond, millisecond or second", t.timeUnit)
	}
	switch record.Sort(t.sort) {
	case "auto":
		t.sort = ""
	case "", record.ByCommand, record.ByMeanTime:
	default:
		return usagef("--sort: there is no order %q: give command (as given) or mean-time", t.sort)
	}
	if t.input == "null" {
		return usagef("--input null: leave it out: a program reads nothing then (give ./null for a file of that name)")
	}
	return nil
}

// nameCommands gives the commands the names of --command-name, and gives the reference the name of
// --reference-name.
func (t *programFlags) nameCommands() error {
	names := t.names
	if t.reference != "" {
		names = append([]string{t.referenceName}, names...)
	} else if t.referenceName != "" {
		return usagef("--reference-name: there is no reference: give --reference too, or --command-name")
	}
	if len(names) > len(t.commands) {
		return usagef("--command-name: it is given %d times for %s: give at most one for each, in their order; {n} in it is the value of a parameter n",
			len(t.names), stats.Count(len(t.commands)-len(names)+len(t.names), "command"))
	}
	for i, name := range names {
		t.commands[i].called = name
	}
	return nil
}
