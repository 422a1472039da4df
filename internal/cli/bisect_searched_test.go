package cli

import (
	"testing"

	"chronoscope/gobench"
)

// Once the good end's benchmark is known, no other one is measured in its place, even if it is the only one that matches.
func TestSearchedBenchmark(t *testing.T) {
	b := &builds{flags: &bisectFlags{bench: "BenchmarkDecode"}}
	decode, all := gobench.Benchmark{Package: "json", Name: "BenchmarkDecode"}, gobench.Benchmark{Package: "json", Name: "BenchmarkDecodeAll"}
	if !b.isSearched(decode, false) || b.isSearched(all, false) || !b.isSearched(all, true) {
		t.Error("at the good end it is the one with that name, or the only one")
	}
	b.name, b.pkg = decode.Name, decode.Package
	if !b.isSearched(decode, true) || b.isSearched(all, true) || b.isSearched(gobench.Benchmark{Package: "xml", Name: decode.Name}, true) {
		t.Error("later it is that of the good end")
	}
}
