package gobench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The lines are those that Go 1.26's testing package prints.
func TestResultOf(t *testing.T) {
	for _, c := range []struct {
		output, name string
		n, procs     int
		timedNs      float64
		metrics      string
		fails        bool
	}{
		{"BenchmarkX-2   \t     100\t       763.1 ns/op\n", "BenchmarkX", 100, 2, 76310, "[]", false},
		{"BenchmarkX   \t     100\t       763.1 ns/op\n", "BenchmarkX", 100, 1, 76310, "[]", false},
		{"BenchmarkX-2 \t 4\t 10 ns/op\nBenchmarkXY-2 \t 5\t 20 ns/op\n", "BenchmarkX", 4, 2, 40, "[]", false},
		{"helloBenchmarkX/n=1-8\t 4\t 10 ns/op\t 3.5 MB/s\t 2 frogs/op\n", "BenchmarkX/n=1", 4, 8, 40, "[{MB/s 3.5 ? ?} {frogs/op 2 ? ?}]", false},
		{"BenchmarkX-2 \t 4\t 10 ns/op\nBenchmarkX-2 \t 4\t 12 ns/op\n", "BenchmarkX", 4, 2, 48, "[]", false},
		{"BenchmarkX/a+b-2 \t 4\t 10 ns/op\n", "BenchmarkX/a+b", 4, 2, 40, "[]", false},
		{"BenchmarkX-2 \t 4\t 2 frogs/op\n", "BenchmarkX", 0, 0, 0, "", true},
		{"BenchmarkX-2 \t 4\t 2 frogs/op\t 0 B/op\t@chronoscope 52 0 0\n", "BenchmarkX", 4, 2, 52, "[{frogs/op 2 ? ?} {B/op 0 ? ?}]", false}, // b.ReportMetric(0, "ns/op")
		{"BenchmarkX-2 \t 4\t NaN ns/op\t@chronoscope 52 0 0\n", "BenchmarkX", 0, 0, 0, "", true},
		{"BenchmarkX-2 \t 4\t NaN ns/op\n", "BenchmarkX", 0, 0, 0, "", true},
		{"BenchmarkX-99999999999999999999 \t 4\t 1 ns/op\n", "BenchmarkX", 0, 0, 0, "", true},
		{"BenchmarkX-2 \t 0\t 1 ns/op\n", "BenchmarkX", 0, 0, 0, "", true},
		{"PASS\n", "BenchmarkX", 0, 0, 0, "", true},
		{"", "BenchmarkX", 0, 0, 0, "", true},
	} {
		o, _, err := resultOf(c.output, c.name)
		if c.fails {
			if err == nil {
				t.Errorf("%q passes as %+v", c.output, o)
			}
			continue
		}
		if err != nil || o.N != c.n || o.Procs != c.procs || o.TimedNs != c.timedNs || fmt.Sprint(o.Metrics) != c.metrics {
			t.Errorf("%q: %+v, %v", c.output, o, err)
		}
	}
}

func TestListing(t *testing.T) {
	l := parseListing("goos: linux\n\x16=== RUN   BenchmarkA\nBenchmarkA\nBenchmarkA-2 \t 1\t 5 ns/op\n" +
		"\x16=== RUN   BenchmarkB\nBenchmarkB\n\x16=== RUN   BenchmarkB/x-1\nBenchmarkB/x-1\nout\nBenchmarkB/x-1-2\t 1\t 5 ns/op\n" +
		"\x16=== RUN   BenchmarkC\nBenchmarkC\n\x16--- FAIL: BenchmarkC-2\n    x_test.go:1: broken\n" +
		"\x16=== RUN   BenchmarkP\n\x16=== RUN   BenchmarkP/q\n\x16--- FAIL: BenchmarkP/q\n    part\n\x16--- FAIL: BenchmarkP\n" +
		"\x16=== RUN   BenchmarkD\nBenchmarkD\n\x16--- SKIP: BenchmarkD\n" +
		"no newline\x16=== RUN   BenchmarkE\nBenchmarkE\npanic: oh")
	if !slices.Equal(l.measurable, []string{"BenchmarkA", "BenchmarkB/x-1"}) || !slices.Equal(l.skipped, []string{"BenchmarkD"}) || !slices.Equal(l.unfinished, []string{"BenchmarkE"}) {
		t.Errorf("%+v", l)
	}
	if len(l.failed) != 2 || l.failed[1].Benchmark.Name != "BenchmarkP/q" || l.failed[0].Benchmark.Name != "BenchmarkC" || !strings.Contains(l.failed[0].Error(), "x_test.go:1: broken") {
		t.Errorf("failed: %v", l.failed)
	}
}

// A benchmark of parts, none of which was asked for, is no failure; one that was to print its
// result and did not print its time is.
func TestParentWithoutItsParts(t *testing.T) {
	var found Found
	output := "\x16=== RUN   BenchmarkP\nBenchmarkP\n\x16=== RUN   BenchmarkQ\nBenchmarkQ\nBenchmarkQ-2 \t 1\t 2 frogs/op\nPASS\n"
	found.take(Benchmark{}, parseListing(output), output)
	if len(found.Benchmarks) != 0 || len(found.Failed) != 1 || found.Failed[0].Benchmark.Name != "BenchmarkQ" {
		t.Errorf("%+v", found)
	}
}

