package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/slowclock"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/view"

	"github.com/google/go-cmp/cmp"
)

func header(command string) record.Header {
	return record.Header{Schema: record.Schema, Command: command, Started: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Machine: &machine.Machine{}, Caveats: []string{}}
}

func estimate(value, lo, hi float64, unit string) stats.Estimate {
	return stats.Estimate{Value: value, Lo: lo, Hi: hi, Unit: unit, Statistic: "median", N: 10}
}

// programs returns a document of programs with these times, with intervals of half a percent.
func programs(times map[string]float64) record.Programs {
	d := record.Programs{Header: header("run")}
	for _, name := range []string{"a", "b", "c"} {
		if ns, ok := times[name]; ok {
			d.Results = append(d.Results, program.Report{Command: name, Summary: program.Summary{Estimate: estimate(ns, ns*0.995, ns*1.005, "ns"), Wall: estimate(2*ns, 1.99*ns, 2.01*ns, "ns")}, Judgement: stats.Judgement{Verdict: stats.Trusted}})
		}
	}
	return d
}

// rowOf returns the row of that name and quantity.
func rowOf(t *testing.T, d record.Comparison, name, quantity string) record.ComparisonRow {
	t.Helper()
	i := slices.IndexFunc(d.Rows, func(r record.ComparisonRow) bool { return r.Name == name && r.Quantity == quantity })
	if i < 0 {
		t.Fatalf("there is no %s of %s", quantity, name)
	}
	return d.Rows[i]
}

