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
