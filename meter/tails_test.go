package meter

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/google/go-cmp/cmp"

	"chronoscope/clock"
	"chronoscope/stats"
)

// fineClock is a simulated machine's clock that moves in steps.
func (w *simulated) fineClock(stepNs float64) clock.Rated {
	c := clock.New(clock.Clock{Name: "simulated-fine", Scope: clock.ScopeMachine, UnitNs: 1}, func() int64 { return int64(math.Floor(w.nowNs / stepNs)) })
	return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: stepNs, Lo: stepNs, Hi: stepNs}, AccuracyNs: stepNs}
}

// Prometheus' own histogram of schema 5 puts the same durations into buckets of the same numbers.
func TestSketchHasTheBucketsOfNativeHistograms(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 3))
	for range 2000 {
		seconds := math.Exp2(leastExponent + 0.1 + (mostExponent-leastExponent-0.2)*random.Float64())
		if random.IntN(4) == 0 {
			seconds = math.Exp2(math.Round(math.Log2(seconds))) // a bound
		}
		h := client.NewHistogram(client.HistogramOpts{Name: "h", NativeHistogramBucketFactor: math.Exp2(1. / perPowerOfTwo)})
		h.Observe(seconds)
		var m dto.Metric
		if err := h.Write(&m); err != nil {
			t.Fatal(err)
		}
		want := int(m.GetHistogram().GetPositiveSpan()[0].GetOffset())
		if got := sketchKey(seconds); got != want || m.GetHistogram().GetSchema() != HistogramSchema {
			t.Fatalf("%v s: bucket %d, Prometheus has %d of schema %d", seconds, got, want, m.GetHistogram().GetSchema())
		}
	}
}

// What is too short or too long for a bucket of its own is in the first and the last.
func TestSketchTakesAnyDuration(t *testing.T) {
	var s sketch
	for _, ns := range []float64{-5, 0, 1e-9, 0.9, 1e13, 1e18} {
		s.add(ns)
	}
	h := histogram([]*sketch{&s})
	if h.Count() != 6 || h.Counts[0] != 4 || h.Counts[len(h.Counts)-1] != 2 || h.WorstNs != 1e18 || len(h.Counts) != sketchBuckets {
		t.Errorf("%d: %d at first, %d at last", h.Count(), h.Counts[0], h.Counts[len(h.Counts)-1])
	}
}

// dependent calls are slow together: a slow one is followed by slow ones.
func dependent(of duration) duration {
	slow := 0
	return func(r *rand.Rand) float64 {
		if slow == 0 && r.IntN(2000) == 0 {
			slow = 1 + r.IntN(40)
		}
		if slow > 0 {
			slow--
			return 5 * of(r)
		}
		return of(r)
	}
}

var tailKinds = map[string]func() duration{
	"log-normal": func() duration { return func(r *rand.Rand) float64 { return 1e4 * math.Exp(0.5*r.NormFloat64()) } },
	"Pareto":     func() duration { return func(r *rand.Rand) float64 { return 5e3 * math.Pow(r.Float64(), -1/1.5) } },
	"two modes": func() duration {
		return func(r *rand.Rand) float64 {
			if r.IntN(100) < 3 {
				return 8e4 * (1 + 0.02*r.NormFloat64())
			}
			return 1e4 * (1 + 0.02*r.NormFloat64())
		}
	},
	"dependent": func() duration {
		return dependent(func(r *rand.Rand) float64 { return 1e4 * math.Exp(0.3*r.NormFloat64()) })
	},
}

// simulations is how many there are of each kind: TAILS_SIMULATIONS asks for more.
func simulations(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("TAILS_SIMULATIONS")); err == nil {
		return n
	}
	return usual
}

// metered makes calls, and gives what the meter saw and how long all of them took, in order.
func metered(seed uint64, calls, oneIn int, stepNs float64, call duration) (Snapshot, []float64) {
	w := newWorld(seed, 4e6)
	m := New("tails", w.source(), Sampled(oneIn), WithTails(w.fineClock(stepNs)))
	w.seed(m)
	var took []float64
	for range calls {
		start := m.Start()
		ns := call(w.rng)
		w.nowNs += ns
		m.Stop(start)
		w.nowNs += 1e3 * w.rng.ExpFloat64()
		took = append(took, ns)
	}
	slices.Sort(took)
	return m.Snapshot(), took
}

