package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/bench/internal/onecpu"
	"chronoscope/internal/load"
	"chronoscope/kbest"
	"chronoscope/machine"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Setenv(onecpu.Marker, "1") // as far as the test's own thread goes
	os.Exit(m.Run())
}

// All parts are printed, or the error says what this machine lacks.
func TestRun(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err) // nothing can be pinned here
	}
	var out bytes.Buffer
	err = run(context.Background(), []string{"-bytes", "65536", "-repetitions", "200", "-ints", "1000", "-cpu", machine.FormatCPUList(cpus[:1])}, &out)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	for _, text := range []string{"clear caches", "in random order", "Figure 9.12", "load 4", "Figure 9.13", "procB(b2)"} {
		if err == nil && !strings.Contains(out.String(), text) {
			t.Errorf("no %q in\n%s", text, out.String())
		}
	}
	if err == nil && !strings.Contains(out.String(), "217 cycles") {
		t.Error("the source's practice problem is not solved")
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-bytes", "1"}, {"-ints", "0"}} {
		if err := run(context.Background(), args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "choose") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A walk takes every line once.
func TestWalk(t *testing.T) {
	for _, random := range []bool{true, false} {
		w := newWalk(4096, random)
		seen, at := map[int32]bool{}, int32(0)
		for range w {
			seen[at] = true
			at = w[at].next
		}
		if len(seen) != 64 || at != 0 {
			t.Errorf("random %v: %d lines of 64, and ends at %d", random, len(seen), at)
		}
	}
}

// Every page of the integers was written: pages that nothing has written are one page, which stays in the first cache.
func TestNumbersHaveMemory(t *testing.T) {
	const page = 4096 / 4
	numbers := numbersOf(10 * page)
	for i := 0; i < len(numbers); i += page {
		if slices.Max(numbers[i:i+page]) == 0 {
			t.Errorf("page %d was not written", i/page)
		}
	}
}

// Sums that are complete when the user ends the experiment are printed, with a remark.
func TestInterruptedSums(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := printSums(ctx, &out, 1000)
	if !errors.Is(err, context.Canceled) || !strings.Contains(out.String(), "load 1\t") || !strings.HasSuffix(out.String(), "\tcontext canceled\n") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

// If the time is over before the last part, what was measured until then is printed.
func TestInterruptedExperiment(t *testing.T) {
	e, err := kbest.NewEvictor(os.DirFS("/"))
	if err != nil || kbest.Flush([]byte{1}) != nil {
		t.Skip(err)
	}
	defer e.Close()
	for limit := 200 * time.Millisecond; ; limit *= 4 { // the clock is calibrated first
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		var out bytes.Buffer
		err := printExperiment(ctx, &out, e, mostRepetitions)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || limit > 10*time.Second {
			t.Fatalf("%v:\n%s", err, &out)
		}
		if strings.Contains(out.String(), "c: no misses") && strings.Contains(out.String(), " ns [") {
			return
		}
	}
}
