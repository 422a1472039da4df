package program

import (
	"math"
	"os"

	"chronoscope/process"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// wakeupRecorder records the tracepoints of all CPUs during single runs.
type wakeupRecorder struct {
	recorder *tracepoint.Recorder // nil if recording is refused, or closed; paused between runs
	timed    bool                 // also records system calls that wait until some time
	events   []tracepoint.Event
	lost     int64
	eachNs   float64        // the most time that recording one event takes
	callNs   float64        // the time by which each system call takes longer
	kernel   map[int32]bool // the threads of the kernel
}

// tracepointNs is the assumed time that the kernel takes to record an event, at most, if it can't be measured: 0.8 µs
// was seen on one machine. On another it was 0.14 µs again and again, and up to recordedCold times as much for events
// that a program caused 22,000 times a second, with other data in the caches (bench/tracing).
const tracepointNs, recordedCold = 1e3, 2

// leastHeldUpNs is the least time by which a recorder of timed calls holds up each system call. 10 to 14 ns were seen; a
// core that changes its rate between the two measurements may hide them.
const leastHeldUpNs = 10

// recordings are what runs of a program show of the use of recording tracepoints: it takes time from the program, and on
// a calm machine there is little that the events could tell.
type recordings struct {
	// doubtNs is what remains unknown of each recorded run: between its bounds, and because it was recorded.
	doubtNs []float64
	// othersNs is the time by which others can have delayed each run, as far as is known without recording; infinite if
	// unknown.
	othersNs []float64
}

// pay reports whether the time of the next run will be known better if it is recorded. The first few runs are, and a few
// later ones, which tell whether servers of the program were kept from CPUs.
func (s *recordings) pay() bool {
	const few, recent, every = 3, 9, 8
	if len(s.doubtNs) < few || len(s.othersNs)%every == 0 {
		return true
	}
	latest := func(ns []float64) float64 { return stats.Median(ns[max(0, len(ns)-recent):]) }
	return !(latest(s.othersNs) < latest(s.doubtNs)) // NaN if unknown
}

// add adds a bounded run. Traced runs tell nothing: their stops take longer.
func (s *recordings) add(r *Run) {
	if r.Untraced == nil || !r.noted {
		return
	}
	others := math.Inf(1)
	if r.Others.Known {
		others = float64(r.Others.CPUNs + r.BesideNs)
	}
	s.othersNs = append(s.othersNs, others)
	if r.traced.heldUpKnown {
		s.doubtNs = append(s.doubtNs, r.HighNs-r.LowNs+r.traced.recordedNs)
	}
}

// mostWakeupEvents is how many events of one run are kept at most, at some 64 bytes each.
const mostWakeupEvents = 1 << 21

// with returns a recorder that records timed calls, if timed is set: w itself if it does so or may not record at all,
// else a new one. w may be nil.
func (w *wakeupRecorder) with(timed bool) *wakeupRecorder {
	if w != nil && (w.recorder == nil || w.timed || !timed) {
		return w
	}
	w.close()
	return openWakeups(timed)
}

// openWakeups opens a recorder, which is paused. If that is not allowed, the recorder records nothing.
func openWakeups(timed bool) *wakeupRecorder {
	w := &wakeupRecorder{timed: timed, eachNs: tracepointNs}
	open := tracepoint.Open
	if timed {
		open = tracepoint.OpenWithTimedCalls
	}
	if ns, err := tracepoint.CostNs(); err == nil {
		w.eachNs = math.Min(tracepointNs, recordedCold*ns)
	}
	callNs := tracepoint.LeastCallNs()
	recorder, err := open()
	if err != nil {
		return w
	}
	w.callNs = math.Max(leastHeldUpNs, tracepoint.LeastCallNs()-callNs)
	w.recorder, w.kernel = recorder, map[int32]bool{}
	recorder.Pause()
	for _, t := range tracepoint.Tasks(os.DirFS("/")) {
		w.kernel[t.Thread] = t.Kernel
	}
	return w
}

// keep adds events to those of the run. They are lost if there are more than mostWakeupEvents.
func (w *wakeupRecorder) keep(events []tracepoint.Event) {
	if len(w.events)+len(events) > mostWakeupEvents {
		w.lost++
		return
	}
	w.events = append(w.events, events...)
}

// begin starts to record. While the command runs, the buffers are emptied whenever they are half full.
func (w *wakeupRecorder) begin(c *process.Command) {
	if w == nil || w.recorder == nil {
		return
	}
	w.recorder.Drop()
	w.events, w.lost = nil, -w.recorder.Lost()
	c.DrainFDs, c.Drain = w.recorder.FDs(), func() { w.keep(w.recorder.Take()) }
	w.recorder.Resume()
}

// eachCallNs returns the time by which each system call takes longer as long as the recorder is open, paused or not.
func (w *wakeupRecorder) eachCallNs() float64 {
	if w == nil || w.recorder == nil || !w.timed {
		return 0
	}
	return w.callNs
}

// take ends the recording, and returns the events since begin in order of time; nil if events were lost.
func (w *wakeupRecorder) take() []tracepoint.Event {
	if w == nil || w.recorder == nil {
		return nil
	}
	w.recorder.Pause()
	w.keep(w.recorder.TakeAll())
	if w.lost+w.recorder.Lost() > 0 {
		return nil
	}
	return w.events
}

// close closes the recorder.
func (w *wakeupRecorder) close() {
	if w == nil || w.recorder == nil {
		return
	}
	w.recorder.Close()
	w.recorder = nil
}
