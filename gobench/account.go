package gobench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"chronoscope/process"
)

// A process that runs a benchmark also starts, runs other code of the package and collects garbage. The CPU
// time of that varies by milliseconds from process to process, which looks like a variation of the benchmark.
// Therefore the testing package is compiled with two looks at the kernel's counters (go build -overlay): when the
// benchmark's timer starts after the setup, and just after the benchmark's function. It also prints the
// allocations before it divides and rounds them. The looks lie outside of the benchmark's timer. RunParallel learns from the
// measuring process how long an iteration takes ([Benchmark.IterationNs]).

// account is what the testing package tells about the last run of a benchmark's function.
type account struct {
	timedNs, allocs, bytes float64
	// looked says that the following fields are known. The threads are known too, unless one of them has ended.
	looked                bool
	wallNs, cpuNs         float64
	switches, majorFaults float64
	collections           float64 // garbage collections
	measuringNs           float64 // CPU time of the measuring process; below 0 if unknown
	single                float64 // 1 if one goroutine did all of the work, 2 if garbage was collected, too
	starts                float64 // how many times the timer started before the iterations
	threads               []process.Thread
}

//go:embed account/*.go.txt
var accountFiles embed.FS

// Code of the testing package that starts a benchmark's timer, that resets it, that runs the benchmark's function, that runs
// a function in several goroutines, and that writes what was allocated.
var (
	startsTimer   = regexp.MustCompile(`(?m)^func \(b \*B\) StartTimer\(\) \{\n\tif !b\.timerOn \{\n`)
	resetsTimer   = regexp.MustCompile(`(?m)^func \(b \*B\) ResetTimer\(\) \{\n`)
	runsBenchmark = regexp.MustCompile(`(?m)^\tb\.ResetTimer\(\)\n\tb\.StartTimer\(\)\n\tb\.benchFunc\(b\)\n\tb\.StopTimer\(\)\n`)
	runsParallel  = regexp.MustCompile(`(?m)^func \(b \*B\) RunParallel\(body func\(\*PB\)\) \{\n`)
	writesMemory  = regexp.MustCompile(`(?m)^func \(r BenchmarkResult\) MemString\(\) string \{`)
)

// withAccount returns the source of the testing package's benchmarks with the looks added. It returns false if
// the source is not as expected.
func withAccount(source string) (string, bool) {
	for _, part := range []*regexp.Regexp{startsTimer, resetsTimer, runsBenchmark, runsParallel, writesMemory} {
		if len(part.FindAllString(source, 2)) != 1 {
			return "", false
		}
	}
	source = startsTimer.ReplaceAllString(source, "${0}\t\tchronoscopeStart(b.N, b.duration)\n")
	source = resetsTimer.ReplaceAllString(source, "${0}\tif b.timerOn {\n\t\tchronoscopeStart(b.N, 0)\n\t}\n")
	source = runsBenchmark.ReplaceAllString(source, "\tchronoscopeLooks = 0\n${0}\tchronoscopeEnd()\n")
	source = runsParallel.ReplaceAllString(source, "${0}\tb.previousN, b.previousDuration = chronoscopePrevious(b)\n")
	return writesMemory.ReplaceAllString(source, "func (r BenchmarkResult) chronoscopeMemString() string {"), true
}

// accounting writes the changed testing package into a directory, and returns what it replaces; nothing if this
// Go has another testing package.
func (b Building) accounting(ctx context.Context, dir, into string) (replaced overlay, err error) {
	where, err := b.tool(ctx, dir, "list", "-f", "{{.Dir}}", "testing")
	if err != nil {
		return nil, err
	}
	std := strings.TrimRight(where, "\r\n")
	source, err := os.ReadFile(filepath.Join(std, "benchmark.go"))
	if err != nil {
		return nil, err
	}
	changed, ok := withAccount(string(source))
	if !ok {
		return nil, nil
	}
	replaced = overlay{}
	write := func(name string, content []byte) error {
		replaced[filepath.Join(std, name)] = filepath.Join(into, name)
		return os.WriteFile(filepath.Join(into, name), content, 0o600)
	}
	err = write("benchmark.go", []byte(changed))
	for _, name := range []string{"chronoscope.go", "chronoscope_linux.go", "chronoscope_other.go"} {
		content, failed := accountFiles.ReadFile("account/" + name + ".txt")
		err = errors.Join(err, failed, write(name, content))
	}
	return replaced, err
}

// take puts what the account says into an observation of the same process.
func (a account) take(o *Observation) {
	if o.OwnTime = math.Abs(a.timedNs-o.TimedNs) > 1.01*o.RoundingNs; !o.OwnTime {
		o.TimedNs, o.RoundingNs = a.timedNs, 0.5
	}
	o.ExactAllocs, o.ExactBytes = true, true
	for i, m := range o.Metrics {
		total, isExact := a.allocs, &o.ExactAllocs
		switch m.Unit {
		case AllocsUnit:
		case bytesUnit:
			total, isExact = a.bytes, &o.ExactBytes
		default:
			continue
		}
		if exact := total / float64(o.N); m.Value == math.Floor(exact) {
			o.Metrics[i].Value = exact
		} else { // the benchmark reports its own, which is printed as a whole number, too
			*isExact = false
		}
	}
	if !a.looked {
		return
	}
	o.OthersNs *= a.wallNs / o.WallNs
	o.WallNs, o.CPUNs, o.StoppedNs = a.wallNs, a.cpuNs, 0
	if o.WaitNs = math.NaN(); len(a.threads) > 0 {
		o.WaitNs = workersWaitNs(a.threads)
	}
	o.InvoluntarySwitches, o.MajorFaults, o.Collections = a.switches, a.majorFaults, a.collections
	o.Single, o.OneGoroutine, o.Starts = a.single == 1, a.single > 0, int(a.starts)
}

// accountMark is how an account begins among the fields of a result.
const accountMark = "@chronoscope "

// parseAccount reads what follows the mark.
func parseAccount(text string) (a account, err error) {
	fields := strings.Fields(text)
	numbers := []*float64{&a.timedNs, &a.allocs, &a.bytes, &a.wallNs, &a.cpuNs, &a.switches, &a.majorFaults, &a.collections, &a.measuringNs, &a.single, &a.starts}
	for i, field := range fields[:min(len(fields), len(numbers))] {
		if *numbers[i], err = strconv.ParseFloat(field, 64); err != nil {
			return account{}, fmt.Errorf("its account is malformed: %q", clip(text))
		}
	}
	if a.looked = len(fields) >= len(numbers); !a.looked {
		return a, nil
	}
	for _, field := range fields[len(numbers):] {
		cpu, wait, _ := strings.Cut(field, "/")
		cpuNs, err := strconv.ParseInt(cpu, 10, 64)
		waitNs, also := strconv.ParseInt(wait, 10, 64)
		if err = errors.Join(err, also); err != nil {
			return account{}, fmt.Errorf("its account is malformed: %q", clip(text))
		}
		a.threads = append(a.threads, process.Thread{CPUNs: cpuNs, WaitNs: waitNs})
	}
	return a, nil
}
