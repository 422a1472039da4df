package activity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/tracepoint"
)

// namedWorld simulates a CPU whose kernel records events, and keeps its own account of what really
// happened. Times are in nanoseconds. The trace's clock ticks every half nanosecond and is 20 ppm
// too fast.
type namedWorld struct {
	*rand.Rand
	nowNs  int64
	events []tracepoint.Event
	trace  *Trace
	truth  map[part]float64
}

const selfThread, namedStart = 77, 5_000_000

func newNamedWorld(seed uint64) *namedWorld {
	w := &namedWorld{Rand: rand.New(rand.NewPCG(seed, 3)), nowNs: namedStart, truth: map[part]float64{}}
	w.trace = &Trace{TickNs: 0.5, CPU: 1, Thread: selfThread, Kernel: Kernel{Virtual: true, Known: true}}
	return w
}

// ticks returns the reading of the trace's clock at the time ns.
func (w *namedWorld) ticks(ns int64) int64 {
	return int64(math.Round(float64(ns-namedStart) * 2 * 1.00002))
}

func (w *namedWorld) note(current int32, kind tracepoint.Kind, e tracepoint.Event) {
	e.AtNs, e.CPU, e.Kind, e.Thread, e.Process = w.nowNs, 1, kind, current, current
	w.events = append(w.events, e)
}

// gap lets the thread run for a while, and then interrupts it for as long as during takes.
func (w *namedWorld) gap(cause Cause, during func()) {
	w.nowNs += 20_000 + w.Int64N(100_000)
	from := w.ticks(w.nowNs)
	during()
	w.trace.Gaps = append(w.trace.Gaps, Gap{Start: from, Ticks: w.ticks(w.nowNs) - from, Cause: cause})
}

func (w *namedWorld) pass(ns int64, k part) {
	w.nowNs += ns
	w.truth[k] += float64(ns)
}

// disturb simulates something that takes the CPU. Without the events all of it counts as preempted.
func (w *namedWorld) disturb() {
	rival := int32(200 + w.IntN(3))
	thread := part{Preempted, Culprit{Kind: "thread", Process: rival, Thread: rival, Name: fmt.Sprint("rival", rival), CGroup: fmt.Sprint("/", rival)}}
	disk := part{Interrupt, Culprit{Kind: "interrupt", Interrupt: 33, Name: "disk0"}}
	timer := part{TimerTick, Culprit{Kind: "vector", Name: tracepoint.LocalTimer}}
	softirq := part{Interrupt, Culprit{Kind: "softirq", Name: "NET_RX"}}
	switch w.IntN(4) {
	case 0: // a tick, and the softirq that follows
		w.gap(Preempted, func() {
			w.pass(1000, timer)
			w.note(selfThread, tracepoint.Vector, tracepoint.Event{Name: tracepoint.LocalTimer})
			w.pass(4000, timer)
			w.note(selfThread, tracepoint.VectorEnd, tracepoint.Event{Name: tracepoint.LocalTimer})
		})
	case 1:
		w.gap(Interrupt, func() {
			w.note(selfThread, tracepoint.Interrupt, tracepoint.Event{Value: 33, Name: "disk0"})
			w.pass(9000, disk)
			w.note(selfThread, tracepoint.InterruptEnd, tracepoint.Event{Value: 33})
			w.note(selfThread, tracepoint.Softirq, tracepoint.Event{Name: "NET_RX"})
			w.pass(3000, softirq)
			w.note(selfThread, tracepoint.SoftirqEnd, tracepoint.Event{Name: "NET_RX"})
		})
	case 2: // another thread, during which an interrupt comes
		w.gap(Preempted, func() {
			w.note(selfThread, tracepoint.Switched, tracepoint.Event{Other: rival, Name: fmt.Sprint("rival", rival)})
			w.pass(100_000+w.Int64N(1e6), thread)
			w.note(rival, tracepoint.Vector, tracepoint.Event{Name: tracepoint.LocalTimer})
			w.pass(3000, thread)
			w.note(rival, tracepoint.VectorEnd, tracepoint.Event{Name: tracepoint.LocalTimer})
			w.pass(2000, thread)
			w.note(rival, tracepoint.Switched, tracepoint.Event{Other: selfThread, Name: "self"})
		})
	case 3: // the host, which no event shows
		w.gap(Interrupt, func() { w.pass(300_000, part{Hypervisor, Culprit{}}) })
	}
}

