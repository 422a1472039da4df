package cli_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"chronoscope/machine"
)

// The tests in this package run the command as users do: a statically linked file, in a process of
// its own. Its output is checked against the documented form.

// chronoscope is the path of the command.
var chronoscope string

func TestMain(m *testing.M) {
	testscript.Main(withCommand{m}, sandboxes)
}

// withCommand builds the command before the tests, and benchstat, which reads the command's
// exports, and removes both afterwards.
type withCommand struct{ tests *testing.M }

func (w withCommand) Run() int {
	directory, err := os.MkdirTemp("", "chronoscope-test")
	if err == nil {
		defer os.RemoveAll(directory)
		err = os.Chmod(directory, 0o755) // other users run the command too
	}
	if err == nil {
		err = build(directory)
	}
	if err != nil {
		log.Printf("building the command: %v", err)
		return 1
	}
	return w.tests.Run()
}

func build(directory string) error {
	chronoscope = filepath.Join(directory, "chronoscope")
	if runtime.GOOS == "windows" {
		chronoscope += ".exe"
	}
	compile := exec.Command("go", "build", "-o", directory, "chronoscope/cmd/chronoscope", "golang.org/x/perf/cmd/benchstat")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return os.Setenv("PATH", directory+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:       filepath.Join("testdata", "script"),
		Condition: func(name string) (bool, error) { return condition(t, name) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"document": document,
			"causes":   listedCauses,
		},
		Setup:               setUp,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setUp gives scripts the build cache, so that they need not compile the standard library, and the
// number of a CPU that they may use.
func setUp(e *testscript.Env) error {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return err
	}
	e.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	e.Setenv("CPU", "0") // used if the system reports no CPUs
	if cpus, err := machine.Affinity(); err == nil {
		e.Setenv("CPU", strconv.Itoa(slices.Min(cpus)))
	}
	return nil
}

// condition implements [can:SANDBOX]: this system lets the tests run the command in that sandbox.
func condition(t *testing.T, name string) (bool, error) {
	sandbox, ok := strings.CutPrefix(name, "can:")
	if !ok {
		return false, fmt.Errorf("no condition %q", name)
	}
	if sandboxes[sandbox] == nil {
		t.Logf("%s: not on %s", sandbox, runtime.GOOS)
		return false, nil
	}
	args := []string{chronoscope, "--version"}
	if sandbox == "without" {
		args = append([]string{"getcpu"}, args...)
	}
	output, err := exec.Command(sandbox, args...).CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == noSandbox {
		t.Logf("%s: %s", sandbox, output)
		return false, nil
	}
	return true, nil
}

// status implements "status N COMMAND": it runs the command, which has to exit with N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENT ...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	switch {
	case err == nil:
		if want != 0 {
			ts.Fatalf("exit status 0, want %d", want)
		}
	case !errors.As(err, &ended):
		ts.Fatalf("%v", err)
	case ended.ExitCode() != want:
		ts.Fatalf("%v, want exit status %d", err, want)
	}
}

// listedCauses checks that each period of inactivity of a list on standard output has a known
// cause.
func listedCauses(ts *testscript.TestScript, neg bool, args []string) {
	found := regexp.MustCompile(`(?m)^I[0-9]+\t.*\)  (.*)$`).FindAllStringSubmatch(ts.ReadFile("stdout"), -1)
	if len(found) == 0 {
		ts.Fatalf("the list has no period of inactivity")
	}
	for _, cause := range found {
		if !slices.Contains(causes, cause[1]) {
			ts.Fatalf("%q is no cause", cause[1])
		}
	}
}

// document implements "document [-sort=KEY] FILE [CLOCK ...]": it checks a JSON document against
// the documented form. The document has to contain these clocks, or all.
func document(ts *testscript.TestScript, neg bool, args []string) {
	e := expectation{sortedBy: "quality", clocks: everyClock()}
	if len(args) > 0 {
		if key, ok := strings.CutPrefix(args[0], "-sort="); ok {
			e.sortedBy, args = key, args[1:]
		}
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: document [-sort=KEY] FILE [CLOCK ...]")
	}
	if len(args) > 1 {
		e.clocks = args[1:]
	}
	if all := breaches([]byte(ts.ReadFile(args[0])), e); len(all) > 0 {
		ts.Fatalf("%s breaks the form of the output:\n%s", args[0], strings.Join(all, "\n"))
	}
}
