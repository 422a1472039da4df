package render

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"chronoscope/activity"
)

// ChromeTrace writes traces in the Trace Event Format (JSON object form), which Perfetto and
// chrome://tracing open. There is one process with a track for each CPU, and on it an event for
// each period of inactivity, named after its cause. A trace with an analysis has two more tracks:
// the interrupts of the timer tick, if one was found, and the threads and interrupts that had the
// CPU, if the kernel's events were recorded.
func ChromeTrace(w io.Writer, traces []*activity.Trace, analyses ...*activity.Analysis) error {
	t := &traceEvents{out: bufio.NewWriter(w), separator: "\n"}
	fmt.Fprint(t.out, `{"displayTimeUnit":"ns","traceEvents":[`)
	t.name("process_name", 1, "chronoscope activity")
	for i, trace := range traces {
		t.gaps(3*i+1, trace)
		if i < len(analyses) {
			t.timer(3*i+2, cpuName(trace), timerTicks(trace, analyses[i]))
			t.named(3*i+3, cpuName(trace), analyses[i].Named)
		}
	}
	fmt.Fprint(t.out, "\n]}\n")
	if t.err != nil {
		return t.err
	}
	return t.out.Flush()
}

// traceEvents writes the events of a file, until the first error.
type traceEvents struct {
	out       *bufio.Writer
	separator string
	err       error
}

// traceEvent is one event. Perfetto takes thread 0 for the kernel's idle task, so tracks are
// numbered from 1.
type traceEvent struct {
	Phase     string         `json:"ph"`
	Category  string         `json:"cat,omitempty"`
	Name      string         `json:"name"`
	Process   int            `json:"pid"`
	Thread    int            `json:"tid"`
	Time      json.Number    `json:"ts,omitempty"`
	Duration  json.Number    `json:"dur,omitempty"`
	Scope     string         `json:"s,omitempty"`
	Arguments map[string]any `json:"args,omitempty"`
}

func (t *traceEvents) write(e traceEvent) {
	if t.err != nil {
		return
	}
	e.Process = 1
	text, err := json.Marshal(e)
	t.err = err
	fmt.Fprintf(t.out, "%s%s", t.separator, text)
	t.separator = ",\n"
}

// name names the process or a track.
func (t *traceEvents) name(what string, track int, name string) {
	t.write(traceEvent{Phase: "M", Name: what, Thread: track, Arguments: map[string]any{"name": name}})
}

// track names a track and sets its position.
func (t *traceEvents) track(track int, name string) {
	t.name("thread_name", track, name)
	t.write(traceEvent{Phase: "M", Name: "thread_sort_index", Thread: track, Arguments: map[string]any{"sort_index": track}})
}

// gaps writes the periods of inactivity of a trace, and where it ends.
func (t *traceEvents) gaps(track int, trace *activity.Trace) {
	t.track(track, cpuName(trace))
	for _, g := range trace.Gaps {
		from, to := wholeNs(trace.Ns(g.Start)), wholeNs(trace.Ns(g.End()))
		t.write(traceEvent{
			Phase: "X", Category: "inactive", Name: g.Cause.String(), Thread: track,
			Time: micros(from), Duration: micros(to - from), Arguments: map[string]any{"ticks": g.Ticks},
		})
	}
	end := traceEvent{Phase: "i", Category: "trace", Name: "end of the trace", Thread: track, Time: micros(wholeNs(trace.Ns(trace.Length))), Scope: "t"}
	if trace.Dropped > 0 {
		end.Arguments = map[string]any{"dropped": trace.Dropped, "dropped_ticks": trace.DroppedTicks}
	}
	t.write(end)
}

// timer writes the interrupts of the kernel's timer.
func (t *traceEvents) timer(track int, cpu string, ticks []activity.Tick) {
	if len(ticks) == 0 {
		return
	}
	t.track(track, cpu+" timer interrupts")
	for _, tick := range ticks {
		name := "began a gap"
		if tick.Hidden() {
			name = "within a gap (interpolated)"
		}
		t.write(traceEvent{Phase: "i", Category: "timer", Name: name, Thread: track, Time: micros(wholeNs(tick.AtNs)), Scope: "t"})
	}
}

// named writes the threads and interrupts that had the CPU in the gaps.
func (t *traceEvents) named(track int, cpu string, n *activity.Named) {
	if n == nil || len(n.Pieces) == 0 {
		return
	}
	t.track(track, cpu+" who had it")
	for _, p := range n.Pieces {
		from, to := wholeNs(p.StartNs), wholeNs(p.StartNs+p.DurationNs)
		t.write(traceEvent{
			Phase: "X", Category: p.Cause.String(), Name: cmp.Or(p.Who.String(), p.Cause.String()), Thread: track,
			Time: micros(from), Duration: micros(to - from), Arguments: map[string]any{"cause": p.Cause.String(), "cgroup": p.Who.CGroup},
		})
	}
}

func wholeNs(ns float64) int64 { return int64(math.Round(ns)) }

// micros converts nanoseconds to the format's microseconds. It adds half a nanosecond for readers
// that multiply by a thousand and truncate, as Perfetto does: they would read 1.001 as 1,000 ns.
func micros(ns int64) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d5", ns/1000, ns%1000))
}

// timerTicks returns the interrupts of this kernel's timer in a trace: those that began a gap and
// those that fell into one. A tick without a gap is left out.
func timerTicks(t *activity.Trace, a *activity.Analysis) []activity.Tick {
	if a.Tick == nil {
		return nil
	}
	return slices.DeleteFunc(t.Ticks(a.Tick), func(k activity.Tick) bool { return k.Gap < 0 })
}

func cpuName(t *activity.Trace) string {
	if t.CPU < 0 {
		return "some CPU"
	}
	return fmt.Sprintf("CPU %d", t.CPU)
}
