package render

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/activity"
	"chronoscope/stats"
)

// traceFile is the JSON object form of the Trace Event Format.
type traceFile struct {
	DisplayTimeUnit string        `json:"displayTimeUnit"`
	TraceEvents     []formatEvent `json:"traceEvents"`
}

// formatEvent is an event with the fields that the format defines.
type formatEvent struct {
	Ph   string         `json:"ph"`
	Cat  *string        `json:"cat"`
	Name string         `json:"name"`
	Pid  *int           `json:"pid"`
	Tid  *int           `json:"tid"`
	Ts   *float64       `json:"ts"`
	Dur  *float64       `json:"dur"`
	S    string         `json:"s"`
	Args map[string]any `json:"args"`
}

// perfettoNs converts a time as Perfetto's importer does: a double of microseconds is multiplied by
// a thousand and truncated.
func perfettoNs(us float64) int64 { return int64(us * 1000) }

// readTraceFile reads a file as strictly as possible.
func readTraceFile(t *testing.T, text []byte) traceFile {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var f traceFile
	if err := decoder.Decode(&f); err != nil {
		t.Fatalf("%v\n%.400s", err, text)
	}
	if f.DisplayTimeUnit != "ns" && f.DisplayTimeUnit != "ms" {
		t.Errorf("displayTimeUnit %q", f.DisplayTimeUnit)
	}
	return f
}

// checkEvent checks one event against the format.
func checkEvent(t *testing.T, e formatEvent) {
	t.Helper()
	switch {
	case e.Name == "" || e.Pid == nil || e.Tid == nil || *e.Pid <= 0 || *e.Tid <= 0:
		t.Fatalf("an event without a name or a place: %+v", e)
	case e.Ph == "M":
		_, name := e.Args["name"].(string)
		_, index := e.Args["sort_index"].(float64)
		if !(name && (e.Name == "process_name" || e.Name == "thread_name") || index && e.Name == "thread_sort_index") {
			t.Fatalf("no metadata of the format: %+v", e)
		}
	case e.Ts == nil || *e.Ts < 0 || e.Cat == nil:
		t.Fatalf("an event without a time or a category: %+v", e)
	case e.Ph == "X" && (e.Dur == nil || *e.Dur < 0 || e.S != ""):
		t.Fatalf("no complete event: %+v", e)
	case e.Ph == "i" && (e.Dur != nil || e.S != "t"):
		t.Fatalf("no instant event of a track: %+v", e)
	case e.Ph != "X" && e.Ph != "i":
		t.Fatalf("a phase %q", e.Ph)
	}
}

// Every event is valid. Each track has a name, and its events are in order and don't overlap. The
// gaps are those of the trace, exact to the nanosecond, with their causes, and sum to its inactive
// time.
func TestChromeTraceIsStrict(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		tickNs := []float64{1, 0.385, 41.67, 1000 / 2.6e3}[rng.IntN(4)]
		var traces []*activity.Trace
		var analyses []*activity.Analysis
		for cpu := range 1 + rng.IntN(3) {
			trace := randomGaps(rng, 100_000)
			trace.CPU, trace.TickNs = cpu, tickNs
			a := analysisOf(trace)
			if rng.IntN(2) == 0 {
				a.Tick = &activity.Comb{Period: stats.Estimate{Value: trace.Ns(5000)}, PhaseNs: trace.Ns(rng.Int64N(5000))}
			}
			traces, analyses = append(traces, trace), append(analyses, a)
		}
		var b bytes.Buffer
		if err := ChromeTrace(&b, traces, analyses...); err != nil {
			t.Fatal(err)
		}
		file := readTraceFile(t, b.Bytes())
		names, processes := map[int]string{}, 0
		tracks := map[int][]formatEvent{}
		for _, e := range file.TraceEvents {
			checkEvent(t, e)
			switch {
			case e.Name == "process_name":
				processes++
			case e.Name == "thread_name":
				names[*e.Tid] = e.Args["name"].(string)
			case e.Ph != "M":
				if names[*e.Tid] == "" {
					t.Fatalf("seed %d: an event on a track without a name: %+v", seed, e)
				}
				tracks[*e.Tid] = append(tracks[*e.Tid], e)
			}
		}
		if processes != 1 {
			t.Errorf("seed %d: %d processes have a name", seed, processes)
		}
		for track, events := range tracks {
			inOrder(t, names[track], events)
		}
		for cpu, trace := range traces {
			sameGaps(t, trace, analyses[cpu], tracks, names)
		}
	}
}

