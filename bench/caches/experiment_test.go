package main

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/kbest"
)

// Practice problem 9.6 with the figures of Bryant 2003, Figure 9.13: c is measurements
// 4 and 6; d the 33 by which 2 and 3 exceed it on average; p the 217 of 5; and m what
// is left of 1.
func TestPracticeProblem(t *testing.T) {
	got := SolveCacheCosts([6]float64{399, 132, 134, 100, 317, 100})
	if want := (CacheCosts{C: 100, M: 49, P: 217, D: 33}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Batches find what every repetition holds, however coarse the clock and though one
// in twenty repetitions was interrupted.
func TestCacheCostsOfCoarseReadings(t *testing.T) {
	rng := clocktest.NewMachine(31).Rand()
	truth := [6]float64{399, 132, 134, 100, 317, 100}
	var rows [][6]float64
	for range 4000 {
		var row [6]float64
		for i, y := range truth {
			if rng.IntN(20) == 0 {
				y += 5000
			}
			row[i] = 10 * math.Floor(y/10+rng.Float64())
		}
		rows = append(rows, row)
	}
	x := concludeCaches(Writing, rows, 2e9)
	for i, y := range truth {
		if math.Abs(x.Ns[i].Value-y) > 2 || math.Abs(x.Cycles[i].Value-2*y) > 4 {
			t.Errorf("%s: %+v, want %v", CacheCalls[i], x.Ns[i], y)
		}
	}
	for i, got := range []float64{x.C.Value - 100, x.M.Value - 49, x.P.Value - 217, x.D.Value - 33} {
		if math.Abs(got) > 4 {
			t.Errorf("unknown %d is off by %v", i, got)
		}
	}
}

// The experiment runs on real hardware, or says why not, and can be ended.
func TestMeasureCaches(t *testing.T) {
	e, err := kbest.NewEvictor(os.DirFS("/"))
	if err != nil {
		t.Skip(err) // no memory for it
	}
	defer e.Close()
	canFlush := kbest.Flush([]byte{1}) == nil
	for _, access := range []Access{Writing, Reading} {
		x, err := measureCaches(t.Context(), e, access, 200)
		if err == nil && !(x.Ns[0].Value > 0 && x.C.Value > 0) || err != nil && canFlush && !errors.Is(err, errTooCoarse) {
			t.Errorf("%s: %+v, %v", access, x, err)
		}
	}
	if _, err := measureCaches(t.Context(), e, Writing, 1); err == nil {
		t.Error("one repetition is enough")
	}
	if !canFlush {
		return
	}
	// Where the time is over before the clock is calibrated there is no result yet.
	for limit := 200 * time.Millisecond; ; limit *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		x, err := measureCaches(ctx, e, Writing, mostRepetitions)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || x == nil && limit > 10*time.Second {
			t.Errorf("ended after %v: %+v, %v", limit, x, err)
		}
		if x != nil || t.Failed() {
			return
		}
	}
}

// The procedures, and the code that measures them, lie so far apart that fetching one
// does not fetch the other.
func TestProceduresLieApart(t *testing.T) {
	at := func(f any) uintptr { return reflect.ValueOf(f).Pointer() }
	a, b, measuring := at(procA), at(procB), at((*cacheTrial).timed)
	near := func(x, y uintptr) bool { return max(x, y)-min(x, y) < 2048 }
	if near(a, b) || near(a, measuring) || near(b, measuring) {
		t.Errorf("procA at %x, procB at %x, timed at %x", a, b, measuring)
	}
}
