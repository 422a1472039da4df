package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// go test -bench . gives the same readings in Go's benchmark format, one
// operation a reading.
func BenchmarkReading(b *testing.B) {
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			runtime.KeepAlive(s.read(b.N))
		})
	}
}

func TestNoReadingAllocates(t *testing.T) {
	for _, s := range subjects() {
		if n := allocations(s); n != 0 {
			t.Errorf("%s: %v allocations a reading", s.name, n)
		}
	}
}

// Whatever the machine measures, every subject and every comparison is told of.
func TestRunPrintsEverySubjectAndComparison(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-rounds", "6", "-readings", "100"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects() {
		if !strings.Contains(out.String(), s.name) {
			t.Errorf("%s is missing from\n%s", s.name, &out)
		}
	}
	for _, c := range comparisons {
		if !strings.Contains(out.String(), c.over+" / "+c.under) {
			t.Errorf("%s / %s is missing from\n%s", c.over, c.under, &out)
		}
	}
}

// After an interrupt no further round is made, and the rounds before it are there.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reads := 0
	all := []subject{{name: "a", read: func(int) int64 {
		if reads++; reads == 3 { // the first warms up
			cancel()
		}
		return 0
	}}}
	costs, err := measure(ctx, all, 10, 1, rand.New(rand.NewPCG(1, 0)))
	if !errors.Is(err, context.Canceled) || len(costs["a"]) != 2 {
		t.Errorf("%v, %v", costs, err)
	}
}

func TestRunRefusesTooFewRounds(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "5"}, {"-readings", "0"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// Ratios are of the same round: a round that is slow for both changes nothing.
func TestComparisonIsWithinRounds(t *testing.T) {
	costs := map[string][]float64{
		"a": {2, 20, 2, 200, 2, 2, 2, 2},
		"b": {1, 10, 1, 100, 1, 1, 1, 1},
	}
	for _, test := range []struct {
		limit    float64
		atLeast  bool
		standing string
	}{
		{2, false, "held"}, {1.9, false, "missed"}, {2, true, "held"}, {2.1, true, "missed"},
	} {
		r, err := comparison{"a", "b", test.limit, test.atLeast}.of(costs)
		if err != nil || r.median.Value != 2 || r.p5 != 2 || r.p95 != 2 || r.standing != test.standing {
			t.Errorf("%+v: %+v, %v", test, r, err)
		}
	}
}

func TestComparisonAcrossItsLimitIsUndecided(t *testing.T) {
	costs := map[string][]float64{"a": {8, 9, 10, 11, 12, 13}, "b": {10, 10, 10, 10, 10, 10}}
	for _, atLeast := range []bool{false, true} {
		r, err := comparison{"a", "b", 1, atLeast}.of(costs)
		if err != nil || r.standing != "undecided" || math.Abs(r.median.Value-1.05) > 1e-12 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestComparisonWithWhatIsMissing(t *testing.T) {
	if _, err := (comparison{over: "a", under: "b"}).of(map[string][]float64{"a": {1, 1, 1, 1, 1, 1}}); err == nil {
		t.Error("a subject that was not measured has a ratio")
	}
}
