package gobench

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

// The looks stand around the benchmark's function, outside of its timer; a testing package that is
// written otherwise stays as it is.
func TestWithAccount(t *testing.T) {
	const runs = "func (b *B) runN(n int) {\n\tb.ResetTimer()\n\tb.StartTimer()\n\tb.benchFunc(b)\n\tb.StopTimer()\n}\n"
	const starts = "func (b *B) StartTimer() {\n\tif !b.timerOn {\n\t\tb.timerOn = true\n\t}\n}\n"
	const resets = "func (b *B) ResetTimer() {\n\tb.duration = 0\n}\n"
	const parallel = "func (b *B) RunParallel(body func(*PB)) {\n}\n"
	const writes = "func (r BenchmarkResult) MemString() string {\n\treturn \"\"\n}\n"
	got, ok := withAccount(starts + resets + runs + parallel + writes)
	want := strings.Replace(starts, "timerOn {\n", "timerOn {\n\t\tchronoscopeStart(b.N, b.duration)\n", 1)
	want += strings.Replace(resets, "{\n", "{\n\tif b.timerOn {\n\t\tchronoscopeStart(b.N, 0)\n\t}\n", 1)
	want += strings.Replace(strings.Replace(runs, "StopTimer()\n", "StopTimer()\n\tchronoscopeEnd()\n", 1), "\tb.ResetTimer", "\tchronoscopeLooks = 0\n\tb.ResetTimer", 1)
	want += strings.Replace(parallel, "{\n", "{\n\tb.previousN, b.previousDuration = chronoscopePrevious(b)\n", 1) + strings.Replace(writes, "MemString", "chronoscopeMemString", 1)
	if !ok || got != want {
		t.Errorf("%v:\n%s", ok, got)
	}
	for _, other := range []string{
		"", resets + runs + parallel + writes, starts + runs + parallel + writes, starts + resets + parallel + writes, starts + resets + runs + writes,
		starts + resets + runs + parallel, starts + resets + runs + runs + parallel + writes,
		starts + resets + strings.Replace(runs, "\tb.ResetTimer()\n", "", 1) + parallel + writes,
	} {
		if got, ok := withAccount(other); ok {
			t.Errorf("changed %q to %q", other, got)
		}
	}
}

// What stands behind the mark replaces what is rounded, and what the start of the process took.
func TestAccountIsTaken(t *testing.T) {
	line := "BenchmarkX-2 \t     160\t      1000 ns/op\t      24 B/op\t       9 allocs/op\t@chronoscope 160077 1590 3999 170000 150000 3 1 2 4000 1 2 100000/9000 50000/7000 10/80000\n"
	o, a, err := resultOf(line, "BenchmarkX")
	if err != nil || !a.looked || len(a.threads) != 3 {
		t.Fatalf("%+v: %v", a, err)
	}
	o.WallNs, o.CPUNs, o.StoppedNs, o.OthersNs = 340_000, 900_000, 5000, 10_000
	a.take(&o)
	if o.TimedNs != 160077 || o.WallNs != 170_000 || o.CPUNs != 150_000 || o.WaitNs != 16_000 || o.InvoluntarySwitches != 3 || o.MajorFaults != 1 || o.Collections != 2 || o.StoppedNs != 0 || o.OthersNs != 5000 || !o.Single || !o.OneGoroutine || o.Starts != 2 {
		t.Errorf("%+v", o)
	}
	if o.Metrics[0].Value != 3999./160 || o.Metrics[1].Value != 1590./160 {
		t.Errorf("%+v", o.Metrics)
	}
	own, a, err := resultOf(strings.Replace(line, "1000 ns/op", "7.000 ns/op", 1), "BenchmarkX")
	if a.take(&own); err != nil || own.TimedNs != 7*160 {
		t.Errorf("a time that the benchmark reports itself became %v ns: %v", own.TimedNs, err)
	}
	ended, a, err := resultOf("BenchmarkX\t1\t5 ns/op\t@chronoscope 5 0 0 7 6 0 0 0 -1 0 1\n", "BenchmarkX")
	if a.take(&ended); err != nil || ended.CPUNs != 6 || !math.IsNaN(ended.WaitNs) {
		t.Errorf("a thread has ended: %+v: %v", ended, err)
	}
	uncounted, a, err := resultOf("BenchmarkX\t1\t5 ns/op\t@chronoscope 5 0 0 7 6 0 0 0 -1 0 1 0/0 0/0\n", "BenchmarkX")
	if a.take(&uncounted); err != nil || uncounted.CPUNs != 6 || !math.IsNaN(uncounted.WaitNs) {
		t.Errorf("the kernel does not count waits: %+v: %v", uncounted, err)
	}
	for _, bad := range []string{"x", "1 2 y", "1 2 3 4 5 6 7 8 9 0 2 1", "1 2 3 4 5 6 7 8 9 0 2 1/z"} {
		if _, _, err := resultOf("BenchmarkX\t1\t5 ns/op\t@chronoscope "+bad+"\n", "BenchmarkX"); err == nil {
			t.Errorf("the account %q was read", bad)
		}
	}
}

