package offcpu

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"chronoscope/tracepoint"
)

// tenSeconds returns the events of a CPU with 3,000 switches and 10,000 wake-ups a second, among 40
// threads.
func tenSeconds() (tasks []tracepoint.Task, events []tracepoint.Event) {
	rng := rand.New(rand.NewPCG(1, 2))
	for id := range int32(40) {
		tasks = append(tasks, tracepoint.Task{Process: 1 + id/4*4, Thread: 1 + id, Name: "worker", State: tracepoint.Sleeping})
	}
	current := int32(1)
	thread := func() int32 { return 1 + rng.Int32N(40) }
	for atNs := int64(0); atNs < 10e9; atNs += 1_000_000_000 / 13_000 {
		e := tracepoint.Event{AtNs: atNs, Process: 1 + (current-1)/4*4, Thread: current, Kind: tracepoint.Waking, Other: thread()}
		if rng.IntN(13) < 3 {
			e.Kind, e.Value, e.Name = tracepoint.Switched, rng.Int32N(2), "worker"
			if e.Other == current {
				continue
			}
			current = e.Other
		}
		events = append(events, e)
	}
	return tasks, events
}

// BenchmarkTenSeconds measures the analysis of ten seconds, and how much memory is in use at its
// end.
func BenchmarkTenSeconds(b *testing.B) {
	tasks, events := tenSeconds()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true, 5: true, 9: true, 13: true}})
		for from := 0; from < len(events); from += 650 { // in batches of 50 ms, as a recording takes them
			a.Add(events[from:min(len(events), from+650)])
			if from%13_000 == 0 {
				a.Settle()
			}
		}
		if r := a.Result(10e9, nil); r.Events != int64(len(events)) {
			b.Fatal(r.Events)
		}
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "allocatedMB")
	b.ReportMetric(float64(len(events)), "events")
}

// The memory of a recording is bounded, however long it lasts.
func TestKeepsLittle(t *testing.T) {
	tasks, events := tenSeconds()
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true, 5: true}})
	for round := range int64(6) {
		for from := 0; from < len(events); from += 650 {
			batch := append([]tracepoint.Event{}, events[from:min(len(events), from+650)]...)
			for i := range batch {
				batch[i].AtNs += round * 10e9
			}
			a.Add(batch)
			a.Settle()
		}
	}
	if n := len(a.tally().periods); n > 2*mostPeriods || len(a.waits) > 13_000*2 || len(a.threads) > len(tasks)+1 {
		t.Errorf("it keeps %d periods, %d waits and %d threads", n, len(a.waits), len(a.threads))
	}
	r := a.Result(60e9, nil)
	var total int64
	for _, p := range r.Parts {
		total += p.TotalNs
	}
	if len(r.Periods) > mostPeriods || r.LeftOut == 0 || total != r.ThreadNs {
		t.Errorf("%d periods are shown, %d are left out; parts of %d ns, threads of %d", len(r.Periods), r.LeftOut, total, r.ThreadNs)
	}
}