func TestExactly(t *testing.T) {
	if got, want := exactly("BenchmarkX/a+b/c"), `^BenchmarkX$/^a\+b$/^c$`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A crash is blamed on the benchmark that the panic's stack names, even if the next one has begun; without a stack, on the last
// benchmark that began. A parent that only has sub-benchmarks, and no result, was blamed first.
func TestBenchmarkThatEndsItsProcess(t *testing.T) {
	const parent, began, next = "\x16=== RUN   BenchmarkP\nBenchmarkP\n", "\x16=== RUN   BenchmarkX\nBenchmarkX\n", "\x16=== RUN   BenchmarkY\nBenchmarkY\n"
	const part = "\x16=== RUN   BenchmarkX\nBenchmarkX\n\x16=== RUN   BenchmarkX/a\nBenchmarkX/a\n"
	const stack = "panic: oh\n\ngoroutine 9 [running]:\nexample.com/m.helper(...)\nexample.com/m.BenchmarkX(0x10f309350608?)\n\t/m_test.go:4 +0x25\ntesting.(*B).runN(0x10f309350608, 0x1)\n"
	const ofPart = "fatal error: oh\n\ngoroutine 4 [running]:\nexample.com/m.BenchmarkX.func1.1()\n\t/m_test.go:6 +0x25\n"
	for name, c := range map[string]struct{ output, want string }{
		"a stack":                      {parent + began + stack, "BenchmarkX"},
		"the next one has begun":       {parent + began + next + stack, "BenchmarkX"},
		"it has a result":              {parent + began + "BenchmarkX-2 \t 1\t 0 ns/op\n" + next + stack, "BenchmarkX"},
		"a part":                       {parent + part + ofPart, "BenchmarkX/a"},
		"no stack":                     {parent + began, "BenchmarkX"},
		"the stack of no benchmark":    {parent + began + "panic: oh\n\ngoroutine 4 [running]:\nexample.com/m.helper()\n", "BenchmarkX"},
		"a panic that another one had": {parent + began + "recovered panic: oh\nBenchmarkX-2 \t 1\t 5 ns/op\n" + next, "BenchmarkY"},
		"a stack that was recovered":   {parent + began + stack + "BenchmarkX-2 \t 1\t 5 ns/op\n" + next, "BenchmarkY"},
		"a stack in a log":             {parent + began + "BenchmarkX-2 \t 1\t 5 ns/op\n" + next + "12:00 recovered " + stack, "BenchmarkY"},
		"after all benchmarks":         {parent + began + "BenchmarkX-2 \t 1\t 5 ns/op\nPASS\n", ""},
		"before all benchmarks":        {"oh\n", ""},
	} {
		if got := parseListing(c.output).ending(c.output); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What tells of a benchmark is kept, wherever it stands, and however it is divided among writes. Of all else enough is kept to
// tell why a process ended.
func TestOutline(t *testing.T) {
	var written strings.Builder
	filler := strings.Repeat("it prints much\n", 100_000)
	for i := range 20 {
		name := fmt.Sprintf("Benchmark%d", i)
		fmt.Fprintf(&written, "\x16=== RUN   %s\n%s\n%s%s-2 \t 1\t 5 ns/op\n", name, name, filler, strings.Repeat("no line break ", 20_000)+name)
	}
	fmt.Fprintf(&written, "\x16=== RUN   BenchmarkF\n%s    x_test.go:1: broken\n\x16--- FAIL: BenchmarkF\n%s", filler, filler)
	fmt.Fprintf(&written, "\x16=== RUN   BenchmarkE\nBenchmarkE\n%spanic: oh\n%s", filler, strings.Repeat("a long stack\n", 10_000))
	text := written.String()
	for _, size := range []int{4096, 4099, len(text)} {
		var kept outline
		for from := 0; from < len(text); from += size {
			if n, err := kept.Write([]byte(text[from:min(len(text), from+size)])); n != min(size, len(text)-from) || err != nil {
				t.Fatal(n, err)
			}
		}
		output := kept.String()
		l := parseListing(output)
		if len(l.measurable) != 20 || !slices.Equal(l.unfinished, []string{"BenchmarkE"}) || len(output) > len(text)/8 || lastLine(said(output, "BenchmarkE", len(output))) != "panic: oh" {
			t.Errorf("in writes of %d: %d bytes kept of %d, %q measurable, %q unfinished", size, len(output), len(text), l.measurable, l.unfinished)
		}
		if len(l.failed) != 1 || !strings.Contains(l.failed[0].Error(), "broken") {
			t.Errorf("in writes of %d: failed: %v", size, l.failed)
		}
	}
}

// Gigabytes of output take half a megabyte, and the result at their end is kept.
func TestTail(t *testing.T) {
	var kept tail
	fmt.Fprint(&kept, "first ")
	line := []byte(strings.Repeat("x", 9999) + "\n")
	for range 20000 {
		kept.Write(line)
	}
	fmt.Fprint(&kept, "last")
	s := kept.String()
	if !strings.HasPrefix(s, "first ") || !strings.HasSuffix(s, "last") || len(s) > firstBytes+2*lastBytes+100 {
		t.Errorf("%d bytes kept", len(s))
	}
}

func FuzzListing(f *testing.F) {
	f.Add("\x16=== RUN   BenchmarkA\nBenchmarkA-2 \t 1\t 5 ns/op\n")
	f.Fuzz(func(t *testing.T, output string) {
		l := parseListing(output)
		for _, name := range l.measurable {
			if o, _, err := resultOf(output, name); err != nil || o.N < 1 || o.TimedNs < 0 {
				t.Errorf("%q: %+v, %v", name, o, err)
			}
		}
	})
}
