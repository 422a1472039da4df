package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"chronoscope/internal/gitcommand"
	"chronoscope/process"
	"chronoscope/program"
)

// A template is a command as the user gave it. It contains parameters by their names.
type template struct {
	name   string // a command line
	words  []string
	called string // the name that the user gave it; empty for its command line
}

// text returns the whole command, in which parameters are looked for.
func (c template) text() string { return c.name + "\n" + strings.Join(c.words, "\n") }

// usualShell is the shell of --shell without a name.
var usualShell = map[bool]string{false: "sh", true: "cmd.exe"}[runtime.GOOS == "windows"]

// templates returns the commands of the arguments. Each argument before the dash is a command line, and those
// after it are the words of one command. dash is -1 if there is no dash.
func templates(args []string, dash int, shell string) (all []template, err error) {
	if dash < 0 {
		dash = len(args)
	}
	for _, line := range args[:dash] {
		c, err := newTemplate(line, shell)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	words := args[dash:]
	switch {
	case len(words) == 0:
		return all, nil
	case shell == "":
		return append(all, template{name: joinWords(words), words: words}), nil
	case len(words) > 1:
		return nil, fmt.Errorf("--shell: %q is more than one argument: give the shell a single one, such as %q", words, joinWords(words))
	}
	c, err := newTemplate(words[0], shell)
	return append(all, c), err
}

// newTemplate returns the command of a line, which a shell runs if one is named.
func newTemplate(line, shell string) (template, error) {
	if shell == "" {
		words, err := splitWords(line)
		return template{name: line, words: words}, err
	}
	words, err := splitWords(shell)
	if err != nil {
		return template{}, fmt.Errorf("--shell: %w", err)
	}
	option := "-c"
	if name := strings.ToLower(filepath.Base(words[0])); name == "cmd" || name == "cmd.exe" {
		option = "/c"
	}
	return template{name: line, words: append(words, option, line)}, nil
}

// with returns the template with values in place of its parameters.
func (c template) with(v values) template {
	filled := template{name: v.in(c.name)}
	for _, word := range c.words {
		filled.words = append(filled.words, v.in(word))
	}
	return filled
}

// nameWith returns the name that the user gave the command, with the values of the parameters that are not part
// of the name.
func (c template) nameWith(v values) string {
	var more []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !strings.Contains(c.called, "{"+name+"}") {
			more = append(more, name+" = "+v[name])
		}
	}
	if len(more) == 0 {
		return v.in(c.called)
	}
	return fmt.Sprintf("%s (%s)", v.in(c.called), strings.Join(more, ", "))
}

// environment returns the environment base, or this process's if that is nil, with some variables set. Each name appears only
// once, since the C library takes the first of several; base if there is nothing to set.
func environment(base, set []string) []string {
	if len(set) == 0 {
		return base
	}
	if base == nil {
		base = os.Environ()
	}
	return (&exec.Cmd{Env: slices.Concat(base, set)}).Environ()
}

// programs returns the commands with all values of their parameters, as they are started.
func (t *programFlags) programs(cpus []int) (all []program.Command, err error) {
	for i, c := range t.commands {
		for _, v := range combinations(t.parametersOf(i)) {
			p, err := t.program(c, v, cpus)
			if err != nil {
				return nil, err
			}
			if err := t.surround(&p, i, v); err != nil {
				return nil, err
			}
			if twice := slices.ContainsFunc(all, func(other program.Command) bool { return other.Name == p.Name }); twice && p.Line != "" {
				return nil, usagef("--command-name: two commands are called %s: give each a name of its own", p.Name)
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// onlyOnce returns the command lines of --setup or --cleanup, each once, with the values of those parameters
// that both the line and a command contain.
func (t *programFlags) onlyOnce(flag, line string) (all []template, err error) {
	if line == "" {
		return nil, nil
	}
	c, err := newTemplate(line, t.shell)
	if err != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	needed := named(t.given, c.text())
	for i := range t.commands {
		for _, v := range combinations(t.parametersOf(i)) {
			filled := c.with(v)
			isKnown := !slices.ContainsFunc(needed, func(p parameter) bool { _, known := v[p.name]; return !known })
			if isKnown && !slices.ContainsFunc(all, func(other template) bool { return other.name == filled.name }) {
				all = append(all, filled)
			}
		}
	}
	if len(all) == 0 {
		return nil, usagef("%s: no command has all of its parameters, and commands are run in turn, after all that was set up: write {%s} in a command too, or give --prepare", flag, needed[0].name)
	}
	return all, nil
}

// program returns one command with the values of its parameters.
func (t *programFlags) program(c template, v values, cpus []int) (p program.Command, err error) {
	filled := c.with(v)
	p = program.Command{Name: filled.name, Parameters: v, Timeout: t.timeout, Metrics: t.metrics}
	if c.called != "" {
		p.Name, p.Line = c.nameWith(v), filled.name
	}
	if p.Command, err = t.process(filled.words); err != nil {
		return p, fmt.Errorf("%w%s", err, t.hint(c))
	}
	p.CPUs = cpus
	return p, nil
}

// ofCommand returns the element for the command with index i. A single element holds for all commands.
func ofCommand(given []string, i int) string {
	switch {
	case len(given) == 0:
		return ""
	case len(given) == 1:
		return given[0]
	}
	return given[i]
}

// parametersOf returns the parameters of the command with index i: those in it, and in what runs before and after it.
func (t *programFlags) parametersOf(i int) []parameter {
	return named(t.given, t.commands[i].text()+t.besides(i))
}

// besides returns the command lines that run before and after a command, in which parameters are looked for.
func (t *programFlags) besides(i int) string {
	return ofCommand(t.prepare, i) + "\n" + ofCommand(t.conclude, i)
}

// surround sets the commands that run before and after a command.
func (t *programFlags) surround(p *program.Command, i int, v values) error {
	for _, beside := range []struct {
		flag, line string
		command    **process.Command
	}{{"--prepare", ofCommand(t.prepare, i), &p.Prepare}, {"--conclude", ofCommand(t.conclude, i), &p.Conclude}} {
		if beside.line == "" {
			continue
		}
		c, err := newTemplate(beside.line, t.shell)
		if err != nil {
			return usagef("%s: %v", beside.flag, err)
		}
		command, err := t.process(c.with(v).words)
		if err != nil {
			return fmt.Errorf("%s: %w", beside.flag, err)
		}
		*beside.command = &command
	}
	return nil
}

// process returns the program that the words start. If it does not exist, that is an error before anything is
// measured.
func (t *programFlags) process(words []string) (process.Command, error) {
	name := words[0]
	if t.dir != "" && filepath.Base(name) != name && !filepath.IsAbs(name) {
		directory, err := filepath.Abs(t.dir) // as in a shell after cd
		if err != nil {
			return process.Command{}, fmt.Errorf("--dir %s: %w", t.dir, err)
		}
		name = filepath.Join(directory, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return process.Command{}, fmt.Errorf("%w: check that it is there and may be executed", err)
	}
	var base []string
	if t.isRevision {
		base = gitcommand.Elsewhere()
	}
	return process.Command{Path: path, Args: words[1:], Dir: t.dir, Env: environment(base, t.env)}, nil
}

// hint advises users who gave words instead of command lines, or a command that only a shell knows.
func (t *programFlags) hint(c template) string {
	if len(t.commands) > 1 && len(c.words) == 1 {
		return "; each argument is a command of its own: put one with arguments in quotes, or after --"
	}
	if t.isRevision {
		return "; what a shell knows itself takes one: -- sh -c '...'"
	}
	return "; what a shell knows itself takes --shell"
}
