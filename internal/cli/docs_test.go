package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// example is a line that a reader may type.
type example struct{ where, text string }

// quoted matches a command in a sentence, possibly with a line break in it.
var quoted = regexp.MustCompile("`((?:go run ./cmd/)?chronoscope\\s[^`]+)`")

// examplesOfDocs returns the lines of the pages' console blocks that start with a prompt, and the
// commands in sentences.
func examplesOfDocs(t *testing.T) []example {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	var all []example
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, fence := filepath.Base(page), ""
		var sentences strings.Builder
		for line := range strings.SplitSeq(string(text), "\n") {
			command, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			switch {
			case strings.HasPrefix(line, "```"):
				fence = toggled(fence, line)
			case prompted && (fence == "" || fence == "```console"):
				all = append(all, example{name, command})
			case fence == "":
				sentences.WriteString(line + "\n")
			}
		}
		for _, found := range quoted.FindAllStringSubmatch(sentences.String(), -1) {
			words := strings.Fields(found[1])
			if len(words) == 2 && words[0] == "chronoscope" {
				words = []string{"chronoscope", "help", words[1]} // only a command's name: the help exists if the command does
			}
			all = append(all, example{name, strings.Join(words, " ")})
		}
	}
	return all
}

// toggled returns the kind of the block that a fence begins, empty if it ends one.
func toggled(open, fence string) string {
	if open == "" {
		return fence
	}
	return ""
}

// examplesOfHelp returns the lines of the commands' own examples.
func examplesOfHelp(cmd *cobra.Command) []example {
	var all []example
	for line := range strings.SplitSeq(cmd.Example, "\n") {
		text, _, _ := strings.Cut(strings.TrimSpace(line), "  ") // a description follows
		all = append(all, example{cmd.CommandPath() + " --help", text})
	}
	for _, sub := range cmd.Commands() {
		if sub.Example != "" {
			all = append(all, examplesOfHelp(sub)...)
		}
	}
	return all
}

// Every example in a page or a command's help names an existing command, with existing flags and
// valid values. The test does not run the measurements; scripts do that.
func TestExamplesAreUnderstood(t *testing.T) {
	all := append(examplesOfDocs(t), examplesOfHelp(newRoot(Streams{io.Discard, io.Discard}))...)
	understood := 0
	for _, e := range all {
		for _, arguments := range ownCalls(t, e) {
			understood++
			if err := understand(arguments); err != nil {
				t.Errorf("%s: %s: %v", e.where, e.text, err)
			}
		}
	}
	if understood < 40 {
		t.Errorf("only %d examples were found", understood)
	}
}

// ownCalls returns the arguments of each call of this command in a line of a shell.
func ownCalls(t *testing.T, e example) [][]string {
	t.Helper()
	line, err := syntax.NewParser().Parse(strings.NewReader(e.text), e.where)
	if err != nil {
		t.Errorf("%s: %s: %v", e.where, e.text, err)
		return nil
	}
	var calls [][]string
	syntax.Walk(line, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		words, err := expand.Fields(nil, call.Args...)
		if err != nil {
			t.Errorf("%s: %s: %v", e.where, e.text, err)
		}
		if i := slices.Index(words, "./cmd/chronoscope"); i >= 0 {
			calls = append(calls, words[i+1:])
		} else if len(words) > 0 && words[0] == "chronoscope" {
			calls = append(calls, words[1:])
		}
		return true
	})
	return calls
}

// understand parses a command line as the command does, and stops before anything runs.
func understand(arguments []string) error {
	root := newRoot(Streams{io.Discard, io.Discard})
	var reached *cobra.Command
	stop(root, &reached)
	root.SetArgs(arguments)
	if err := root.Execute(); err != nil {
		return err
	}
	if reached == nil {
		return nil // of --help or --version
	}
	// The flags of every command are checked against their allowed values.
	f := &flags{}
	set := pflag.NewFlagSet("shared", pflag.ContinueOnError)
	f.register(set)
	reached.Flags().Visit(func(given *pflag.Flag) {
		if shared := set.Lookup(given.Name); shared != nil && given.Name != "output" && given.Name != "html" && given.Name != "save" && given.Name != "cpu" {
			set.Set(given.Name, given.Value.String())
		}
	})
	_, err := f.check(&command{Command: reached})
	return err
}

// stop makes each command only record that it was reached.
func stop(cmd *cobra.Command, reached **cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		*reached = cmd
		return nil
	}
	cmd.Run = nil
	for _, sub := range cmd.Commands() {
		stop(sub, reached)
	}
}

// programsOfDocs matches the complete programs among the Go blocks of a page.
var programsOfDocs = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$")

// The Go programs in the pages compile.
func TestProgramsOfDocsCompile(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range programsOfDocs.FindAllSubmatch(text, -1) {
			compiled++
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, program[1], 0o644); err != nil {
				t.Fatal(err)
			}
			if said, err := exec.Command("go", "build", "-o", os.DevNull, file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", page, err, said)
			}
		}
	}
	if compiled == 0 {
		t.Error("no page shows a program")
	}
}

// Every command has examples in its help.
func TestEveryCommandHasExamples(t *testing.T) {
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return // commands of the library cobra: their text says how
		}
		if !strings.Contains(cmd.Example, "chronoscope") {
			t.Errorf("%q has no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(Streams{io.Discard, io.Discard}))
}

// The probe that the scripts run is the example on the page about the protocol.
func TestExampleProbeIsTheOneThatRuns(t *testing.T) {
	script, err := txtar.ParseFile("testdata/script/runtimes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../examples/probes/probe.pl")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "probe.pl" })
	if i < 0 || !bytes.Equal(script.Files[i].Data, example) {
		t.Error("testdata/script/runtimes.txtar does not run examples/probes/probe.pl")
	}
}
