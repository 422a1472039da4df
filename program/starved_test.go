package program

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/process"
	"chronoscope/stats"
)

// A program of the policy SCHED_IDLE took 37 s beside two loops, of 4 s that it was given. What its complete runs
// tell is kept. A program that only takes long is not ended.
func TestEndsStarvedRuns(t *testing.T) {
	for _, c := range []struct {
		name              string
		complete          int // runs before the long one
		waits, takes      time.Duration
		runs              int
		ended, isUnusable bool
	}{
		{"starved in its first run", 0, time.Hour, time.Minute, 0, true, true},
		{"starved in the first run that counts", 1, time.Hour, time.Minute, 1, true, true},
		{"starved after eight", 8, time.Hour, time.Minute, 8, true, false},
		{"takes long", 8, 10 * time.Millisecond, 150 * time.Millisecond, 9, false, false},
	} {
		told := 0 // the caller, of runs that have started
		s := &series{command: Command{Name: "fake", Command: process.Command{Started: func(int) { told++ }}}}
		plan := Plan{Precision: 1e-9, MinRuns: 6, MaxRuns: 9, MaxTime: 20 * time.Millisecond}
		m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), all: []*series{s}, checks: quiet.checks()}
		m.snapshot = func(int) (process.Snapshot, error) {
			return process.Snapshot{Threads: []process.Thread{{WaitNs: int64(c.waits)}}}, nil
		}
		made := 0
		m.run = func(ctx context.Context, command Command, traced bool) (Run, error) {
			command.Started(1)
			r := alternating(2, 1*ms, 0)
			r.CoreHz, r.StealNs, r.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
			if !traced {
				r.Untraced, r.Unnoted = errTimeout, errTimeout
			}
			if made++; made <= c.complete {
				return r, nil
			}
			select {
			case <-ctx.Done():
				return r, ctx.Err()
			case <-time.After(c.takes):
				return r, nil
			}
		}
		if err := m.measure(background); err != nil {
			t.Fatal(err)
		}
		if told != made {
			t.Errorf("%s: the caller was told of %d starts of %d", c.name, told, made)
		}
		r := conclude(s, plan, quiet, m.checks)
		if s.starved != nil != c.ended || r.Failure != nil || c.ended && len(r.Runs) != c.runs || c.isUnusable != (r.Verdict == stats.Unusable) || c.ended && !strings.Contains(strings.Join(r.Reasons, ""), "it was ended after") {
			t.Errorf("%s: %d runs, ended: %v, failure %v, %s %q", c.name, len(r.Runs), s.starved, r.Failure, r.Verdict, r.Reasons)
		}
	}
}

// Beside ten loops a program waits for ten eleventh of its time, and is not ended.
func TestStarved(t *testing.T) {
	for waited, want := range map[time.Duration]bool{0: false, 9091 * time.Millisecond: false, 9600 * time.Millisecond: true} {
		now := process.Snapshot{Threads: []process.Thread{{}, {WaitNs: int64(waited)}}}
		if err := starved(now, 10*time.Second); (err != nil) != want {
			t.Errorf("%s of 10 s: %v", waited, err)
		}
	}
}
