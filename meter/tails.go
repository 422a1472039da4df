package meter

import (
	"cmp"
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

// WithTails also times each measured call with a clock that is finer than the calls, and keeps the
// distribution of these times: [Report.Tails]. With [Sampled] the measured calls are chosen at random;
// one in 16 costs little. It takes up to 160 kB.
func WithTails(fine clock.Rated) Option {
	return func(m *Meter) {
		if fine.Clock != nil && fine.TickNs.Value > 0 {
			m.tails = &tails{clock: fine}
		}
	}
}

// TraceIDs returns the identifier of a call's trace, which is kept as an exemplar with each of the
// slowest calls. [Meter.StopContext] asks for it at slow calls only. Give it after [WithTails],
// without which it does nothing.
func TraceIDs(of func(context.Context) string) Option {
	return func(m *Meter) {
		if m.tails != nil {
			m.tails.traceID = of
		}
	}
}

// tails keeps the distribution of the measured calls' times.
type tails struct {
	clock     clock.Rated
	sketches  []sketches
	costNs    stats.Estimate // what reading the clocks adds to each call
	traceID   func(context.Context) string
	exemplars exemplars
}

// sketches holds the counts of the shards that share them.
type sketches struct {
	calls  sketch
	queued atomic.Uint64
	// fromIntended is made at the first call of [Meter.StartAt].
	fromIntended atomic.Pointer[sketch]
}

// mostSketches limits the memory of a meter on a machine with many processors. Shards share sketches,
// since sampled calls seldom meet.
const mostSketches = 8

// shareSketches makes the sketches, and measures what reading the clocks adds to each call.
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

// longestLate is the lateness from which on a due time is taken for unknown: sums of such times would wrap.
const longestLate = 30 * 24 * time.Hour

// StartAt begins a call that should have begun at the time intended, when its request was due or came
// in; intended must come from time.Now. If it is 30 days ago, or zero, it counts as unknown. [Report.FromIntended] has
// the times from then on. Without it a service that stands still for a second shows one slow call, and not the calls that
// waited for it meanwhile (coordinated omission).
func (m *Meter) StartAt(intended time.Time) Start {
	start := m.Start()
	lateness := time.Since(intended)
	if m.tails != nil && start.meter == m && lateness < longestLate {
		start.notes |= late | notes(max(0, lateness))<<lateShift
		start.reading, start.fine = m.begin(start.notes) // again, since time.Since took time
	}
	return start
}

// StopContext is [Meter.Stop] with a context, in which [TraceIDs] finds the trace.
func (m *Meter) StopContext(ctx context.Context, start Start) {
	if start.meter != &passedOver {
		m.stop(ctx, start)
	}
}

// ns returns the length of a call between two readings.
func (t *tails) ns(from, to int64) float64 { return max(0, t.clock.Ns(to-from)-t.costNs.Value) }

// book counts a call that ended at the reading end.
func (t *tails) book(ctx context.Context, shard *shard, start Start, end int64) {
	ns := t.ns(start.fine, end)
	shard.tails.calls.add(ns)
	lateNs, known := start.notes.lateNs()
	if known {
		shard.tails.bookFromIntended(lateNs, ns)
		ns += lateNs
	}
	if t.traceID != nil && ctx != context.Background() && t.exemplars.wants(ns) {
		t.exemplars.keep(Exemplar{Ns: ns, FromIntended: known, Trace: t.traceID(ctx), At: time.Now()})
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

// TailCounts counts the times of single calls.
type TailCounts struct {
	// Calls are the times from Start to Stop, less the median cost of reading the clocks. FromIntended are the
	// times from the moments at which the calls should have begun.
	Calls        Histogram `json:"calls"`
	FromIntended Histogram `json:"from_intended"`
	// Queued is the number of calls that waited longer before they began than they then took.
	Queued uint64 `json:"queued"`
	// CostBelowNs and CostAboveNs are sums over the calls: how much less and how much more than the
	// median the readings of the clocks may have cost.
	CostBelowNs float64 `json:"cost_below_ns"`
	CostAboveNs float64 `json:"cost_above_ns"`
	// StepNs is the step of the fine clock, or the widest of several.
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
	c.FromIntended = histogram(fromIntended) // before the calls, which count a call first
	c.Calls = histogram(calls)
	n := float64(c.Calls.Count())
	c.CostBelowNs, c.CostAboveNs = n*(t.costNs.Value-t.costNs.Lo), n*(t.costNs.Hi-t.costNs.Value)
	return c
}

// plus returns the sum of two counts, and changes neither.
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

// impossible says what is wrong with counts that no meter can have written.
func (t TailCounts) impossible() string {
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
	Ns float64 `json:"ns"`
	// FromIntended says that the time is from when the call should have begun.
	FromIntended bool      `json:"from_intended,omitempty"`
	Trace        string    `json:"trace"`
	At           time.Time `json:"at"`
}

// mostExemplars is the number of slowest calls that are kept.
const mostExemplars = 10

// exemplarAge is the age at which a faster call may replace an exemplar.
const exemplarAge = time.Minute

// exemplars has the slowest of the recent calls.
type exemplars struct {
	mutex sync.Mutex
	kept  []Exemplar
	// leastNs is the time above which a call is kept. From staleAt on, a Unix time, any call is.
	leastNs atomic.Int64
	staleAt atomic.Int64
}

// wants reports whether a call is slow enough to be kept.
func (e *exemplars) wants(ns float64) bool {
	return ns > float64(e.leastNs.Load()) || time.Now().UnixNano() > e.staleAt.Load()
}

// keep adds a call, unless another goroutine is adding one.
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

// slowest returns the slowest of some calls, in descending order; it sorts its argument.
func slowest(all []Exemplar) []Exemplar {
	slices.SortStableFunc(all, func(a, b Exemplar) int { return cmp.Compare(b.Ns, a.Ns) })
	return all[:min(len(all), mostExemplars)]
}