// inOrder checks that the events of a track are in order and don't overlap, with times as Perfetto
// reads them.
func inOrder(t *testing.T, track string, events []formatEvent) {
	t.Helper()
	end := int64(0)
	for _, e := range events {
		if at := perfettoNs(*e.Ts); at < end {
			t.Fatalf("%s: %s at %d ns, before the event ahead of it has ended at %d", track, e.Name, at, end)
		} else if end = at; e.Dur != nil {
			end += perfettoNs(*e.Dur)
		}
	}
}

// sameGaps checks that a track has the trace's gaps, and another its timer interrupts.
func sameGaps(t *testing.T, trace *activity.Trace, a *activity.Analysis, tracks map[int][]formatEvent, names map[int]string) {
	t.Helper()
	var gaps, timer []formatEvent
	ends := 0
	for track, name := range names {
		switch name {
		case cpuName(trace):
			gaps = slices.DeleteFunc(slices.Clone(tracks[track]), func(e formatEvent) bool { return e.Ph != "X" })
			ends = len(tracks[track]) - len(gaps)
		case cpuName(trace) + " timer interrupts":
			timer = tracks[track]
		}
	}
	if len(gaps) != len(trace.Gaps) || ends != 1 {
		t.Fatalf("%s: %d gaps, want %d; %d ends, want 1", cpuName(trace), len(gaps), len(trace.Gaps), ends)
	}
	var sum int64
	for i, e := range gaps {
		g := trace.Gaps[i]
		from, to := math.Round(trace.Ns(g.Start)), math.Round(trace.Ns(g.End()))
		if float64(perfettoNs(*e.Ts)) != from || float64(perfettoNs(*e.Dur)) != to-from || e.Name != g.Cause.String() || e.Args["ticks"] != float64(g.Ticks) {
			t.Fatalf("gap %+v of %v ns a tick came out as %+v, %d and %d ns", g, trace.TickNs, e, perfettoNs(*e.Ts), perfettoNs(*e.Dur))
		}
		sum += perfettoNs(*e.Dur)
	}
	if off := math.Abs(float64(sum) - trace.Ns(trace.Inactive())); off > float64(len(gaps)) || trace.TickNs == 1 && off != 0 {
		t.Errorf("the gaps sum to %d ns, want %.1f", sum, trace.Ns(trace.Inactive()))
	}
	if want := timerTicks(trace, a); len(timer) != len(want) {
		t.Errorf("%d timer interrupts, want %d", len(timer), len(want))
	}
}

// If the trace is full, the file says from when on gaps were dropped.
func TestChromeTraceOfFullTrace(t *testing.T) {
	trace := gapsAt(1e6, activity.Gap{Start: 10, Ticks: 20})
	trace.Dropped, trace.DroppedTicks = 3, 400
	var b bytes.Buffer
	if err := ChromeTrace(&b, []*activity.Trace{trace}); err != nil {
		t.Fatal(err)
	}
	events := readTraceFile(t, b.Bytes()).TraceEvents
	last := events[len(events)-1]
	if last.Name != "end of the trace" || last.Args["dropped"] != 3.0 || last.Args["dropped_ticks"] != 400.0 || perfettoNs(*last.Ts) != 1e6 {
		t.Errorf("%+v", last)
	}
}

// A file that can't be written is an error.
func TestChromeTraceSaysThatItFailed(t *testing.T) {
	if err := ChromeTrace(fullDisk{}, []*activity.Trace{randomGaps(rand.New(rand.NewPCG(1, 5)), 1e6)}); err == nil {
		t.Error("no error")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }
