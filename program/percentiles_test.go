package program

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"chronoscope/process"
)

// Runs of 1 to 400 ms that waited a second each: the percentiles of the time alone are those of 1 to
// 400, with bounds whose ranks were enumerated in Python (math.comb),
// and those by the clock a second more.
func TestPercentilesOfRuns(t *testing.T) {
	var runs []Run
	for i := range int64(400) {
		ns := (i + 1) * ms
		runs = append(runs, Run{RunqueueWaitNs: 1000 * ms, Run: process.Run{
			WallNs: ns + 1000*ms, UserNs: ns, WaitOf: process.FirstThread,
			Threads: []process.Thread{{ID: 1, CPUNs: ns, WaitNs: 1000 * ms, ReadNs: ns + 1000*ms}},
			Events: []process.Event{
				{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
				{AtNs: ns / 2, Kind: process.Preempted, Thread: 1, Process: 1},
				{AtNs: ns/2 + 1000*ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
				{AtNs: ns + 1000*ms, Kind: process.Exited, Thread: 1, Process: 1},
			},
		}})
	}
	p := concluded(0, runs...).Percentiles
	if p.Wall.N != 400 || len(p.Wall.Known()) != 3 || len(p.Time.Known()) != 3 || p.Wall.WorstNs.Value() != 1400*ms {
		t.Fatalf("%+v", p)
	}
	for i, want := range []struct{ value, lo, hi float64 }{{200.5, 180, 221}, {360.1, 348, 372}, {396.01, 392, 400}} {
		wall, alone := p.Wall.Percentiles[i], p.Time.Percentiles[i]
		if math.Abs(wall.Value/ms-1000-want.value) > 0.01 {
			t.Errorf("%v by the clock, want 1 s more than %v", wall, want)
		}
		if math.Abs(wall.Lo/ms-1000-want.lo) > 0.01 || math.Abs(wall.Hi/ms-1000-want.hi) > 0.01 {
			t.Errorf("%v by the clock, want 1 s more than %v", wall, want)
		}
		if alone.Value/ms < 0.97*want.value || alone.Value/ms > 1.03*want.value || alone.Lo/ms > 1.01*want.lo || alone.Hi/ms < want.hi*0.99 {
			t.Errorf("%v alone, want %v", alone, want)
		}
	}
	// Documents of earlier versions have none, and stay as they are.
	if text, err := json.Marshal(Summary{}); err != nil || strings.Contains(string(text), "percentiles") {
		t.Errorf("%s, %v", text, err)
	}
}