// The intervals hold the percentiles of all calls, also of those that were not timed and of calls that
// depend on one another, at 1 in 1 and 1 in 16. Of 100 intervals 91 do, of 1,000 940 (DESIGN.md).
func TestTailsCoverThoseOfAllCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	trials := simulations(100)
	least := int(0.95*float64(trials) - 2*math.Sqrt(0.95*0.05*float64(trials)))
	for name, kind := range tailKinds {
		for _, oneIn := range []int{1, 16} {
			for _, stepNs := range []float64{1, 1000} {
				var covered, known [4]int
				var width [4]float64
				for trial := range trials {
					s, took := metered(uint64(trial), 12_000, oneIn, stepNs, kind())
					for i, e := range s.Report().Tails.Percentiles {
						truth := took[int(math.Ceil(stats.TailPercentiles[i]*float64(len(took))))-1]
						if math.IsNaN(e.Value) {
							continue
						}
						known[i]++
						width[i] += (e.Hi - e.Lo) / truth
						if e.Covers(truth) {
							covered[i]++
						}
					}
				}
				for i, p := range stats.TailPercentiles {
					if covered[i] < least-(trials-known[i]) {
						t.Errorf("%s, 1 in %d, step %v ns, p %v: %d of %d cover", name, oneIn, stepNs, p, covered[i], known[i])
					}
					width[i] /= float64(known[i])
				}
				t.Logf("%-10s 1 in %2d, step %4v ns: %v of %v, width %.3f", name, oneIn, stepNs, covered, known, width)
			}
		}
	}
}

// A thousand machines add up to the fleet's percentiles, in any order and by way of JSON. Some time all
// calls, others one in 16.
func TestTailsOfAThousandMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	var all Snapshot
	var took []float64
	for i := range 1000 {
		of := tailKinds["log-normal"]()
		if i%10 == 0 { // slow machines
			quick := of
			of = func(r *rand.Rand) float64 { return 3 * quick(r) }
		}
		s, these := metered(uint64(i), 400, []int{1, 16}[i%2], 1, of)
		text, err := json.Marshal(s)
		var read Snapshot
		if err != nil || json.Unmarshal(text, &read) != nil {
			t.Fatal(err, string(text))
		}
		if i == 0 {
			all = read
		} else if all, err = Merge(read, all); err != nil {
			t.Fatal(err)
		}
		took = append(took, these...)
	}
	slices.Sort(took)
	if len(all.Parts) != 2 || all.Parts[0].Calls+all.Parts[1].Calls != 400_000 {
		t.Fatalf("%d parts", len(all.Parts))
	}
	for i, e := range all.Report().Tails.Percentiles {
		truth := took[int(math.Ceil(stats.TailPercentiles[i]*float64(len(took))))-1]
		if !e.Covers(truth) || e.RelativeHalfWidth() > 0.1 {
			t.Errorf("%v: %v of the fleet", truth, e)
		}
	}
}

// Once a second a service stands still for 50 ms while requests come in each millisecond. By
// themselves the calls after that are as short as ever: from when they should have begun up to 50 ms late.
func TestStartAtSeesTheQueue(t *testing.T) {
	w := newWorld(1, 4e6)
	m := New("queue", w.source(), WithTails(w.fineClock(1)))
	const calls = 20_000
	due := w.nowNs
	for i := range calls {
		due += 1e6
		w.nowNs = math.Max(w.nowNs, due)
		start := m.Start()
		start.notes |= late | notes(w.nowNs-due)<<lateShift // as StartAt does by time.Now
		w.nowNs += 1e5
		if i%1000 == 999 {
			w.nowNs += 50e6
		}
		m.Stop(start)
	}
	r := m.Snapshot().Report()
	// Of 1,000 calls one stands still; some 55 begin late, by 49.1 ms, 48.2 ms ... (0.9 ms less each).
	if p99 := r.Tails.Percentiles[2].Value; math.Abs(p99/1e5-1) > 0.03 {
		t.Errorf("p99 %v from Start, want 0.1 ms", p99)
	}
	if p99 := r.FromIntended.Percentiles[2].Value; math.Abs(p99/1e6-41.2) > 2 {
		t.Errorf("p99 %v from when they should have begun, want some 41 ms: the tenth of 1,000", p99)
	}
	if !strings.Contains(fmt.Sprint(r.Caveats), "waited longer before they began") {
		t.Error(r.Caveats)
	}
}

func TestStartAt(t *testing.T) {
	m := New("at", kernelSource(t), WithTails(wallClock()))
	for range 100 {
		m.Stop(m.StartAt(time.Now().Add(-time.Second)))
	}
	m.Stop(m.StartAt(time.Now().Add(time.Hour))) // a time to come is no wait
	r := m.Snapshot().Report()
	if e := r.FromIntended.Percentiles[0]; r.FromIntended.N != 101 || e.Hi < 1e9 || r.Tails.Percentiles[0].Lo > 0.5e9 {
		t.Errorf("%v from when they should have begun, %v from Start", r.FromIntended, r.Tails)
	}
	unknown := New("unknown", kernelSource(t), WithTails(wallClock()))
	unknown.Stop(unknown.StartAt(time.Time{}))
	if r := unknown.Snapshot().Report(); r.Calls != 1 || r.FromIntended != nil && r.FromIntended.N > 0 {
		t.Errorf("a call whose due time is not known: %+v", r)
	}
	ancient := New("ancient", kernelSource(t), WithTails(wallClock()))
	for range 100 {
		ancient.Stop(ancient.StartAt(time.Unix(0, 0)))
	}
	if r := ancient.Snapshot().Report(); r.Calls != 100 || r.FromIntended != nil && r.FromIntended.N > 0 {
		t.Errorf("calls that were due in 1970: %+v", r)
	}
	without := New("without", kernelSource(t))
	without.Stop(without.StartAt(time.Now()))
	if r := without.Snapshot().Report(); r.Tails != nil || r.FromIntended != nil || r.Calls != 1 {
		t.Errorf("%+v", r)
	}
}

