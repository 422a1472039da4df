package meter

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// WithTails times the measured calls one by one as well, by a clock that is finer than they are, and
// keeps how their times are distributed: [Report.Tails]. With [Sampled] these are calls chosen at
// random, and cost little where they are one in sixteen. It takes up to 160 kB.
func WithTails(fine clock.Rated) Option {
	return func(m *Meter) {
		if fine.Clock != nil && fine.TickNs.Value > 0 {
			m.tails = &tails{clock: fine}
		}
	}
}

// TraceIDs says how the trace of a call is found, so that slow calls are kept with theirs as
// exemplars. [Meter.StopContext] asks at slow calls only. It needs [WithTails], and stands behind it.
func TraceIDs(of func(context.Context) string) Option {
	return func(m *Meter) {
		if m.tails != nil {
			m.tails.traceID = of
		}
	}
}

// tails are how the measured calls are distributed.
type tails struct {
	clock     clock.Rated
	sketches  []sketches
	costNs    stats.Estimate // of the clocks, in each call
	traceID   func(context.Context) string
	exemplars exemplars
}

// sketches are those of some shards.
type sketches struct {
	calls  sketch
	queued atomic.Uint64
	// fromIntended is made by the first call that says when it should have begun.
	fromIntended atomic.Pointer[sketch]
}

// mostSketches of a meter, so that a meter of a machine with many processors does not take
// megabytes. Shards share them, as a sampled call meets another one seldom.
const mostSketches = 8

// shareSketches makes the sketches, and measures what the clocks take of each call.
func (m *Meter) shareSketches() {
	t := m.tails
	if t == nil {
		return
	}
	t.sketches = make([]sketches, mostSketches)
	for i := range m.shards.all {
		m.shards.all[i].tails = &t.sketches[i%mostSketches]
	}
	var empty []float64
	for range costBatches * costCalls {
		from := t.clock.Read()
		m.source.clock.Read()
		m.source.clock.Read()
		empty = append(empty, t.clock.Ns(t.clock.Read()-from))
	}
	slices.Sort(empty)
	t.costNs = stats.Estimate{Value: stats.Quantile(empty, 0.5), Lo: empty[0], Hi: stats.Quantile(empty, 0.9)}
}

// StartAt begins a call that should have begun at that time, which has to be one of time.Now's: when
// its request was due, or came in. How long such calls take from then on is in
// [Report.FromIntended]. Without it a service that stands still for a second shows one slow call, and
// not those that waited for it meanwhile (coordinated omission).
func (m *Meter) StartAt(intended time.Time) Start {
	start := m.Start()
	if m.tails != nil && start.meter == m {
		start.notes |= late | notes(max(0, time.Since(intended)))<<lateShift
		start.reading, start.fine = m.begin(start.notes) // once more, since the question took time
	}
	return start
}

// StopContext is [Meter.Stop] for a call with a context, from which [TraceIDs] takes the trace.
func (m *Meter) StopContext(ctx context.Context, start Start) {
	if start.meter != &passedOver {
		m.stop(ctx, start)
	}
}

// ns is the length of a call that began and ended at these readings.
func (t *tails) ns(from, to int64) float64 { return max(0, t.clock.Ns(to-from)-t.costNs.Value) }

// book counts a call that ended at that reading.
func (t *tails) book(ctx context.Context, shard *shard, start Start, end int64) {
	ns := t.ns(start.fine, end)
	shard.tails.calls.add(ns)
	if lateNs, known := start.notes.lateNs(); known {
		shard.tails.bookFromIntended(lateNs, ns)
		ns += lateNs
	}
	if t.traceID != nil && ctx != context.Background() && t.exemplars.wants(ns) {
		t.exemplars.keep(Exemplar{Ns: ns, Trace: t.traceID(ctx), At: time.Now()})
	}
}

func (s *sketches) bookFromIntended(waitedNs, ns float64) {
	if waitedNs > ns {
		s.queued.Add(1)
	}
	fromIntended := s.fromIntended.Load()
	if fromIntended == nil {
		s.fromIntended.CompareAndSwap(nil, new(sketch))
		fromIntended = s.fromIntended.Load()
	}
	fromIntended.add(waitedNs + ns)
}

// TailCounts are what was counted of single calls.
type TailCounts struct {
	// Calls are the times from Start to Stop, without what the clocks themselves take on average, and
	// FromIntended those from when calls should have begun.
	Calls        Histogram `json:"calls"`
	FromIntended Histogram `json:"from_intended"`
	// Queued is how many calls waited longer before they began than they took then.
	Queued uint64 `json:"queued"`
	// CostBelowNs and CostAboveNs are sums over the calls of how much less and how much more the
	// clocks may have taken.
	CostBelowNs float64 `json:"cost_below_ns"`
	CostAboveNs float64 `json:"cost_above_ns"`
	// StepNs is the widest step of the clocks.
	StepNs    float64    `json:"step_ns"`
	Exemplars []Exemplar `json:"exemplars,omitempty"`
}

