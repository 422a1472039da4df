package main

import (
	"maps"
	"slices"
	"testing"
)

// Names may have sub-benchmarks and GOMAXPROCS behind them; a package's line stands before its own.
func TestNames(t *testing.T) {
	names := namesOf("goos: linux\npkg: example.com/a\nBenchmarkX/size=1-2         \t       1\t       500 ns/op\nBenchmarkY \t 1\t 3 ns/op\nPASS\npkg: example.com/b\nBenchmarkX-16\t1\t3 ns/op\nBenchmarkLoud some text\n")
	if got := slices.Sorted(maps.Keys(names)); !slices.Equal(got, []string{"example.com/a.BenchmarkX/size=1", "example.com/a.BenchmarkY", "example.com/b.BenchmarkX"}) {
		t.Errorf("%q", got)
	}
	found, why, err := namesIn([]byte(`{"results": [{"package": "example.com/a", "name": "BenchmarkY", "reasons": ["a", "b"]}]}`))
	if err != nil || why["example.com/a.BenchmarkY"] != "a; b" {
		t.Errorf("%v %v %v", found, why, err)
	}
	if missing := without(names, found); !slices.Equal(missing, []string{"example.com/a.BenchmarkX/size=1", "example.com/b.BenchmarkX"}) {
		t.Errorf("missing %q", missing)
	}
}
