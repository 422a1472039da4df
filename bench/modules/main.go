// Command modules compares the names of the benchmarks that go test runs with those that chronoscope bench has
// a line for, in modules that others wrote. Each benchmark is run once, with the GOMAXPROCS of
// this program. With -agree it compares the figures: sec/op and allocs/op of ten repetitions of go test, as benchstat
// summarises them, with those of chronoscope.
//
//	go build -o /tmp/chronoscope ./cmd/chronoscope && cd bench
//	go run ./modules -chronoscope /tmp/chronoscope                     # eight modules
//	go run ./modules -chronoscope /tmp/chronoscope github.com/google/btree@v1.1.3
//	go run ./modules -chronoscope /tmp/chronoscope -agree -functions 4 # on a machine that does nothing else
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/bench/internal/command"
	"chronoscope/bench/internal/peer"
)

// usual are modules of several kinds: with assembly, generated names, sub-modules, cgo (go-sqlite3) and
// RunParallel (xsync).
var usual = []string{
	"github.com/cespare/xxhash/v2@v2.3.0", "github.com/google/btree@v1.1.3", "github.com/valyala/fastjson@v1.6.10",
	"go.uber.org/zap@v1.28.0", "github.com/puzpuzpuz/xsync/v4@v4.2.0", "github.com/mattn/go-sqlite3@v1.14.33",
	"golang.org/x/text@v0.43.0", "github.com/klauspost/compress@v1.20.3",
}

func main() { command.Main("modules", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("modules", flag.ContinueOnError)
	tool := flags.String("chronoscope", "chronoscope", "the `program` to judge")
	limit := flags.Duration("timeout", 10*time.Minute, "how long each of the two tools may run a module")
	packages := flags.String("packages", "./...", "the packages of each module")
	agree := flags.Bool("agree", false, "compare times and allocations, not names")
	functions := flags.Int("functions", 4, "with -agree: how many benchmark functions of each module")
	benchTime := flags.Duration("benchtime", 200*time.Millisecond, "with -agree: how long each of ten repetitions of go test runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	// A module for an older Go would take another number than this program where the CPUs have a quota.
	if err := os.Setenv("GOMAXPROCS", strconv.Itoa(runtime.GOMAXPROCS(0))); err != nil {
		return err
	}
	modules := flags.Args()
	if len(modules) == 0 {
		modules = usual
	}
	one, head := func(module string) error { return compare(ctx, stdout, *tool, module, *packages, *limit) }, headOfNames
	if *agree {
		a := agreement{*tool, *packages, *functions, *benchTime, *limit}
		one, head = func(module string) error { return a.compare(ctx, stdout, module) }, headOfAgreement
	}
	fmt.Fprint(stdout, head)
	for _, module := range modules {
		if err := one(module); err != nil {
			fmt.Fprintf(stdout, "%-42s %v\n", module, err)
		}
	}
	return ctx.Err()
}

// headOfNames has the names of the columns of compare.
var headOfNames = fmt.Sprintf("%-42s %8s %12s %8s %8s\n", "module", "go test", "chronoscope", "missing", "more")

// compare prints a line for a module, and the names that only one of the two tools has.
func compare(ctx context.Context, w io.Writer, tool, module, packages string, limit time.Duration) error {
	dir, err := download(ctx, module)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	theirs, failed := peer.Output(ctx, dir, "go", "test", "-run=^$", "-bench=.", "-benchtime=1x", "-timeout="+limit.String(), packages)
	expected := namesOf(string(theirs), procsSuffix(runtime.GOMAXPROCS(0)))
	if len(expected) == 0 {
		return cmp.Or(failed, errors.New("go test runs no benchmark"))
	}
	text, failedToo := peer.Output(ctx, dir, tool, "bench", packages, "--quick", "--max-time=1ns", "--timeout="+limit.String(), "--format=json")
	if len(text) == 0 {
		return failedToo
	}
	document, err := peer.Read(text)
	if err != nil {
		return err
	}
	found, why := namesIn(document)
	missing, more := without(expected, found), without(found, expected)
	fmt.Fprintf(w, "%-42s %8d %12d %8d %8d\n", module, len(expected), len(found), len(missing), len(more))
	for _, err := range []error{failed, failedToo} {
		if err != nil {
			fmt.Fprintf(w, "\t%v\n", err)
		}
	}
	for _, name := range missing {
		fmt.Fprintf(w, "\tmissing: %s\n", name)
	}
	for _, name := range more {
		fmt.Fprintf(w, "\tmore: %s\t%s\n", name, why[name])
	}
	return nil
}

// download returns the folder of a module in the module cache.
func download(ctx context.Context, module string) (string, error) {
	out, err := peer.Output(ctx, os.TempDir(), "go", "mod", "download", "-json", module)
	var m struct{ Dir, Error string }
	if parsed := json.Unmarshal(out, &m); parsed != nil || m.Dir == "" {
		return "", cmp.Or(err, fmt.Errorf("%s", m.Error))
	}
	return m.Dir, nil
}

// The line of a result of go test, and the line that names its package.
var (
	result = regexp.MustCompile(`^(Benchmark\S*)\s+\d+\t`)
	inside = regexp.MustCompile(`^pkg: (\S+)`)
)

// procsSuffix returns what go test puts behind the names of benchmarks, given GOMAXPROCS.
func procsSuffix(procs int) string {
	if procs == 1 {
		return ""
	}
	return fmt.Sprintf("-%d", procs)
}

// namesOf returns package and name of each benchmark that go test printed, without the suffix.
func namesOf(output, suffix string) map[string]bool {
	names, in := map[string]bool{}, ""
	for line := range strings.Lines(output) {
		if m := inside.FindStringSubmatch(line); m != nil {
			in = m[1]
		}
		if m := result.FindStringSubmatch(line); m != nil {
			names[in+"."+strings.TrimSuffix(m[1], suffix)] = true
		}
	}
	return names
}

// namesIn returns the names in a document, and the reason of each that has no figure.
func namesIn(d peer.Document) (names map[string]bool, why map[string]string) {
	names, why = map[string]bool{}, map[string]string{}
	for _, r := range d.Results {
		name := r.Package + "." + r.Name
		names[name], why[name] = true, strings.Join(r.Reasons, "; ")
	}
	return names, why
}

// without returns the names of a that b does not have.
func without(a, b map[string]bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !b[name] {
			names = append(names, name)
		}
	}
	return names
}
