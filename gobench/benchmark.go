package gobench

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Benchmark is a benchmark that can be run. Sub-benchmarks are benchmarks of their own.
type Benchmark struct {
	// Name is as go test prints it: BenchmarkX/size=1. It ends with GOMAXPROCS only if SetProcs sets that.
	Name    string `json:"name"`
	Package string `json:"package"` // its import path
	// SetProcs is the GOMAXPROCS that it runs with (go test -cpu); with 0 the Go runtime chooses it. If it is
	// above 1, it stands at the end of the name: BenchmarkX/size=1-4.
	SetProcs int `json:"set_gomaxprocs,omitempty"`
	// File and Line are where its function is declared, relative to the working folder; empty if that was not
	// asked for, or is unknown.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// RepositoryFile is the file as seen from the top of its git repository; empty if that is File, or unknown.
	RepositoryFile string `json:"repository_file,omitempty"`
	// Dir is the package's directory, in which the benchmark runs, and Binary the compiled test.
	Dir    string `json:"-"`
	Binary string `json:"-"`
	// Layouts are binaries of the same code whose functions lie in random orders. Repetitions run these and Binary, in
	// which functions lie in the usual order, equally often. If there are none, all run Binary.
	Layouts []string `json:"-"`
	// Orders links more of them; nil if there can be no more.
	Orders *Orders `json:"-"`
	first  int     // the number of layouts before more were linked
	// Padding is the number of bytes by which a variable lengthens the environment, which moves the stack of the process.
	Padding int `json:"-"`
	// IterationNs is about how long an iteration takes by the clock; 0 as long as that is not known. b.RunParallel gives each
	// of its goroutines as many iterations at a time as keep it busy for 0.1 ms. (Under go test they keep all together busy
	// for 0.1 ms, which is too long for short runs of many goroutines.) go test learns how long they take from its own
	// earlier runs, which a process that makes a single run lacks: with few at a time the goroutines would wait for one
	// another.
	IterationNs float64 `json:"-"`
	// Accounts says that the process reads its own counters just before and after the benchmark's iterations,
	// so that it need not be traced.
	Accounts bool `json:"-"`
	// CallsBinary is the compiled test that times single calls; empty if it was not asked for, or if no loop
	// over b.N or b.Loop was found.
	CallsBinary string `json:"-"`
	// Revision is the revision that it was compiled from; empty for the working tree.
	Revision string `json:"revision"`
}

// Source returns the file in which the benchmark is declared, as seen from the top of its git repository if that is known. Systems
// for CI take paths from there.
func (b Benchmark) Source() string { return cmp.Or(b.RepositoryFile, b.File) }

// named returns the benchmark of a test to which the testing package gives this name.
func (b Benchmark) named(plain string) Benchmark {
	b.Name = plain + b.procsSuffix()
	return b
}

// plainName returns the name without the GOMAXPROCS that was set.
func (b Benchmark) plainName() string { return strings.TrimSuffix(b.Name, b.procsSuffix()) }

// waiting returns how many goroutines of the testing package wait for a benchmark: that of the main function, and that of
// each benchmark which it is a part of.
func (b Benchmark) waiting() int { return 1 + strings.Count(b.Name, "/") }

func (b Benchmark) procsSuffix() string {
	if b.SetProcs > 1 {
		return fmt.Sprintf("-%d", b.SetProcs)
	}
	return ""
}

// Runner runs benchmarks.
type Runner interface {
	// Run calls a benchmark with b.N = n, in a process of its own. Without tracing, the wait is unknown. Its
	// error is a *[FailedError], or that of ctx.
	Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error)
}

// FailedError says that a benchmark gave no figure.
type FailedError struct {
	Benchmark Benchmark
	Why       string
	// Output is the end of what it printed.
	Output string
}

// Error names the benchmark, why it failed, and the most telling line of its output.
func (e *FailedError) Error() string { return e.Benchmark.Name + ": " + e.reason() }

func (e *FailedError) reason() string {
	if last := lastLine(e.Output); last != "" {
		return fmt.Sprintf("%s; it printed: %s", e.Why, last)
	}
	return e.Why
}

// lastLine returns the line that tells most about a failure: the panic, or the line next to the report of the
// failure. That is the line before the report if the log is printed while it is made, and the line after it
// otherwise.
func lastLine(output string) string {
	last, reported := "", false
	for line := range strings.Lines(output) {
		line = strings.Trim(line, " \t\r\n\x16")
		if name, rest, ok := strings.Cut(line, "panic: "); ok && strings.HasPrefix(name, "Benchmark") { // on the line of its result
			line = "panic: " + rest
		}
		switch {
		case strings.HasPrefix(line, "panic:"), strings.HasPrefix(line, "fatal error:"):
			return clip(line)
		case line == "" || line == "FAIL" || line == "PASS" || strings.HasPrefix(line, "=== "):
		case strings.HasPrefix(line, "--- FAIL"):
			reported = true
		case reported && strings.HasPrefix(last, "Benchmark"), !reported:
			last = line
		}
	}
	return clip(last)
}

func clip(line string) string {
	const most = 200
	if len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + " ..."
	}
	return line
}