func (w *namedWorld) run(steps int) KernelEvents {
	w.note(selfThread, tracepoint.SoftirqEnd, tracepoint.Event{})
	w.trace.Anchors = append(w.trace.Anchors, Anchor{w.ticks(w.nowNs), w.nowNs})
	for range steps {
		w.disturb()
	}
	w.nowNs += 1000
	w.trace.Length = w.ticks(w.nowNs)
	w.trace.Anchors = append(w.trace.Anchors, Anchor{w.ticks(w.nowNs), w.nowNs})
	k := KernelEvents{Events: w.events}
	for rival := range int32(3) {
		k.Tasks = append(k.Tasks, tracepoint.Task{Process: 200 + rival, Thread: 200 + rival, Name: "sh", CGroup: fmt.Sprint("/", 200+rival)})
	}
	return k
}

// Each gap is attributed to what had the CPU, or to the host if no event shows anything.
func TestNamed(t *testing.T) {
	for seed := range uint64(50) {
		w := newNamedWorld(seed)
		k := w.run(200)
		n := w.trace.Name(k)
		got := map[part]float64{}
		for _, p := range n.Parts {
			got[part{p.Cause, p.Who}] = p.TotalNs
		}
		for key, want := range w.truth {
			if math.Abs(got[key]-want) > 1e-3*want+1000 {
				t.Errorf("machine %d: %+v took %v, want %v", seed, key, got[key], want)
			}
		}
		if len(got) != len(w.truth) {
			t.Fatalf("machine %d: %v\nwant %v", seed, got, w.truth)
		}
		var total, reachedNs float64
		for _, p := range n.Pieces {
			if total += p.DurationNs; p.DurationNs <= 0 || p.StartNs < reachedNs-1e-6 {
				t.Fatalf("machine %d: %+v after a piece that ends at %v", seed, p, reachedNs)
			}
			reachedNs = p.StartNs + p.DurationNs
		}
		if want := w.trace.Ns(w.trace.Inactive()); math.Abs(total-want) > 1000 {
			t.Fatalf("machine %d: pieces of %v, gaps of %v", seed, total, want)
		}
	}
}

// The idle thread of some CPUs notes nothing, so that the switch from it to the trace's thread is missing: what
// interrupts that thread then is not taken for the idle thread's, which was put down to the measurement itself.
func TestNamedAfterIdle(t *testing.T) {
	w := newNamedWorld(1)
	k := w.run(200)
	began := k.Events[0].AtNs
	k.Events = append([]tracepoint.Event{{AtNs: began - 2000, CPU: 1, Kind: tracepoint.Switched, Thread: selfThread, Other: 0}}, k.Events...)
	for _, p := range w.trace.Name(k).Parts {
		if want := w.truth[part{p.Cause, p.Who}]; math.Abs(p.TotalNs-want) > 1e-3*want+1000 {
			t.Errorf("%v %v took %g ns, want %g", p.Cause, p.Who, p.TotalNs, want)
		}
	}
}

// Adding up parts loses no time.
func TestNamedBy(t *testing.T) {
	w := newNamedWorld(1)
	n := w.trace.Name(w.run(300))
	for what, wantRows := range map[string]int{"thread": 7, "cgroup": 7, "irq": 5} {
		parts := n.By(what)
		var total, want float64
		for _, p := range parts {
			total += p.TotalNs
		}
		for _, p := range n.Parts {
			want += p.TotalNs
		}
		if len(parts) != wantRows || math.Abs(total-want) > 1 {
			t.Errorf("--by %s: %d rows of %v, want %d of %v: %+v", what, len(parts), total, wantRows, want, parts)
		}
	}
}

// If events were lost, a gap keeps the cause that it has without them, and has no culprit.
func TestNamedLosses(t *testing.T) {
	for seed := range uint64(50) {
		w := newNamedWorld(seed)
		k := w.run(100)
		whole := w.trace.Name(k)
		names := map[Culprit]float64{}
		for _, p := range whole.Parts {
			names[p.Who] += p.TotalNs
		}
		from := w.IntN(len(k.Events) - 20)
		last := k.Events[from]
		end := k.Events[from+1+w.IntN(15)]
		events := append([]tracepoint.Event{}, k.Events[:from+1]...)
		events = append(events, tracepoint.Event{AtNs: last.AtNs, CPU: 1, Kind: tracepoint.Losing}, tracepoint.Event{AtNs: end.AtNs, CPU: 1, Kind: tracepoint.Lost, Value: 3})
		for _, e := range k.Events[from+1:] {
			if e.AtNs > end.AtNs {
				events = append(events, e)
			}
		}
		k.Events = events
		for _, p := range w.trace.Name(k).Parts {
			if p.Who != (Culprit{}) && p.TotalNs > names[p.Who]+1000 {
				t.Fatalf("machine %d: %+v, which was %v", seed, p, names[p.Who])
			}
		}
	}
}

