package main

import (
	"strings"
	"testing"
)

// All have a figure, whatever it is.
func TestCosts(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-rounds", "7", "-calls", "640"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"meter, tails, 1 in 16", "Prometheus, native", "HdrHistogram", "DDSketch", "64 goroutines"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %q in\n%s", name, &out)
		}
	}
	if strings.Contains(out.String(), "NaN") {
		t.Error(out.String())
	}
}
