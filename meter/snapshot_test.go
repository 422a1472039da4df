package meter

import (
	"encoding/json"
	"expvar"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chronoscope/clock"
	"chronoscope/stats"
)

var almost = cmpopts.EquateApprox(1e-9, 0)

func someTrial(seed uint64, tickNs float64) Snapshot {
	c := trial{kind: varied, tickNs: tickNs, meanNs: 2e4, share: 0.3, workers: 2, oneIn: 1, edges: 60, call: exponential(2e4)}
	return c.run(seed)
}

func merge(t *testing.T, all ...Snapshot) Snapshot {
	t.Helper()
	sum := all[0]
	for _, s := range all[1:] {
		var err error
		if sum, err = Merge(sum, s); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// What is counted in whole numbers adds up exactly, in any order and by way of JSON.
func TestMergedMetersAddUp(t *testing.T) {
	a, b, c := someTrial(1, 1e6), someTrial(2, 1e6), someTrial(3, 1e6)
	before, _ := json.Marshal(a)
	abc := merge(t, a, b, c)
	if diff := cmp.Diff(abc, merge(t, c, merge(t, b, a)), almost); diff != "" {
		t.Errorf("another order: %s", diff)
	}
	if after, _ := json.Marshal(a); string(before) != string(after) {
		t.Error("merging wrote into a snapshot")
	}
	var ticks, phases uint64
	for _, s := range []Snapshot{a, b, c} {
		ticks += s.Parts[0].Ticks
		for _, n := range s.Parts[0].Phases.Bins {
			phases += n
		}
	}
	for _, n := range abc.Parts[0].Phases.Bins {
		phases -= n
	}
	if len(abc.Parts) != 1 || abc.Parts[0].Ticks != ticks || phases != 0 {
		t.Errorf("%d parts, %d ticks of %d, phases off by %d", len(abc.Parts), abc.Parts[0].Ticks, ticks, phases)
	}
	text, err := json.Marshal(abc)
	var read Snapshot
	if err != nil || json.Unmarshal(text, &read) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if diff := cmp.Diff(abc, read); diff != "" {
		t.Errorf("by way of JSON: %s", diff)
	}
}

// A fleet's mean has the fleet's precision, and machines with different ticks count too.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const cases, machines = 200, 12
	var s stratum
	for seed := range uint64(cases) {
		var fleet []Snapshot
		for i := range uint64(machines) {
			fleet = append(fleet, someTrial(seed*machines+i, []float64{1e6, 4e6, 1e7}[i%3]))
		}
		all := merge(t, fleet...)
		if len(all.Parts) != 3 {
			t.Fatalf("%d parts for 3 lengths of the tick", len(all.Parts))
		}
		r, one := all.Report(), fleet[0].Report()
		s.take(r, 2e4)
		if r.Mean.HalfWidth() > one.Mean.HalfWidth() {
			t.Errorf("the fleet's interval of %.0f ns is wider than one machine's of %.0f", r.Mean.HalfWidth(), one.Mean.HalfWidth())
		}
	}
	if s.covered < 184 || s.covered > 198 {
		t.Error(&s)
	}
}

func TestDifferentMetersDontMerge(t *testing.T) {
	if _, err := Merge(Snapshot{Name: "a"}, Snapshot{Name: "b"}); err == nil {
		t.Error("merged")
	}
}

func TestSumsThatDoNotFitSaySo(t *testing.T) {
	huge := Snapshot{Name: "x", Parts: []Part{{Clock: "c", TickNs: 1, Calls: math.MaxUint64 - 1, Measured: math.MaxUint64 - 1, Edges: 3, Ticks: 3, Squares: 3}}}
	if m := merge(t, huge, huge).Report().Mean; !math.IsNaN(m.Value) || !math.IsNaN(m.Hi) {
		t.Errorf("%+v", m)
	}
}

func TestSnapshotsFromElsewhere(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{`, "another form": `{"schema":"chronoscope/meter/v2","name":"x"}`, "no form": `{"name":"x"}`,
		"no tick":          `{"schema":"chronoscope/meter/v1","parts":[{"calls":1}]}`,
		"more than all":    `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"calls":1,"measured":2}]}`,
		"few bins":         `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"phases":{"bins":[1,2]}}]}`,
		"impossible sums":  `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"calls":9,"measured":9,"edges":3,"ticks":2,"squares":2}]}`,
		"negative squares": `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"groups":{"count":40,"ticks_squared":-1}}]}`,
		"negative batches": `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"batches":{"count":40,"calls_squared":-1}}]}`,
		"other lengths":    `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"calls":9,"measured":9,"lengths":[1,2,3]}]}`,
		"negative numbers": `{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"calls":-1}]}`,
	} {
		var s Snapshot
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

func TestMeterIsAnExpvar(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	for range 50 {
		c.call(m, 1)
	}
	var v expvar.Var = m
	var read struct {
		Mean     stats.Estimate
		TickBias stats.Estimate `json:"tick_bias"`
		Verdict  stats.Verdict
		Caveats  []string
		Snapshot Snapshot
	}
	if err := json.Unmarshal([]byte(v.String()), &read); err != nil {
		t.Fatalf("%v: %s", err, v)
	}
	if read.Mean.Value != 1e6 || read.TickBias.Hi != 15e3 || read.Snapshot.Parts[0].Ticks != 50 || !strings.Contains(strings.Join(read.Caveats, " "), "the test moves it") {
		t.Errorf("%+v", read)
	}
	if !json.Valid([]byte(c.meter(t).String())) {
		t.Error("a meter without calls is no JSON")
	}
}

// Each call is timed by a fine clock: mean and quantiles against those of the calls.
func TestDistribution(t *testing.T) {
	w := newWorld(5, 1e6)
	c := clock.New(clock.Clock{Name: "fine", Scope: clock.ScopeMachine}, func() int64 { return int64(w.nowNs * 2.5) })
	source, err := Counter(clock.Rated{Clock: c, TickNs: stats.Estimate{Value: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	source.costNs = &stats.Estimate{Unit: "ns"}
	m := New("fine", source)
	w.run(m, 20_000, &worker{call: exponential(1e5), pause: exponential(1e5)})
	if r := m.Snapshot().Report(); r.Verdict != stats.Trusted || !r.Mean.Covers(1e5) || r.Mean.HalfWidth() > 2000 {
		t.Errorf("%+v", r)
	}
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99} {
		want := -1e5 * math.Log(1-q)
		lo, hi, ok := part(m).Quantile(q)
		if !ok || lo > want*1.1 || hi < want*0.9 || hi > lo*(1+1.0/16)+1 {
			t.Errorf("quantile %g: %.0f to %.0f, want about %.0f", q, lo, hi, want)
		}
	}
	c2 := &byHand{}
	if _, _, ok := part(c2.meter(t)).Quantile(0.5); ok {
		t.Error("a coarse clock told a quantile")
	}
}

func TestBuckets(t *testing.T) {
	for _, ticks := range []uint64{0, 1, 15, 16, 31, 32, 33, 63, 64, 1000, 1<<20 + 12345, 1<<44 - 1} {
		from, to := bucketFrom(bucketOf(ticks))
		if ticks < from || ticks >= to || float64(to-from) > float64(ticks)/16+1 {
			t.Errorf("%d is in the bucket from %d to %d", ticks, from, to)
		}
	}
	if bucketOf(math.MaxUint64) != buckets-1 {
		t.Error("the longest has no bucket")
	}
}

func TestCostsAddUp(t *testing.T) {
	one := Snapshot{Name: "x", Parts: []Part{{Clock: "c", TickNs: 1e6, CostNs: 5, CostLoNs: 4, CostHiNs: 7, ElapsedNs: 3, ElapsedTicks: 2, Faults: Faults{1, 2, 3, 4, 5}}}}
	got := merge(t, one, one).Parts[0]
	want := Part{Clock: "c", TickNs: 1e6, CostNs: 10, CostLoNs: 8, CostHiNs: 14, ElapsedNs: 6, ElapsedTicks: 4, Faults: Faults{2, 4, 6, 8, 10}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A snapshot that is taken while calls end holds nothing that no meter counts.
func TestSnapshotsMeanwhileAreSound(t *testing.T) {
	w := newWorld(1, 1e6)
	source := w.source()
	var reading int64
	source.clock = clock.New(clock.Clock{Name: "steps"}, func() int64 { reading += 1e6; return reading })
	source.fine = func() int64 { return reading }
	m := New("busy", source)
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(done)
		for range 300_000 {
			m.Stop(m.Start())
		}
	})
	for n := 0; ; n++ {
		select {
		case <-done:
			all.Wait()
			return
		default:
		}
		p := Part{TickNs: 1e6}
		s := m.shards.sum()
		p.Calls, p.Measured, p.Edges, p.Ticks, p.Squares = s.measured, s.measured, s.edges, s.ticks, s.squares
		if fault := p.impossible(); fault != "" {
			t.Fatalf("snapshot %d: %s", n, fault)
		}
	}
}

// Calls of which none was measured have no mean, and take nothing from that of others.
func TestUnmeasuredCalls(t *testing.T) {
	none := Snapshot{Name: "x", Parts: []Part{{Clock: "a", TickNs: 1e6, Calls: 9}}}
	if r := none.Report(); !math.IsNaN(r.Mean.Value) || !math.IsNaN(r.Mean.Hi) || r.Verdict != stats.Unusable {
		t.Errorf("%+v", r)
	}
	some := Snapshot{Name: "x", Parts: []Part{{Clock: "b", TickNs: 1e6, Calls: 100, Measured: 100, Edges: 20, Ticks: 20, Squares: 20}}}
	if r := merge(t, some, none).Report(); r.Mean.Value != 2e5 || r.Total.Value != 2e5*109 {
		t.Errorf("%+v", r)
	}
}

// A machine that measures one call in 10 counts by all its calls.
func TestDifferentShares(t *testing.T) {
	all := Snapshot{Name: "x", Parts: []Part{{Clock: "c", TickNs: 1e6, OneIn: 1, Calls: 100, Measured: 100, Edges: 10, Ticks: 10, Squares: 10}}}
	tenth := Snapshot{Name: "x", Parts: []Part{{Clock: "c", TickNs: 1e6, OneIn: 10, Calls: 300, Measured: 30, Edges: 15, Ticks: 15, Squares: 15}}}
	// 100 calls of 0.1 ms and 300 of 0.5 ms.
	if r := merge(t, all, tenth).Report(); r.Mean.Value != 4e5 || r.Total.Value != 1.6e8 {
		t.Errorf("%+v", r)
	}
}

// Sums without a mean are not trusted.
func TestSumsWithoutMean(t *testing.T) {
	for name, p := range map[string]Part{
		"did not fit":    {Clock: "c", TickNs: 1e6, Calls: 100, Measured: 100, Edges: 20, Ticks: 20, Squares: math.MaxUint64},
		"contradictory":  {Clock: "c", TickNs: 1e6, Calls: 1, Measured: 1, Edges: 1, Ticks: 20, Squares: 20},
		"one timed call": {Clock: "c", TickNs: 1, Calls: 1, Measured: 1, Edges: 1, Ticks: 20, Lengths: make([]uint64, 21)},
		"infinite":       {Clock: "c", TickNs: math.MaxFloat64, Calls: 100, Measured: 100, Edges: 20, Ticks: 200, Squares: 2000},
	} {
		if r := (Snapshot{Parts: []Part{p}}).Report(); r.Verdict != stats.Unusable {
			t.Errorf("%s: %s, %+v", name, r.Verdict, r.Mean)
		}
	}
	var s Snapshot
	if json.Unmarshal([]byte(`{"schema":"chronoscope/meter/v1","parts":[{"tick_ns":1,"cost_ns":-1}]}`), &s) == nil {
		t.Error("a negative cost was read")
	}
}

// A meter of a fine clock that has timed nothing yet adds up with its like, by way of
// JSON as well.
func TestEmptyDistributionByWayOfJSON(t *testing.T) {
	c := clock.New(clock.Clock{Name: "fine", Scope: clock.ScopeMachine}, func() int64 { return 7 })
	source, err := Counter(clock.Rated{Clock: c, TickNs: stats.Estimate{Value: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	source.costNs = &stats.Estimate{Unit: "ns"}
	idle, used := New("m", source), New("m", source)
	used.Stop(used.Start())
	text, err := json.Marshal(idle.Snapshot())
	var read Snapshot
	if err != nil || json.Unmarshal(text, &read) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if both := merge(t, read, used.Snapshot()); len(both.Parts) != 1 {
		t.Errorf("%d parts of one clock", len(both.Parts))
	}
}
