package meter_test

import (
	"fmt"
	"os"
	"strings"

	"chronoscope/meter"
)

// What does a call cost, in a program that makes many?
func Example() {
	source, err := meter.KernelTick()
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // says what this system lacks, and what does without it
		return
	}
	m := meter.New("upper", source)
	for range 100_000 {
		start := m.Start()
		_ = strings.ToUpper("a message")
		m.Stop(start)
	}
	r := m.Snapshot().Report()
	fmt.Fprintf(os.Stderr, "%d calls of %.3g ns, %.3g to %.3g: %s %q\n", r.Calls, r.Mean.Value, r.Mean.Lo, r.Mean.Hi, r.Verdict, r.Reasons)
	// Output:
}