// Time of which no event tells lies where it was: before, between and after what the events show. All of it was put at the
// beginning of the gap, over what had the CPU then. Perfetto drops slices that overlap.
func TestPiecesLieWhereTheyWere(t *testing.T) {
	w := newNamedWorld(1)
	w.note(selfThread, tracepoint.SoftirqEnd, tracepoint.Event{})
	w.trace.Anchors = append(w.trace.Anchors, Anchor{w.ticks(w.nowNs), w.nowNs})
	const gaps = 20
	lengths := []float64{300_000, 4000, 200_000, 9000, 100_000} // host, timer, host, sh, host
	for range gaps {
		w.gap(Preempted, func() {
			w.nowNs += int64(lengths[0])
			w.note(selfThread, tracepoint.Vector, tracepoint.Event{Name: tracepoint.LocalTimer})
			w.nowNs += int64(lengths[1])
			w.note(selfThread, tracepoint.VectorEnd, tracepoint.Event{Name: tracepoint.LocalTimer})
			w.nowNs += int64(lengths[2])
			w.note(selfThread, tracepoint.Switched, tracepoint.Event{Other: 200, Name: "sh"})
			w.nowNs += int64(lengths[3])
			w.note(200, tracepoint.Switched, tracepoint.Event{Other: selfThread, Name: "self"})
			w.nowNs += int64(lengths[4])
		})
		w.gap(Preempted, func() { // so that the way into an interrupt has a usual length
			w.note(selfThread, tracepoint.Vector, tracepoint.Event{Name: tracepoint.LocalTimer})
			w.nowNs += 4000
			w.note(selfThread, tracepoint.VectorEnd, tracepoint.Event{Name: tracepoint.LocalTimer})
		})
	}
	w.nowNs += 1000
	w.trace.Length = w.ticks(w.nowNs)
	w.trace.Anchors = append(w.trace.Anchors, Anchor{w.ticks(w.nowNs), w.nowNs})
	n := w.trace.Name(KernelEvents{Events: w.events})
	causes := []Cause{Hypervisor, TimerTick, Hypervisor, Preempted, Hypervisor}
	if len(n.Pieces) != gaps*6 {
		t.Fatalf("%d pieces, want %d: %+v", len(n.Pieces), gaps*6, n.Pieces[:6])
	}
	for i := range gaps {
		atNs := w.trace.Ns(w.trace.Gaps[2*i].Start)
		for j, p := range n.Pieces[6*i : 6*i+5] {
			if p.Cause != causes[j] || math.Abs(p.StartNs-atNs) > 50 || math.Abs(p.DurationNs-lengths[j]) > 50 {
				t.Fatalf("gap %d: %+v, want %v for %v ns at %v", i, p, causes[j], lengths[j], atNs)
			}
			atNs += lengths[j]
		}
	}
	for _, p := range n.Parts {
		if p.Cause == Hypervisor && (p.Count != gaps || math.Abs(p.MaxNs-600_000) > 50) {
			t.Errorf("%+v, want %d gaps of 600 µs", p, gaps)
		}
	}
}

// Without events no gap has a culprit, and nothing is attributed to the host.
func TestNamedNothing(t *testing.T) {
	w := newNamedWorld(1)
	w.run(5)
	if n := w.trace.Name(KernelEvents{}); n != nil {
		t.Errorf("%+v", n)
	}
}

