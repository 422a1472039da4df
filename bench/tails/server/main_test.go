package main

import (
	"strings"
	"testing"
)

// Each has percentiles, whatever they are.
func TestServer(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-rate", "200", "-duration", "1s", "-stall", "0"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"generator, from when it was due p50", "meter 1 in 1   from when due    p50", "meter 1 in 128 from Start"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %q in\n%s", name, &out)
		}
	}
	if err := run(t.Context(), []string{"-rate", "0"}, &out); err == nil {
		t.Error("a rate of 0 was taken")
	}
}
