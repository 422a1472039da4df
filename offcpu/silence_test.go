package offcpu

import (
	"slices"
	"testing"

	"chronoscope/tracepoint"
)

// On some restored virtual machines (Linux 6.18) the kernel notes nothing that the idle thread of one CPU does, and nothing
// that the threads of a process do that is older than the restored image. Nothing then shows when such a thread takes that
// CPU, or gives it up. No time is attributed to a wrong cause or thread.
func TestSimulatedSilentCPU(t *testing.T) {
	for name, silent := range map[string]int32{"idle alone": -1, "another process": 200, "a thread of the target": 100} {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds() {
				w := newWorld(seed)
				w.still = true
				tasks := w.tasks()
				for range 300 {
					w.step()
				}
				for number := range w.cpus { // an event on each CPU before the recording ends
					w.note(number, tracepoint.TimerExpired, tracepoint.Event{Context: tracepoint.InInterrupt})
				}
				w.end()
				quiet := int32(w.IntN(len(w.cpus)))
				from := min(100, len(w.events)) // by then each CPU has had an event
				kept := slices.DeleteFunc(slices.Clone(w.events[from:]), func(e tracepoint.Event) bool {
					return e.Thread == silent || e.Thread == 0 && e.CPU == quiet
				})
				a := New(tasks, simStart, simStart, Target{Processes: map[int32]bool{100: true}})
				a.WaitsIn = w.waitsIn
				a.Add(append(w.events[:from:from], kept...))
				if r := a.Result(w.now, nil); r.Missed > 0 { // otherwise nothing shows that events are missing
					w.holds(t, seed, r)
				}
			}
		})
	}
}

// waitsIn tells what /proc tells of a thread at the end, without the function.
func (w *world) waitsIn(_, thread int32) (string, bool) {
	return "", slices.ContainsFunc(w.threads, func(t *simThread) bool { return t.id == thread && t.doing == "block" })
}
