package benchmark

import (
	"math"
	"testing"

	"chronoscope/kbest"
	"chronoscope/stats"
)

// Each verdict has its number, and a figure that could not be had is no metric: it
// would not be read as one.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		e       stats.Estimate
		verdict stats.Verdict
		want    map[string]float64
	}{
		{stats.Estimate{Value: 10, Lo: 9, Hi: 12}, stats.Trusted, map[string]float64{NsUnit: 10, HalfWidthUnit: 1.5, VerdictUnit: 0}},
		{stats.Estimate{Value: 10, Lo: 9, Hi: 12}, stats.Suspect, map[string]float64{NsUnit: 10, HalfWidthUnit: 1.5, VerdictUnit: 1}},
		{stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}, stats.Unusable, map[string]float64{VerdictUnit: 2}},
		{stats.Estimate{Value: math.NaN(), Lo: 9, Hi: 12}, stats.Unusable, map[string]float64{VerdictUnit: 2}},
		{stats.Estimate{Value: 10, Lo: math.Inf(-1), Hi: 12}, stats.Unusable, map[string]float64{VerdictUnit: 2}},
	} {
		got := map[string]float64{}
		report(func(v float64, unit string) { got[unit] = v }, &kbest.Result{Estimate: c.e, Judgement: stats.Judgement{Verdict: c.verdict}})
		if len(got) != len(c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
		for unit, v := range c.want {
			if got[unit] != v {
				t.Errorf("%s is %v, want %v", unit, got[unit], v)
			}
		}
	}
}

// In a real benchmark all metrics are there.
func TestRun(t *testing.T) {
	plan := kbest.DefaultPlan
	plan.MaxTrials = 16
	r := testing.Benchmark(func(b *testing.B) { Run(b, func() { kbest.Keep(1) }, kbest.WithPlan(plan)) })
	if _, ok := r.Extra[VerdictUnit]; !ok || r.N < 1 {
		t.Errorf("%v", r)
	}
}

// A percentile that the calls can't carry is no metric, and unusable calls have none.
func TestReportCalls(t *testing.T) {
	of := func(n int, verdict stats.Verdict) map[string]float64 {
		var durations []float64
		for i := range n {
			durations = append(durations, float64(i+1))
		}
		got := map[string]float64{}
		tails := stats.TailsOf(durations)
		reportCalls(func(v float64, unit string) { got[unit] = v }, &kbest.Calls{All: tails, Undisturbed: tails, Judgement: stats.Judgement{Verdict: verdict}})
		return got
	}
	for _, c := range []struct {
		got  map[string]float64
		want []string
	}{
		{of(4000, stats.Trusted), []string{VerdictUnit, "kbest-p50-ns", "kbest-p90-ns", "kbest-p99-ns", "kbest-p99.9-ns", "kbest-worst-ns"}},
		{of(400, stats.Suspect), []string{VerdictUnit, "kbest-p50-ns", "kbest-p90-ns", "kbest-p99-ns", "kbest-worst-ns"}},
		{of(400, stats.Unusable), []string{VerdictUnit}},
	} {
		if len(c.got) != len(c.want) {
			t.Errorf("%v, want %q", c.got, c.want)
		}
		for _, unit := range c.want {
			if _, ok := c.got[unit]; !ok {
				t.Errorf("%v lacks %s", c.got, unit)
			}
		}
	}
}

// In a real benchmark each metric that 400 calls carry is there, or the calls are unusable.
func TestCalls(t *testing.T) {
	r := testing.Benchmark(func(b *testing.B) { Calls(b, func() { kbest.Keep(1) }, kbest.CallsPlan{Calls: 400}) })
	if v, ok := r.Extra[VerdictUnit]; !ok || v < 2 && r.Extra["kbest-p99-ns"] == 0 {
		t.Errorf("%v", r)
	}
}

func BenchmarkFill(b *testing.B) {
	data := make([]byte, 1<<10)
	Run(b, func() {
		for i := range data {
			data[i] = byte(i)
		}
	})
}
