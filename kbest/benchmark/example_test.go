package benchmark_test

import (
	"flag"
	"fmt"
	"testing"

	"chronoscope/kbest/benchmark"
)

var sum int

// The body of a benchmark, with figures of K-best measurements beside Go's own.
func ExampleRun() {
	_ = flag.Set("test.benchtime", "1ms") // go test -benchtime=1ms
	result := testing.Benchmark(func(b *testing.B) {
		benchmark.Run(b, func() { sum = sum*31 + 7 })
	})
	_, measured := result.Extra[benchmark.NsUnit]
	fmt.Println(measured)
	// Output: true
}
