package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
)

// A word that no recording has in its name is an error with the names.
func TestNoRecording(t *testing.T) {
	if err := run(t.Context(), []string{"-noise", "none such"}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "quiet") {
		t.Error(err)
	}
}

// cancelsAfter is a writer that calls a function when so many lines are written.
type cancelsAfter struct {
	strings.Builder
	lines  int
	cancel func()
}

func (w *cancelsAfter) Write(text []byte) (int, error) {
	n, err := w.Builder.Write(text)
	if strings.Count(w.String(), "\n") == w.lines {
		w.cancel()
	}
	return n, err
}

// After an interrupt no further suite is simulated, and the recordings that are complete are printed.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := cancelsAfter{lines: 3, cancel: cancel} // two lines of a head, and one of the first recording
	err := run(ctx, []string{"-suites", "1", "-benchmarks", "1", "-max-time", "100ms"}, &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !errors.Is(err, context.Canceled) || len(lines) != 4 || !slices.Equal(strings.Fields(lines[3])[:2], []string{"all", "1"}) {
		t.Errorf("%v:\n%s", err, &out.Builder)
	}
}

// Of two suites on each recording none fails, and a slowdown by half is found.
func TestExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	var out strings.Builder
	e := experiment{suites: 1, benchmarks: 4, limit: 0.03, falseAlarms: 0.01, deviation: 0.02, maxTime: 5 * time.Second}
	if err := e.run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines < 10 || !strings.Contains(out.String(), "\nall ") {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
	recordings, err := clocktest.Recordings()
	if err != nil {
		t.Fatal(err)
	}
	e.planted, e.layouts, e.placement = 0.5, 8, 0.01 // as many layouts as the command takes
	for _, r := range recordings {
		if !strings.HasSuffix(r.Name, "quiet") {
			continue
		}
		if o, err := e.on(t.Context(), &r); err != nil || o.found != 1 || o.blamed != 0 || o.visible != 1 || o.seen != 1 {
			t.Errorf("%s: %+v: %v", r.Name, o, err)
		}
	}
}
