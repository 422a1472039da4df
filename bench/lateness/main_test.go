package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"chronoscope/internal/load"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Exit(m.Run())
}

// Both have percentiles, whatever they are.
func TestBesideCyclictest(t *testing.T) {
	if _, err := exec.LookPath("cyclictest"); err != nil {
		t.Skip("no cyclictest: install the Debian package rt-tests")
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-rounds", "2", "-wakes", "20", "-load", "2"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chronoscope, 40 wake-ups: p50 ", "cyclictest, 40 wake-ups:  p50 ", "\np50 ", "\nworst "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestWrongUse(t *testing.T) {
	if err := run(t.Context(), []string{"-rounds", "0"}, &strings.Builder{}); err == nil {
		t.Error("no round was taken")
	}
}
