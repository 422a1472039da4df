package main

import (
	"context"
	"math"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/stats"
)

func outcomeOf(truthLo, truthHi, lo, value, hi float64, v stats.Verdict) outcome {
	e := stats.Estimate{Value: value, Lo: lo, Hi: hi}
	return outcome{Subject: "sleep", Load: 11, Kind: "registers", Verdict: v, Estimate: e, Truth: stats.Estimate{Value: (truthLo + truthHi) / 2, Lo: truthLo, Hi: truthHi}}
}

// An interval covers where it meets that of the truth; how far the value is off counts from
// the truth's nearer end.
func TestCovered(t *testing.T) {
	for _, c := range []struct {
		o       outcome
		covered bool
		off     float64
	}{
		{outcomeOf(99, 101, 98, 100, 102, stats.Trusted), true, 0},
		{outcomeOf(99, 100, 100, 102, 104, stats.Trusted), true, 0.02},
		{outcomeOf(100, 101, 80, 90, 99, stats.Suspect), false, 0.1},
		{outcomeOf(90, 100, 101, 110, 120, stats.Suspect), false, 0.1},
	} {
		if off := c.o.off(); c.o.covered() != c.covered || off < c.off-1e-9 || off > c.off+1e-9 {
			t.Errorf("%v: covered %v, off by %v", c.o, c.o.covered(), off)
		}
	}
}

// What is kept in two goes is judged together.
func TestKeepAndJudge(t *testing.T) {
	name := filepath.Join(t.TempDir(), "found.jsonl")
	for range 2 {
		if err := appendTo(name, []outcome{outcomeOf(99, 101, 110, 111, 112, stats.Trusted), outcomeOf(99, 101, 98, 100, 102, stats.Suspect)}); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := judgeFile(&out, name); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if fields := strings.Fields(line); fields[0] == "all" && strings.Join(fields[1:7], " ") != "4 2 2 2 0 2" {
			t.Errorf("%s", &out)
		}
	}
	if !strings.Contains(out.String(), "sleep, load 11") {
		t.Errorf("%s", &out)
	}
}

// A file that can't be read to its end is not judged by its start.
func TestJudgeOfALineTooLong(t *testing.T) {
	name := filepath.Join(t.TempDir(), "found.jsonl")
	o := outcomeOf(99, 101, 98, 100, 102, stats.Trusted)
	o.Reasons = []string{strings.Repeat("x", 1<<17)}
	if err := appendTo(name, []outcome{o}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := judgeFile(&out, name); err == nil || out.Len() > 0 {
		t.Errorf("%v:\n%s", err, &out)
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
	watched := machine.Noise{WatchedNs: 25 * ms, IrregularShare: 0.01}
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	alone := truth{cpu: cpus[0], watch: func(context.Context, time.Duration) machine.Noise { return watched }}
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
