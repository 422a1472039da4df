package check

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// twoCPUs returns two CPUs that this process may use.
func twoCPUs(t *testing.T) []int {
	t.Helper()
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs and the right to choose: %v, %v", cpus, err)
	}
	return cpus[:2]
}

func bound(t *testing.T, cpus []int) *boundCrew {
	t.Helper()
	started := time.Now()
	c := newBoundCrew(cpus, func() float64 { return float64(time.Since(started)) }, patience)
	t.Cleanup(c.close)
	return c
}

// patience is longer than any machine takes to let a thread run.
const patience = time.Minute

// The threads of a crew read by turns, in order, and on the CPUs to which they are bound,
// both with the usual number of Go's threads and with one.
func TestBoundCrewPlays(t *testing.T) {
	cpus := twoCPUs(t)
	for _, threads := range []int{runtime.GOMAXPROCS(0), 1} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		c := bound(t, cpus)
		for range 3 {
			next := int64(0)
			games := c.play(t.Context(), [][2]int{{0, 1}}, func() int64 { next++; return next }, 50, patience)
			if len(games) != 1 || len(games[0].handed) != 100 || len(c.lost()) > 0 {
				t.Fatalf("%d threads: %+v, lost %v", threads, games, c.lost())
			}
			for i, h := range games[0].handed {
				if h.Thread != i%2 || h.Ticks != int64(i+1) {
					t.Fatalf("%d threads: reading %d is %+v", threads, i, h)
				}
			}
		}
	}
}

// A CPU that does not exist is reported as lost, with the reason, and the crew plays on with
// the others.
func TestBoundCrewWithoutACPU(t *testing.T) {
	cpus := append(twoCPUs(t), 1<<15)
	c := bound(t, cpus)
	games := c.play(t.Context(), [][2]int{{0, 2}}, func() int64 { return 1 }, 50, patience)
	games = append(games, c.play(t.Context(), [][2]int{{0, 1}}, func() int64 { return 1 }, 50, patience)...)
	if len(games) != 1 || games[0].pair != [2]int{0, 1} {
		t.Errorf("%d games were played, want that of the two that are there", len(games))
	}
	if lost := c.lost(); len(lost) != 1 || !strings.Contains(lost[0], "CPU 32768 could not be asked") {
		t.Errorf("lost %q", lost)
	}
}

// A thread that is moved to other CPUs in the middle of a game, as the kernel does when a
// cpuset shrinks or a CPU goes offline, is reported as lost, and its game is dropped.
func TestBoundCrewThatIsMoved(t *testing.T) {
	cpus := twoCPUs(t)
	c := bound(t, cpus)
	moved := false
	read := func() int64 { // only called by the thread whose turn it is
		if !moved {
			moved = true
			if err := machine.SetAffinity(cpus); err != nil {
				t.Error(err)
			}
		}
		return 1
	}
	if games := c.play(t.Context(), [][2]int{{0, 1}}, read, 50, patience); len(games) != 0 {
		t.Errorf("%d games count, want none", len(games))
	}
	if games := c.play(t.Context(), [][2]int{{0, 1}}, read, 50, patience); len(games) != 0 || len(c.lost()) != 1 || !strings.Contains(c.lost()[0], "was moved to CPUs") {
		t.Errorf("%d games count, lost %q", len(games), c.lost())
	}
}

// A game ends at its time limit or with its context, and returns the readings so far.
func TestBoundCrewEndsInTime(t *testing.T) {
	c := bound(t, twoCPUs(t))
	slow := func() int64 { time.Sleep(time.Millisecond); return 1 }
	games := c.play(t.Context(), [][2]int{{0, 1}}, slow, 1<<20, 20*time.Millisecond)
	if len(games) != 1 || len(games[0].handed) >= 1<<20 {
		t.Errorf("%d games", len(games))
	}
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	games = c.play(ctx, [][2]int{{0, 1}}, func() int64 {
		if count++; count == 20 {
			cancel()
		}
		return slow()
	}, 1<<20, time.Hour)
	if len(games) != 1 || len(games[0].handed) < 20 || len(games[0].handed) >= 1<<20 {
		t.Errorf("%d games", len(games))
	}
}

// For the real clocks of this process, each finding has a valid form, whatever its verdict.
func TestLocalKeepsToItsForm(t *testing.T) {
	plan := Plan{Watch: 150 * time.Millisecond, Every: 5 * time.Millisecond, HandOvers: 50 * time.Millisecond}
	r, err := Local(t.Context(), Request{Clocks: ownClocks(t), Plan: plan})
	if err != nil || len(r.Findings) == 0 {
		t.Fatalf("%d findings, %v", len(r.Findings), err)
	}
	for _, f := range r.Findings {
		if (len(f.Reasons) == 0) != (f.Verdict == "trusted") || f.Reasons == nil || f.Notes == nil || f.Clock == "" || f.Check == "" {
			t.Errorf("%+v", f)
		}
		if f.WorstNs.Known() && !(f.WorstNs.Value() >= 0) {
			t.Errorf("worst %v: %+v", f.WorstNs, f)
		}
		if e := f.Estimate; e != nil && (math.IsNaN(e.Value) || e.Lo > e.Value || e.Hi < e.Value) {
			t.Errorf("estimate %+v: %+v", e, f)
		}
	}
	if of(r, "go-time-now", OrderWithin) == nil {
		t.Error("the order of Go's own clock was not judged")
	}
}

func TestLocalEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	long := Plan{Watch: time.Hour, Every: time.Millisecond, HandOvers: time.Minute}
	r, err := Local(ctx, Request{Clocks: ownClocks(t), Plan: long, Progress: func(float64, string) { cancel() }})
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Errorf("%v, %v", r, err)
	}
}

// ownClocks returns all clocks that can be read here, and takes their units as their accuracy.
func ownClocks(t *testing.T) []clock.Rated {
	t.Helper()
	clocks, _ := clock.List()
	var rated []clock.Rated
	for _, c := range clocks {
		t.Cleanup(func() { c.Close() })
		rated = append(rated, clock.Rated{Clock: c, TickNs: stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs}})
	}
	return rated
}
