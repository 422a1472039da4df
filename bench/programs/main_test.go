package main

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/bench/internal/cprogram"
	"chronoscope/bench/internal/lines"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

func outcomeOf(truthLo, truthHi, lo, value, hi float64, v stats.Verdict) outcome {
	e := stats.Estimate{Value: value, Lo: lo, Hi: hi}
	return outcome{Subject: "sleep", Load: 11, Kind: "registers", Verdict: v, Estimate: e, Truth: stats.Estimate{Value: (truthLo + truthHi) / 2, Lo: truthLo, Hi: truthHi}}
}

// What is kept in two goes is judged together, and unusable results are no misses.
func TestKeepAndJudge(t *testing.T) {
	name := filepath.Join(t.TempDir(), "found.jsonl")
	for range 2 {
		if err := lines.Append(name, outcomeOf(99, 101, 110, 111, 112, stats.Trusted), outcomeOf(99, 101, 98, 100, 102, stats.Suspect), outcomeOf(99, 101, 50, 100, 200, stats.Unusable)); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-judge", name}, &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if fields := strings.Fields(line); fields[0] == "all" && strings.Join(fields[1:9], " ") != "6 2 of 4 2 2 2 2" {
			t.Errorf("%s", &out)
		}
	}
	if !strings.Contains(out.String(), "sleep, load 11") {
		t.Errorf("%s", &out)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-load", "0"}, {"-repetitions", "0"}, {"-runs", "-1"}, {"-judge", filepath.Join(t.TempDir(), "none")}} {
		if err := run(t.Context(), args, nil); err == nil {
			t.Errorf("%v passes", args)
		}
	}
	if _, err := subjectOf("none"); err == nil {
		t.Error("a subject that is not there is found")
	}
}

// What was stolen and what interrupts take comes off the truth, and runs that were kept
// waiting don't count.
func TestTruth(t *testing.T) {
	const ms = 1e6
	run := func(wallMs, chargedMs, waitedMs int64) process.Run {
		return process.Run{
			WallNs: wallMs * ms, UserNs: chargedMs * ms, WaitOf: process.FirstThread,
			Threads: []process.Thread{{ID: 1, CPUNs: chargedMs * ms, WaitNs: waitedMs * ms}},
			Events: []process.Event{
				{Kind: process.Executed, Thread: 1}, {Kind: process.SwitchedIn, Thread: 1},
				{AtNs: wallMs * ms, Kind: process.Exited, Thread: 1},
			},
		}
	}
	watched := machine.Noise{WatchedNs: 25 * ms, LostShare: 0.01}
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	alone := truth{cpu: cpus[0], losses: cprogram.Losses{Watch: func(context.Context, time.Duration) machine.Noise { return watched }}}
	for range 7 {
		alone.add(t.Context(), run(100, 100, 0))
		alone.add(t.Context(), run(150, 100, 0)) // 50 were stolen
		alone.add(t.Context(), run(200, 100, 100))
	}
	got, err := alone.estimate()
	if err != nil || got.N != 14 || math.Abs(got.Value-99*ms) > 1 || !(got.Lo < 98.8*ms && got.Hi > 99.2*ms) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := (&truth{}).estimate(); err == nil {
		t.Error("no runs tell a truth")
	}
}