// Allocations that a benchmark reports itself stay as they are. They were replaced by those that the testing package counted.
func TestOwnCountsAreKept(t *testing.T) {
	const line = "BenchmarkX-2 \t     160\t      1000 ns/op\t      24 B/op\t       3 allocs/op\t@chronoscope 160077 1590 3999\n"
	o, a, err := resultOf(line, "BenchmarkX")
	if a.take(&o); err != nil || o.Metrics[0].Value != 3999./160 || o.Metrics[1].Value != 3 || o.ExactAllocs || !o.ExactBytes {
		t.Errorf("%+v: %v", o, err)
	}
	const ownBytes = "BenchmarkX-2 \t     160\t      1000 ns/op\t       7 B/op\t       9 allocs/op\t@chronoscope 160077 1590 3999\n"
	o, a, err = resultOf(ownBytes, "BenchmarkX")
	if a.take(&o); err != nil || o.Metrics[0].Value != 7 || o.Metrics[1].Value != 1590./160 || !o.ExactAllocs || o.ExactBytes {
		t.Errorf("%+v: %v", o, err)
	}
	reported := []Repetition{{Few: Observation{N: 10}, Many: Observation{N: 170, ExactAllocs: true}}}
	if strays(AllocsUnit, reported) != 0.1 || strays(bytesUnit, reported) != 0 {
		t.Error("bytes that a benchmark reports itself take the tolerance of its allocations away")
	}
}

// exactCounts is what an iteration is said to allocate, from the totals of runs of few and many.
func exactCounts(few, many, n float64, unit string) float64 {
	run := func(count float64, n int) Observation {
		return Observation{N: n, ExactAllocs: true, ExactBytes: true, Metrics: []Metric{{Unit: unit, Value: count / float64(n)}}}
	}
	return metricsOf([]Repetition{{Few: run(few, int(n/5)), Many: run(many, int(n))}})[0].Value
}