// wallClock is Go's monotonic clock.
func wallClock() clock.Rated {
	c := clock.New(clock.Clock{Name: "go-monotonic", Scope: clock.ScopeMachine, UnitNs: 1}, goMonotonic)
	return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: 1, Lo: 1, Hi: 1}, AccuracyNs: 1}
}

func TestTailsAllocateNothing(t *testing.T) {
	m := New("a", kernelSource(t), WithTails(wallClock()), TraceIDs(func(context.Context) string { return "a trace" }))
	begun := time.Now()
	for range 100 { // exemplars
		m.StopContext(t.Context(), m.StartAt(begun.Add(-time.Hour)))
	}
	for name, call := range map[string]func(){
		"plain":    func() { m.Stop(m.Start()) },
		"intended": func() { m.Stop(m.StartAt(begun)) },
		"context":  func() { m.StopContext(t.Context(), m.Start()) },
	} {
		if n := testing.AllocsPerRun(1000, call); n != 0 {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}

// Counts are right however many goroutines there are, and the slowest calls are the exemplars.
func TestTailsOfManyGoroutines(t *testing.T) {
	type key struct{}
	trace := func(ctx context.Context) string { return ctx.Value(key{}).(string) }
	m := New("many", kernelSource(t), WithTails(wallClock()), TraceIDs(trace))
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			ctx := context.WithValue(t.Context(), key{}, fmt.Sprint("trace ", g))
			for i := range 500 {
				begun := time.Now()
				if g == 7 && i == 300 {
					begun = begun.Add(-time.Hour)
				}
				m.StopContext(ctx, m.StartAt(begun))
			}
		})
	}
	all.Wait()
	p := part(m)
	if p.Tails.Calls.Count() != 64*500 || p.Tails.FromIntended.Count() != 64*500 {
		t.Errorf("%d calls, %d from when they should have begun", p.Tails.Calls.Count(), p.Tails.FromIntended.Count())
	}
	if x := p.Tails.Exemplars; len(x) == 0 || len(x) > mostExemplars || !slices.IsSortedFunc(x, func(a, b Exemplar) int { return int(math.Copysign(1, b.Ns-a.Ns)) }) {
		t.Errorf("%v", x)
	}
}

func TestExemplarsAreTheSlowestOfLate(t *testing.T) {
	var e exemplars
	begun := time.Now()
	for i := range 100 {
		if ns := float64(i * 37 % 100); e.wants(ns) {
			e.keep(Exemplar{Ns: ns, Trace: strconv.Itoa(int(ns)), At: begun})
		}
	}
	if all := e.all(); len(all) != mostExemplars || all[0].Trace != "99" || all[9].Trace != "90" {
		t.Errorf("%v", all)
	}
	if e.wants(90) || !e.wants(91) {
		t.Error("a call as slow as the last is wanted, or a slower one is not")
	}
	e.keep(Exemplar{Ns: 1, At: begun.Add(2 * exemplarAge)})
	if all := e.all(); len(all) != 1 || all[0].Ns != 1 {
		t.Errorf("after two minutes: %v", all)
	}
}

// Snapshots of versions before have no tails, and stay as they are; made-up ones are refused.
func TestTailsInJSON(t *testing.T) {
	s, _ := metered(1, 1000, 1, 1, constant(1e4))
	text, _ := json.Marshal(s)
	var read Snapshot
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, read); diff != "" {
		t.Error(diff)
	}
	without := someTrial(1, 1e6)
	if text, _ := json.Marshal(without); strings.Contains(string(text), "tails") {
		t.Errorf("%s", text)
	}
	for name, change := range map[string]func(*TailCounts){
		"before the first bucket":      func(t *TailCounts) { t.Calls.First = firstBucketKey - 1 },
		"after the last bucket":        func(t *TailCounts) { t.Calls.First = firstBucketKey + sketchBuckets },
		"too many buckets":             func(t *TailCounts) { t.FromIntended = Histogram{First: firstBucketKey, Counts: make([]uint64, 2000)} },
		"negative sum":                 func(t *TailCounts) { t.Calls.SumNs = -1 },
		"negative cost":                func(t *TailCounts) { t.CostBelowNs = -1 },
		"more calls than were timed":   func(t *TailCounts) { t.FromIntended = t.Calls; t.FromIntended.Counts = []uint64{5000} },
		"more exemplars than are kept": func(t *TailCounts) { t.Exemplars = make([]Exemplar, 11) },
	} {
		bad, _ := metered(1, 1000, 1, 1, constant(1e4))
		change(bad.Parts[0].Tails)
		text, err := json.Marshal(bad)
		if err != nil || json.Unmarshal(text, &read) == nil {
			t.Errorf("%s was read (%v)", name, err)
		}
	}
}