// What stands in a gap decides its cause: a switch counts with the interrupt that led to it, a softirq of the tick with
// the tick, and in a gap of the recording's own the other threads of this process with the recording. Time of which no
// event tells belongs to what it leads to or follows, but in a gap of the recording's own to the recording.
func TestNamedCauses(t *testing.T) {
	const other, ours = 200, 201
	timer := func(w *namedWorld, ns int64) {
		w.note(selfThread, tracepoint.Vector, tracepoint.Event{Name: tracepoint.LocalTimer})
		w.nowNs += ns
		w.note(selfThread, tracepoint.VectorEnd, tracepoint.Event{Name: tracepoint.LocalTimer})
	}
	softirq := func(w *namedWorld, name string, ns int64) {
		w.note(selfThread, tracepoint.Softirq, tracepoint.Event{Name: name})
		w.nowNs += ns
		w.note(selfThread, tracepoint.SoftirqEnd, tracepoint.Event{Name: name})
	}
	turn := func(w *namedWorld, thread int32, ns int64) {
		w.note(selfThread, tracepoint.Switched, tracepoint.Event{Other: thread, Name: "sh"})
		w.nowNs += ns
		w.note(thread, tracepoint.Switched, tracepoint.Event{Other: selfThread, Name: "self"})
	}
	cases := map[string]struct {
		without Cause
		own     bool
		during  func(w *namedWorld)
		cause   Cause
		parts   map[string]float64 // ns by who
	}{
		"a short turn after a timer": {Preempted, false, func(w *namedWorld) { w.nowNs += 3000; timer(w, 8000); turn(w, other, 4000); w.nowNs += 1000 }, Preempted,
			map[string]float64{"local_timer (vector)": 11000, "sh (pid 200)": 5000}},
		"a tick and its softirqs": {TimerTick, false, func(w *namedWorld) { timer(w, 4000); softirq(w, "SCHED", 3000); softirq(w, "RCU", 3000) }, TimerTick,
			map[string]float64{"local_timer (vector)": 4000, "SCHED (softirq)": 3000, "RCU (softirq)": 3000}},
		"packets after a tick": {Interrupt, false, func(w *namedWorld) { timer(w, 4000); softirq(w, "NET_RX", 6000) }, Interrupt,
			map[string]float64{"local_timer (vector)": 4000, "NET_RX (softirq)": 6000}},
		"another thread of this process": {Preempted, false, func(w *namedWorld) { turn(w, ours, 9000) }, Preempted,
			map[string]float64{"sh (thread 201 of 77)": 9000}},
		"a thread outside of the container, whose number is not known": {Preempted, false, func(w *namedWorld) { timer(w, 4000); turn(w, tracepoint.Foreign, 9000) }, Preempted,
			map[string]float64{"local_timer (vector)": 4000, "sh (one or more threads)": 9000}},
		"the same in a gap of the recording's own": {Runtime, true, func(w *namedWorld) { w.nowNs += 2000; turn(w, ours, 9000) }, Runtime,
			map[string]float64{"sh (thread 201 of 77)": 9000, "": 2000}},
		"an interrupt in a gap of the recording's own": {Runtime, true, func(w *namedWorld) { w.nowNs += 4000; timer(w, 3000) }, Runtime,
			map[string]float64{"local_timer (vector)": 3000, "": 4000}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newNamedWorld(1)
			w.note(selfThread, tracepoint.SoftirqEnd, tracepoint.Event{})
			w.trace.Anchors = append(w.trace.Anchors, Anchor{w.ticks(w.nowNs), w.nowNs})
			for range 20 {
				w.gap(c.without, func() { c.during(w) })
				w.trace.Gaps[len(w.trace.Gaps)-1].Own = c.own
			}
			w.nowNs += 1000
			w.trace.Length = w.ticks(w.nowNs)
			w.trace.Anchors = append(w.trace.Anchors, Anchor{w.ticks(w.nowNs), w.nowNs})
			n := w.trace.Name(KernelEvents{Events: w.events, Tasks: []tracepoint.Task{
				{Process: selfThread, Thread: selfThread, Name: "self"}, {Process: other, Thread: other, Name: "sh"}, {Process: selfThread, Thread: ours, Name: "sh"},
			}})
			for _, m := range n.Worst {
				if m.Cause != c.cause {
					t.Fatalf("%v: %+v, want %v", m.Cause, m.Ran, c.cause)
				}
			}
			for _, p := range n.Parts {
				if want := c.parts[p.Who.String()]; math.Abs(p.TotalNs/20-want) > 20 {
					t.Errorf("%v %v took %.0f ns a gap, want %v", p.Cause, p.Who, p.TotalNs/20, want)
				}
			}
			if len(n.Parts) != len(c.parts) {
				t.Errorf("%+v, want %v", n.Parts, c.parts)
			}
		})
	}
}
