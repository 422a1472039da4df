package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/bench/internal/peer"
)

// Names may have sub-benchmarks and GOMAXPROCS behind them; a package's line stands before its own.
func TestNames(t *testing.T) {
	names := namesOf("goos: linux\npkg: example.com/a\nBenchmarkX/size=1-2         \t       1\t       500 ns/op\nBenchmarkY \t 1\t 3 ns/op\nPASS\npkg: example.com/b\nBenchmarkX-2\t1\t3 ns/op\nBenchmarkLoud some text\n", "-2")
	if got := slices.Sorted(maps.Keys(names)); !slices.Equal(got, []string{"example.com/a.BenchmarkX/size=1", "example.com/a.BenchmarkY", "example.com/b.BenchmarkX"}) {
		t.Errorf("%q", got)
	}
	document, err := peer.Read([]byte(`{"results": [{"package": "example.com/a", "name": "BenchmarkY", "reasons": ["a", "b"]}]}`))
	found, why := namesIn(document)
	if err != nil || why["example.com/a.BenchmarkY"] != "a; b" {
		t.Errorf("%v %v %v", found, why, err)
	}
	if missing := without(names, found); !slices.Equal(missing, []string{"example.com/a.BenchmarkX/size=1", "example.com/b.BenchmarkX"}) {
		t.Errorf("missing %q", missing)
	}
}

// With a GOMAXPROCS of 1 go test puts nothing behind a name, and an end such as -10 is the name's own.
func TestNamesThatEndInNumbers(t *testing.T) {
	const output = "pkg: a\nBenchmarkGet/size-1 \t 1\t 3 ns/op\nBenchmarkGet/size-10 \t 1\t 3 ns/op\n"
	if names := namesOf(output, procsSuffix(1)); len(names) != 2 || !names["a.BenchmarkGet/size-10"] {
		t.Errorf("%v", names)
	}
	figures, err := theirFigures([]byte(strings.Repeat(output, 10)), procsSuffix(1))
	if err != nil || len(figures) != 2 {
		t.Errorf("%v: %v", figures, err)
	}
}

// Where the CPUs have a quota, a module for an older Go takes all of them, unless both tools run it with the same GOMAXPROCS.
func TestModuleForAnOlderGo(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go":   `[ "$1" = mod ] && { echo "{\"Dir\": \"` + folder + `\"}"; exit; }; printf 'pkg: a\nBenchmarkX%s \t 1\t 3 ns/op\n' "$([ "${GOMAXPROCS:-77}" = 1 ] || echo -${GOMAXPROCS:-77})"`,
		"tool": `echo '{"results": [{"package": "a", "name": "BenchmarkX"}]}'`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("GOMAXPROCS", "")
	var out strings.Builder
	if err := run(t.Context(), []string{"-chronoscope", filepath.Join(folder, "tool"), "example.com/a@v1"}, &out); err != nil || strings.Contains(out.String(), "missing:") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

// What go test or chronoscope could not do is told together with the names that are missing for it.
func TestFailuresAreTold(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go":   `[ "$1" = mod ] && { echo "{\"Dir\": \"` + folder + `\"}"; exit; }; printf 'pkg: a\nBenchmarkX \t 1\t 3 ns/op\n'; echo "panic: test timed out" >&2; exit 1`,
		"tool": `echo '{"results": [{"package": "a", "name": "BenchmarkX"}]}'; echo "no time left" >&2; exit 2`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("GOMAXPROCS", "")
	var out strings.Builder
	err := run(t.Context(), []string{"-chronoscope", filepath.Join(folder, "tool"), "example.com/a@v1"}, &out)
	if err != nil || !strings.Contains(out.String(), "panic: test timed out") || !strings.Contains(out.String(), "no time left") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

// Of ten values from 1 to 10 benchstat's interval of the median is 2 to 9 (order statistics: 97.9 %). The times
// agree where the intervals meet, and allocations where ours, rounded down, are theirs.
func TestAgreement(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("pkg: example.com/a\n")
	for _, ns := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
		lines.WriteString("BenchmarkX/n=1-2 \t 100\t " + ns + " ns/op\t 16 B/op\t 9 allocs/op\n")
		lines.WriteString("BenchmarkY-2 \t 100\t " + ns + " ns/op\t 16 B/op\t 9 allocs/op\n")
	}
	lines.WriteString("BenchmarkSeldom-2 \t 100\t 5 ns/op\n")
	theirs, err := theirFigures([]byte(lines.String()), "-2")
	if err != nil || len(theirs) != 2 {
		t.Fatalf("%v: %v", theirs, err)
	}
	x := theirs["example.com/a.BenchmarkX/n=1"]
	for i, pair := range [][2]float64{{x.wall.value, 5.5e-9}, {x.wall.lo, 2e-9}, {x.wall.hi, 9e-9}, {x.allocs, 9}} {
		if math.Abs(pair[0]/pair[1]-1) > 1e-9 {
			t.Errorf("%d: %g, want %g", i, pair[0], pair[1])
		}
	}
	ours, err := ourFigures([]byte(`{"results": [
		{"package": "example.com/a", "name": "BenchmarkX/n=1", "verdict": "trusted", "estimate": {"value": 10, "lo": 8.9, "hi": 11}, "wall": {"value": 12, "lo": 9.5, "hi": 14}, "metrics": [{"unit": "allocs/op", "value": 9.5}]},
		{"package": "example.com/a", "name": "BenchmarkY", "verdict": "trusted", "estimate": {"value": 10, "lo": 9.1, "hi": 11}, "wall": {"value": 5, "lo": 4, "hi": 6}, "metrics": [{"unit": "allocs/op", "value": 10}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	agreement{}.report(&out, "m", theirs, ours, time.Minute)
	for _, want := range []string{"m 2 1 1 0 1 1 1 1.8182 1.0", "sec/op: example.com/a.BenchmarkY: go test 5.5e-09 (2e-09 to 9e-09), ours alone 1e-08 (9.1e-09 to 1.1e-08), trusted", "wall: example.com/a.BenchmarkX/n=1: go test 5.5e-09 (2e-09 to 9e-09), ours 1.2e-08 (9.5e-09 to 1.4e-08)", "allocs/op: example.com/a.BenchmarkY: go test 9, ours 10"} {
		if !slices.ContainsFunc(strings.Split(out.String(), "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
	chosen, packages := chooseFunctions(map[string]bool{"a/b.BenchmarkOne/x": true, "a/b.BenchmarkOne/y": true, "a/b.BenchmarkTwo": true, "c.d/e.BenchmarkThree": true}, 2)
	if !slices.Equal(chosen, []string{"BenchmarkOne", "BenchmarkTwo"}) || !slices.Equal(packages, []string{"a/b"}) {
		t.Errorf("%q of %q", chosen, packages)
	}
}