func compared2(t *testing.T, a, b record.Document) record.Comparison {
	t.Helper()
	d, err := Subjects(header("compare"), []Subject{{"A", a}, {"B", b}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The interval of a ratio contains the true ratio in at least 95 of 100 cases, whatever the two
// distributions are. It is not wider than necessary: at most as wide as the two intervals together.
func TestRatioCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	const trials = 2000
	covered := 0
	for range trials {
		a, b := math.Exp(rng.NormFloat64()*3), math.Exp(rng.NormFloat64())
		x, y := drawn(rng, a, 0.02+rng.Float64()/5), drawn(rng, a*b, 0.02+rng.Float64()/5)
		r := ratio(x, y)
		if r.Covers(b) {
			covered++
		}
		if widest := (y.Estimate.Hi / x.Estimate.Lo) / (y.Estimate.Lo / x.Estimate.Hi); r.Hi/r.Lo > widest {
			t.Fatalf("from %g to %g, wider than from bound to bound", r.Lo, r.Hi)
		}
	}
	t.Logf("covered %d of %d", covered, trials)
	if covered < 1880 {
		t.Errorf("covered %d of %d", covered, trials)
	}
	if covered > 1995 {
		t.Errorf("covered %d of %d: the intervals are too wide", covered, trials)
	}
}

// drawn returns the figure of the median of 20 log-normal samples. median is the median of their
// distribution.
func drawn(rng *rand.Rand, median, sigma float64) *view.Figure {
	samples := make([]float64, 20)
	for i := range samples {
		samples[i] = median * math.Exp(sigma*rng.NormFloat64())
	}
	slices.Sort(samples)
	e, _, err := stats.QuantileInterval(samples, 0.5, "ns")
	if err != nil {
		panic(err)
	}
	f := figureWith(view.FigureKey{Topic: view.TopicProgram, Name: "p", Quantity: view.QuantityTime}, view.Lower, e, stats.Trusted, nil)
	return &f
}

// The expected values are computed by hand: relative bounds of 10 % and 20 % on the scale of
// logarithms give sqrt(0.01 + 0.04). The upper bound of a ratio depends on the lower bound of the
// denominator.
func TestRatioByHand(t *testing.T) {
	of := func(value, below, above float64) *view.Figure {
		f := figureWith(view.FigureKey{}, view.Lower, estimate(value, value*math.Exp(-below), value*math.Exp(above), "ns"), stats.Trusted, nil)
		return &f
	}
	r := ratio(of(100, 0.1, 0.3), of(200, 0.4, 0.2))
	for _, c := range []struct{ got, want float64 }{
		{r.Value, 2}, {r.Lo, 2 * math.Exp(-math.Sqrt(0.09+0.16))}, {r.Hi, 2 * math.Exp(math.Sqrt(0.01+0.04))},
	} {
		if math.Abs(c.got/c.want-1) > 1e-12 {
			t.Errorf("%g, want %g", c.got, c.want)
		}
	}
	bare := of(100, math.NaN(), math.NaN())
	if r := ratio(bare, of(50, 0.1, 0.1)); r.Value != 0.5 || !math.IsNaN(r.Lo) || !math.IsNaN(r.Hi) {
		t.Errorf("without an interval: %+v", r)
	}
	for _, zero := range []float64{0, -1} {
		if r := ratio(of(zero, 0, 0), of(5, 0.1, 0.1)); !math.IsNaN(r.Value) {
			t.Errorf("over %g: %+v", zero, r)
		}
	}
	if r := ratio(of(0, 0, 0), of(0, 0, 0)); r.Value != 1 {
		t.Errorf("0 and 0: %+v", r)
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		b    float64
		want string
	}{{90, Faster}, {100, Same}, {100.1, Same}, {100.6, Undecided}, {101, Slower}, {110, Slower}} {
		d := compared2(t, programs(map[string]float64{"a": 100}), programs(map[string]float64{"a": c.b}))
		r := rowOf(t, d, "a", view.QuantityTime)
		if r.Outcome != c.want || math.Abs(r.Change.Value-c.b/100) > 1e-12 {
			t.Errorf("from 100 to %g: %s, %g, want %s", c.b, r.Outcome, r.Change.Value, c.want)
		}
	}
}

// 1,000 ns on a CPU with 1 GHz are better than 700 ns on one with 2 GHz: they are 1,000 and 1,400
// cycles (Kuperberg 2011a, section 1).
func TestCyclesDecideBetweenMachines(t *testing.T) {
	of := func(accuracyNs, cyclesPerNs float64) record.Clocks {
		cycles, costCycles := accuracyNs*cyclesPerNs, 50*cyclesPerNs
		return record.Clocks{Header: header("clocks"), Ranking: timermeter.Ranking{Clocks: []timermeter.Rating{{
			Name: "monotonic", Runtime: "go", Kind: clock.KindWall, Accuracy: estimate(accuracyNs, accuracyNs*0.99, accuracyNs*1.01, "ns"),
			Cost: timermeter.Cost{MedianNs: stats.FloatOf(50)}, Cycles: timermeter.Cycles{Accuracy: stats.FloatOf(cycles), Cost: stats.FloatOf(costCycles)},
			Spread: stats.FloatOf(1), Quality: stats.FloatOf(math.Pow(cycles*costCycles, -0.1)), Judgement: stats.NewJudgement(),
		}}}}
	}
	d := compared2(t, of(1000, 1), of(700, 2))
	for quantity, want := range map[string]struct {
		ratio   float64
		outcome string
	}{
		"accuracy": {0.7, Better}, "accuracy in cycles": {1.4, Undecided}, "quality": {math.Pow(1.4*2, -0.1), Undecided},
		"cost": {1, Same}, "spread": {1, Same}, "cost in cycles": {2, Undecided},
	} {
		r := rowOf(t, d, "monotonic", quantity)
		if r.Outcome != want.outcome || math.Abs(r.Change.Value/want.ratio-1) > 1e-12 {
			t.Errorf("%s: %s, %g, want %s, %g", quantity, r.Outcome, r.Change.Value, want.outcome, want.ratio)
		}
	}
}

// ranking returns a document of clocks with these qualities.
func ranking(qualities map[string]float64) record.Clocks {
	d := record.Clocks{Header: header("clocks")}
	for name, q := range qualities {
		d.Clocks = append(d.Clocks, timermeter.Rating{Name: name, Kind: clock.KindWall, Accuracy: estimate(math.NaN(), math.NaN(), math.NaN(), "ns"), Quality: stats.FloatOf(q), Judgement: stats.NewJudgement()})
	}
	return d
}

// A rank has changed if clocks changed places by more than their repeatability, and not if they are
// tied. Clocks of only one subject have no rank.
func TestRanks(t *testing.T) {
	d := compared2(t,
		ranking(map[string]float64{"a": 0.5, "b": 0.4, "c": 0.30, "d": 0.30, "e": 0.1, "f": 0.2, "g": 0.195, "only here": 0.9}),
		ranking(map[string]float64{"a": 0.4, "b": 0.5, "c": 0.29, "d": 0.30, "e": 0.2, "f": 0.19, "g": 0.21, "only there": 0.9}))
	type want struct {
		first, second float64
		outcome       string
		reasons       string
	}
	got := map[string]want{}
	for _, r := range d.Rows {
		if r.Quantity == "rank" {
			got[r.Name] = want{r.Values[0].Estimate.Value, r.Values[1].Estimate.Value, r.Outcome, strings.Join(r.Changes[0].Reasons, "; ")}
		}
	}
	if diff := cmp.Diff(map[string]want{
		"a": {1, 2, Changed, "fell behind b"}, "b": {2, 1, Changed, "overtook a"},
		"c": {3, 4, Same, ""}, "d": {3, 3, Same, ""}, "e": {7, 6, Same, ""},
		"f": {5, 7, Same, ""}, "g": {6, 5, Same, ""}, // tied in the first subject
	}, got, cmp.AllowUnexported(want{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The order is that of the qualities in the first subject.
	var names []string
	for _, r := range d.Rows {
		if r.Quantity == "quality" && r.Values[0] != nil && r.Values[1] != nil {
			names = append(names, r.Name)
		}
	}
	if names[0] != "a" || names[1] != "b" || names[6] != "e" {
		t.Errorf("in the order %q", names)
	}
}

func TestIncomparable(t *testing.T) {
	a, b := programs(map[string]float64{"a": 100, "b": 100}), programs(map[string]float64{"a": 300, "b": 300, "c": 1})
	a.Results[0].Estimate.Unit, a.Results[0].Wall.Unit = "cycles", "cycles"
	b.Results[1].Verdict, b.Results[1].Reasons = stats.Unusable, []string{"it failed"}
	d := compared2(t, a, b)
	for name, reason := range map[string]string{"a": `units differ: "cycles" and "ns"`, "b": "the other is unusable: it failed"} {
		r := rowOf(t, d, name, view.QuantityTime)
		if r.Outcome != Incomparable || r.Change != nil || !slices.Contains(r.Changes[0].Reasons, reason) {
			t.Errorf("%s: %s, %v, %q", name, r.Outcome, r.Change, r.Changes[0].Reasons)
		}
	}
	if r := rowOf(t, d, "c", view.QuantityTime); r.Values[0] != nil || r.Values[1] == nil || r.Outcome != "" || r.Changes[0] != nil {
		t.Errorf("of one alone: %+v", r)
	}
}

// Events of different lengths are different work, whatever their times.
func TestEventsOfOtherLengths(t *testing.T) {
	event := func(asked, took float64) record.SlowClock {
		return record.SlowClock{Header: header("slowclock"), EventNs: asked, Estimates: []slowclock.Result{
			{Method: "counter", Clock: "tick", Estimate: estimate(took, took*0.99, took*1.01, "ns"), Judgement: stats.NewJudgement()},
		}}
	}
	for _, c := range []struct {
		b       record.SlowClock
		outcome string
		reasons []string
	}{
		{event(10e3, 20e3), Slower, []string{}},
		{event(20e3, 10e3), Incomparable, []string{"they were measured under different conditions: an event of 10µs, and an event of 20µs"}},
	} {
		change := rowOf(t, compared2(t, event(10e3, 10e3), c.b), "counter with tick", view.QuantityTime).Changes[0]
		if change.Outcome != c.outcome || !slices.Equal(change.Reasons, c.reasons) {
			t.Errorf("%+v, want %s for %q", change, c.outcome, c.reasons)
		}
	}
}

func TestMismatch(t *testing.T) {
	_, err := Subjects(header("compare"), []Subject{{"A", programs(map[string]float64{"a": 1})}, {"B", ranking(map[string]float64{"x": 0.5})}})
	var mismatch *MismatchError
	if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "A holds figures of program and B holds figures of clock") {
		t.Errorf("%v", err)
	}
	if _, err := Subjects(header("compare"), []Subject{{"A", record.Doctor{Header: header("doctor")}}, {"B", record.Doctor{Header: header("doctor")}}}); err == nil || !strings.Contains(err.Error(), "no figures") {
		t.Errorf("%v", err)
	}
}

// If a subject has only wall times, wall times are compared, and a caveat says so; otherwise the
// times without other programs are compared.
func TestWallTimesStandIn(t *testing.T) {
	a, b := programs(map[string]float64{"a": 100}), programs(map[string]float64{"a": 110})
	if d := compared2(t, a, b); len(d.Rows) != 1 || d.Rows[0].Quantity != view.QuantityTime {
		t.Errorf("%+v", d.Rows)
	}
	b.Results[0].Estimate = estimate(math.NaN(), math.NaN(), math.NaN(), "ns")
	d := compared2(t, a, b)
	if len(d.Rows) != 1 || d.Rows[0].Quantity != view.QuantityWall || math.Abs(d.Rows[0].Change.Value-1.1) > 1e-12 {
		t.Fatalf("%+v", d.Rows)
	}
	if reasons := d.Rows[0].Changes[0].Reasons; len(reasons) != 1 || !strings.Contains(reasons[0], "wall times") {
		t.Errorf("%q", reasons)
	}
}

// A quantity with an empty name has no stand-in.
func TestNamelessMetrics(t *testing.T) {
	b := record.Bench{Header: header("bench"), Results: []gobench.Report{{Benchmark: gobench.Benchmark{Name: "BenchmarkX"}, Summary: gobench.Summary{Estimate: estimate(5, 4, 6, "ns"), Metrics: []gobench.Metric{{Unit: "", Value: 1}}}, Judgement: stats.Judgement{Verdict: stats.Trusted}}}}
	if d := compared2(t, b, b); len(d.Rows) != 2 {
		t.Errorf("%+v", d.Rows)
	}
}

// A benchmark that ran with one processor and with eight is compared with the same benchmark at the
// same number of processors.
func TestBenchmarksOnSeveralProcs(t *testing.T) {
	of := func(ns map[int]float64, order ...int) record.Bench {
		d := record.Bench{Header: header("bench")}
		for _, procs := range order {
			d.Results = append(d.Results, gobench.Report{Benchmark: gobench.Benchmark{Name: "BenchmarkX"}, Summary: gobench.Summary{Procs: procs, Estimate: estimate(ns[procs], ns[procs]*0.99, ns[procs]*1.01, "ns")}, Judgement: stats.Judgement{Verdict: stats.Trusted}})
		}
		return d
	}
	d := compared2(t, of(map[int]float64{1: 80, 8: 10}, 1, 8), of(map[int]float64{1: 160, 8: 10}, 8, 1))
	for name, want := range map[string]float64{"X": 2, "X-8": 1} {
		if r := rowOf(t, d, name, view.QuantityTime); r.Change == nil || r.Change.Value != want {
			t.Errorf("%s: %+v, want %g", name, r.Change, want)
		}
	}
	d = compared2(t, of(map[int]float64{4: 10}, 4), of(map[int]float64{8: 20}, 8))
	if r := rowOf(t, d, "X", view.QuantityTime); r.Change == nil || r.Change.Value != 2 {
		t.Errorf("of two machines: %+v", r.Change)
	}
}

// If a trace does not say how much time was lost, no figure claims that nothing was.
func TestNoiseThatIsNotKnown(t *testing.T) {
	known, unknown := activity.Analysis{DurationNs: 1e9, ActiveRatio: stats.FloatOf(0.5)}, activity.Analysis{DurationNs: 1e9}
	d := compared2(t, record.Activity{Header: header("activity"), Traces: []activity.Analysis{known}}, record.Activity{Header: header("activity"), Traces: []activity.Analysis{unknown, known}})
	if r := rowOf(t, d, "all", "time lost"); r.Values[1].Estimate.Value != 0.5 {
		t.Errorf("%+v", r.Values[1])
	}
}

// The p-value comes from the runs: for three runs against three slower ones it is 2 in 20, by
// enumeration.
func TestProbability(t *testing.T) {
	withRuns := func(ns ...float64) record.Programs {
		d := programs(map[string]float64{"a": ns[0]})
		for _, x := range ns {
			d.Results[0].Runs = append(d.Results[0].Runs, program.RunReport{WallNs: 2 * x, LowNs: stats.FloatOf(x), HighNs: stats.FloatOf(x)})
		}
		return d
	}
	d := compared2(t, withRuns(1, 2, 3), withRuns(11, 12, 13))
	if p := d.Rows[0].Changes[0].PValue; !p.Known() || math.Abs(p.Value()-0.1) > 1e-12 {
		t.Errorf("%v, want 0.1", p)
	}
}

// Each of several subjects is compared with the first; the row's change is that of the last.
func TestSeveral(t *testing.T) {
	var subjects []Subject
	for i, ns := range []float64{100, 50, 200, 400} {
		subjects = append(subjects, Subject{fmt.Sprint(i), programs(map[string]float64{"a": ns})})
	}
	d, err := Subjects(header("compare"), subjects)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Rows[0]
	var ratios []float64
	for _, c := range r.Changes {
		ratios = append(ratios, c.Ratio.Value)
	}
	if diff := cmp.Diff([]float64{0.5, 2, 4}, ratios); diff != "" || r.Change.Value != 4 || r.Outcome != Slower {
		t.Errorf("%s, %g, %s", diff, r.Change.Value, r.Outcome)
	}
}

// The documents' caveats are in the comparison; a caveat of several documents is there once.
func TestCaveats(t *testing.T) {
	a, b := programs(map[string]float64{"a": 1}), programs(map[string]float64{"a": 1})
	a.Caveats, b.Caveats, b.Interrupted = []string{"it rained", "it hailed", "it hailed"}, []string{"it rained"}, true
	got := compared2(t, a, b).Caveats
	for _, want := range []string{"A, B: it rained", "A: it hailed", "B was interrupted: what it lacks was not measured"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

// Two quick rankings of an unchanged machine, 25 s apart, were once reported as a regression: a
// quality of 39.7 and then 13.1 %, the ratio's interval 0.29 to 0.37. The interval of one ranking
// says nothing about the next.
func TestOneRankingShowsNoRegression(t *testing.T) {
	figureOf := func(quantity string, value, off float64) *view.Figure {
		f := figureWith(view.FigureKey{Topic: view.TopicClock, Name: "tsc", Quantity: quantity}, view.Higher, estimate(value, math.NaN(), math.NaN(), "share"), stats.Trusted, nil)
		f.Repeatability = off
		return &f
	}
	for _, c := range []struct {
		a, b *view.Figure
		want string
	}{
		{figureOf("quality", 0.397, 0.015), figureOf("quality", 0.131, 0.015), Undecided},
		{figureOf("quality", 0.131, 0.015), figureOf("quality", 0.397, 0.015), Undecided},
		{figureOf("quality", 0.397, 0.015), figureOf("quality", 0.395, 0.015), Same},
		{figureOf("cost", 20, 0.1), figureOf("cost", 40, 0.1), Undecided},
	} {
		got := changeOf(c.a, c.b, scatter{}, 20)
		if got.Outcome != c.want || c.want == Undecided && (!math.IsNaN(got.Ratio.Hi) || len(got.Reasons) == 0) {
			t.Errorf("%g and then %g: %+v, want %s", c.a.Estimate.Value, c.b.Estimate.Value, got, c.want)
		}
	}
}

// figureWith returns a figure of an estimate.
func figureWith(k view.FigureKey, better string, e stats.Estimate, v stats.Verdict, reasons []string) view.Figure {
	return view.Figure{FigureKey: k, Better: better, Repeatability: math.NaN(), ComparisonValue: record.ComparisonValue{Estimate: e, Verdict: v, Reasons: append([]string{}, reasons...)}}
}