// go test prints 9 where 9.985 are allocated; what the runtime allocates beside is no fraction.
func TestCountsAreExact(t *testing.T) {
	for _, c := range []struct {
		few, many, n float64
		unit         string
		want         float64
	}{
		{19_970 + 3, 99_850 + 3, 10_000, AllocsUnit, 9.985},
		{2000 + 3, 10_000 + 9, 1000, AllocsUnit, 10}, // nine strays
		{0, 0, 1000, AllocsUnit, 0},
		{20_000, 100_000, 1000, bytesUnit, 100},
		{200_100_000, 1_000_500_000, 100_000, bytesUnit, 10_005},
		{200_010_000, 1_000_050_000, 100_000, bytesUnit, 10_000.5},
		{5, 3, 10, AllocsUnit, 0},
	} {
		if got := exactCounts(c.few, c.many, c.n, c.unit); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

const accountModule = `package m

import (
	"os"
	"testing"
	"time"
)

var kept *[100]int

func spin() {
	for began := time.Now(); time.Since(began) < 100*time.Millisecond; {
	}
}

func TestMain(m *testing.M) {
	spin()
	os.Exit(m.Run())
}

func BenchmarkSome(b *testing.B) {
	spin()
	b.ResetTimer()
	b.StopTimer()
	spin()
	b.StartTimer()
	for i := range b.N {
		if i%16 == 0 {
			kept = new([100]int)
		}
	}
}
`

// onlyBenchmark compiles a test file in a module of its own, and returns its only benchmark and what runs it.
func onlyBenchmark(t *testing.T, source string) (Processes, Benchmark) {
	t.Helper()
	dir, into := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build, err := Compile(background, dir, into, []string{"."}, Building{})
	if err != nil || len(build.Tests) != 1 {
		t.Fatalf("%+v: %v", build, err)
	}
	p := Processes{Timeout: time.Minute}
	found, err := p.Discover(background, build.Tests[0], ".")
	if err != nil || len(found.Benchmarks) != 1 {
		t.Fatalf("%+v: %v", found, err)
	}
	return p, found.Benchmarks[0]
}

// One allocation in 16 calls is seen as such. What the start of the package takes and the setup, here also that of a first
// call with one iteration, is not part of the account.
func TestAccountOfARealModule(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	p, b := onlyBenchmark(t, accountModule)
	if b.Accounts != (runtime.GOOS == "linux") {
		t.Fatalf("accounts: %v", b.Accounts)
	}
	var rep Repetition
	for n, into := range map[int]*Observation{16_000: &rep.Few, 160_000: &rep.Many} {
		o, err := p.Run(background, b, n, true)
		if err != nil {
			t.Fatal(err)
		}
		*into = o
		if !(o.ExactAllocs && o.ExactBytes) || b.Accounts && (o.WallNs > o.ProcessNs-500e6 || !(o.CPUNs < o.ProcessNs-500e6)) {
			t.Errorf("%+v", o)
		}
		if o.Began.At.IsZero() != o.Around.At.IsZero() || float64(o.Around.At.Sub(o.Began.At)) < processNs(o) && !o.Around.At.IsZero() {
			t.Errorf("looked from %v to %v around a process of %v ns", o.Began.At, o.Around.At, processNs(o))
		}
	}
	for _, m := range metricsOf([]Repetition{rep}) {
		if want := map[string]float64{AllocsUnit: 1. / 16, bytesUnit: 896. / 16}[m.Unit]; math.Abs(m.Value-want) > 0.01*want {
			t.Errorf("%+v, want %v", m, want)
		}
	}
}

// A revision that allocates once more in 16 calls is beyond a limit of nothing; equal ones that
// allocate in some calls are within it, whatever the runtime allocates beside.
func TestAllocationInSomeCallsIsFound(t *testing.T) {
	compared := func(then, now float64) Judged {
		var a, b Result
		for i := range 20 {
			for r, allocs := range map[*Result]float64{&a: then, &b: now} {
				run := func(n float64, strays int) Observation {
					return Observation{N: int(n), ExactAllocs: true, ExactBytes: true, Metrics: []Metric{{Unit: AllocsUnit, Value: (math.Floor(n*allocs) + float64(strays)) / n}}}
				}
				r.Repetitions = append(r.Repetitions, Repetition{Few: run(2000, 3), Many: run(10_000, (i*7+int(8*allocs))%11)})
			}
		}
		c := CompareMetric(&a, &b, AllocsUnit, 1)
		plan := QuickPlan.WithGate(&Gate{Limit: math.NaN(), Metrics: map[string]float64{AllocsUnit: 0}})
		return Judge([]Comparison{c}, plan)[0]
	}
	for _, c := range []struct {
		then, now float64
		want      stats.Side
	}{{9, 9 + 1./16, stats.Beyond}, {0, 1. / 16, stats.Beyond}, {9, 9, stats.Within}, {9.985, 9.985, stats.Within}, {9 + 1./16, 9, stats.Within}} {
		if got := compared(c.then, c.now); got.Side != c.want {
			t.Errorf("%v allocations instead of %v: %s, P %v", c.now, c.then, got.Side, got.Beyond)
		}
	}
}

// Where the longer run had fewer strays, one allocation is seen as a little less than one: two are twice
// as many all the same.
func TestRatioOfOneAllocationAndTwo(t *testing.T) {
	of := func(allocs float64) *Result {
		run := func(n float64, strays int) Observation {
			return Observation{N: int(n), ExactAllocs: true, ExactBytes: true, Metrics: []Metric{{Unit: AllocsUnit, Value: (n*allocs + float64(strays)) / n}}}
		}
		r := &Result{}
		for range 20 {
			r.Repetitions = append(r.Repetitions, Repetition{Few: run(2000, 3), Many: run(10_000, 1)})
		}
		return r
	}
	if c := CompareMetric(of(1), of(2), AllocsUnit, 1); c.Ratio.Value < 1.999 || c.Ratio.Value > 2.001 {
		t.Errorf("2 allocations are %v times 1", c.Ratio.Value)
	}
}