func (t *tails) snapshot() *TailCounts {
	c := &TailCounts{StepNs: math.Max(t.clock.AccuracyNs, t.clock.TickNs.Value), Exemplars: t.exemplars.all()}
	var calls, fromIntended []*sketch
	for i := range t.sketches {
		s := &t.sketches[i]
		calls = append(calls, &s.calls)
		c.Queued += s.queued.Load()
		if f := s.fromIntended.Load(); f != nil {
			fromIntended = append(fromIntended, f)
		}
	}
	c.Calls, c.FromIntended = histogram(calls), histogram(fromIntended)
	n := float64(c.Calls.Count())
	c.CostBelowNs, c.CostAboveNs = n*(t.costNs.Value-t.costNs.Lo), n*(t.costNs.Hi-t.costNs.Value)
	return c
}

// plus adds up two counts, and changes nothing that they refer to.
func (t TailCounts) plus(other TailCounts) *TailCounts {
	t.Calls = t.Calls.plus(other.Calls)
	t.FromIntended = t.FromIntended.plus(other.FromIntended)
	t.Queued = saturating(t.Queued, other.Queued)
	t.CostBelowNs += other.CostBelowNs
	t.CostAboveNs += other.CostAboveNs
	t.StepNs = math.Max(t.StepNs, other.StepNs)
	t.Exemplars = slowest(slices.Concat(t.Exemplars, other.Exemplars))
	return &t
}

// impossible says what is wrong with counts that no meter could have written.
func (t TailCounts) impossible(measured uint64) string {
	switch {
	case !t.Calls.possible() || !t.FromIntended.possible():
		return "a histogram with other buckets, or with a sum below 0"
	case !(t.CostBelowNs >= 0 && t.CostAboveNs >= 0 && t.StepNs >= 0):
		return fmt.Sprintf("clocks that take %v ns less and %v more, in steps of %v", t.CostBelowNs, t.CostAboveNs, t.StepNs)
	case t.FromIntended.Count() > t.Calls.Count():
		return fmt.Sprintf("%d calls timed from when they should have begun, of %d", t.FromIntended.Count(), t.Calls.Count())
	case len(t.Exemplars) > mostExemplars:
		return fmt.Sprintf("%d exemplars, of %d at most", len(t.Exemplars), mostExemplars)
	}
	return ""
}

// Exemplar is a slow call.
type Exemplar struct {
	Ns    float64   `json:"ns"`
	Trace string    `json:"trace"`
	At    time.Time `json:"at"`
}

// mostExemplars are kept: the slowest.
const mostExemplars = 10

// exemplarAge is how long an exemplar stands in the way of a call that is not as slow.
const exemplarAge = time.Minute

// exemplars are the slowest calls of late.
type exemplars struct {
	mutex sync.Mutex
	kept  []Exemplar
	// leastNs is what a call has to take to be kept, until the next look at staleAt, in Unix time.
	leastNs atomic.Int64
	staleAt atomic.Int64
}

// wants reports whether a call is slow enough to be kept.
func (e *exemplars) wants(ns float64) bool {
	return ns > float64(e.leastNs.Load()) || time.Now().UnixNano() > e.staleAt.Load()
}

// keep adds a call, unless another is being added at that moment.
func (e *exemplars) keep(x Exemplar) {
	if !e.mutex.TryLock() {
		return
	}
	defer e.mutex.Unlock()
	e.kept = slowest(append(slices.DeleteFunc(e.kept, func(old Exemplar) bool { return x.At.Sub(old.At) > exemplarAge }), x))
	oldest := slices.MinFunc(e.kept, func(a, b Exemplar) int { return a.At.Compare(b.At) })
	e.staleAt.Store(oldest.At.Add(exemplarAge).UnixNano())
	least := int64(0)
	if len(e.kept) == mostExemplars {
		least = int64(e.kept[mostExemplars-1].Ns)
	}
	e.leastNs.Store(least)
}

func (e *exemplars) all() []Exemplar {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return slices.Clone(e.kept)
}

// slowest are the slowest of some calls, those first; it sorts them.
func slowest(all []Exemplar) []Exemplar {
	slices.SortStableFunc(all, func(a, b Exemplar) int { return int(math.Copysign(1, b.Ns-a.Ns)) })
	return all[:min(len(all), mostExemplars)]
}
