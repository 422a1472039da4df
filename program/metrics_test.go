package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

// written is a metric that is all of what a program writes.
func written(name string) Metric {
	return Metric{Name: name, Unit: name, Read: func(o Output) (float64, error) {
		x, err := strconv.ParseFloat(string(o.Text), 64)
		if err != nil {
			return math.NaN(), errors.New("there is no number")
		}
		return x, nil
	}}
}

// measuredMetrics measures fake commands whose runs write these texts, one a run, and then again from the
// first one. Each run is kept from its CPU twice, for keptNs.
func measuredMetrics(t *testing.T, runs int, keptNs int64, metrics []Metric, texts ...[]string) (results []*Result) {
	return measuredAs(t, Plan{Precision: 0.01, MinRuns: runs, MaxRuns: runs, MaxTime: time.Hour}, keptNs, metrics, texts...)
}

func measuredAs(t *testing.T, plan Plan, keptNs int64, metrics []Metric, texts ...[]string) (results []*Result) {
	t.Helper()
	m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), checks: quiet.checks()}
	made := map[string]int{}
	for i := range texts {
		m.all = append(m.all, &series{command: Command{Name: strconv.Itoa(i), Metrics: metrics}})
	}
	m.run = func(_ context.Context, c Command, traced bool) (Run, error) {
		i, _ := strconv.Atoi(c.Name)
		if c.Stdout != nil {
			io.WriteString(c.Stdout, texts[i][made[c.Name]%len(texts[i])])
		}
		made[c.Name]++
		r := alternating(2, keptNs, 0)
		r.CoreHz, r.StealNs, r.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		r.MinorFaults = int64(made[c.Name])
		if traced {
			r.MaxRSSBytes = int64(1000 + made[c.Name])
		} else {
			r.Untraced, r.Unnoted = errTimeout, errTimeout
		}
		return r, nil
	}
	if err := m.measure(background); err != nil {
		t.Fatal(err)
	}
	for _, s := range m.all {
		results = append(results, conclude(s, plan, quiet, m.checks))
	}
	return results
}

// The first run is traced and does not count, so that the values are 11 to 17. Of seven values, the least
// and the greatest bound the median: each tail is 1/128, that of the next ones 8/128, above 2.5 %.
func TestMedianOfAMetric(t *testing.T) {
	texts := []string{"99", "13", "11", "17", "12", "16", "14", "15"}
	m := measuredMetrics(t, 7, 0, []Metric{written("ops/s")}, texts)[0].Metrics["ops/s"]
	if e := m.Estimate; e.Value != 14 || e.Lo != 11 || e.Hi != 17 || e.N != 7 || e.Discarded != 0 || e.Statistic != "median" || e.Unit != "ops/s" {
		t.Errorf("%+v", e)
	}
	if m.Better != "higher" || m.Verdict != stats.Trusted || len(m.Reasons) > 0 {
		t.Errorf("%+v", m)
	}
}

// What a program says of its own time holds its waits: 2 ms of 23 are 8.7 %. What the system counts does
// not.
func TestMetricsOfAProgramThatWaited(t *testing.T) {
	m := measuredMetrics(t, 7, 1*ms, append(slices.Clone(SystemMetrics), written("ops/s")), []string{"1"})[0].Metrics
	if got := m["ops/s"]; got.Verdict != stats.Suspect || !strings.Contains(strings.Join(got.Reasons, ""), "it waited for a CPU for 8.7 % of its time") {
		t.Errorf("%+v", got)
	}
	if got := m["minor_faults"]; got.Verdict != stats.Trusted {
		t.Errorf("%+v", got)
	}
}

// A run that lacks a metric is said, and is no zero.
func TestRunsThatLackAMetric(t *testing.T) {
	r := measuredMetrics(t, 8, 0, []Metric{written("n")}, []string{"1", "5", "x", "5", "", "5", "5", "5", "5"})[0]
	m := r.Metrics["n"]
	if e := m.Estimate; e.Value != 5 || e.N != 6 || e.Discarded != 2 || m.Verdict != stats.Suspect || !slices.Equal(m.Reasons, []string{"2 of 8 runs don't have it: there is no number"}) {
		t.Errorf("%+v", m)
	}
	p := NewReport(r)
	if why := p.Runs[2].Why; p.Runs[2].Metrics["n"].Known() || why == nil || *why != "n: there is no number" {
		t.Errorf("%+v", p.Runs[2])
	}
	none := measuredMetrics(t, 6, 0, []Metric{written("n")}, []string{"x"})[0].Metrics["n"]
	if !math.IsNaN(none.Estimate.Value) || none.Verdict != stats.Unusable || !slices.Equal(none.Reasons, []string{"no run has it: there is no number"}) {
		t.Errorf("%+v", none)
	}
	few := measuredMetrics(t, 2, 0, []Metric{written("n")}, []string{"1"})[0].Metrics["n"]
	if few.Verdict != stats.Suspect || !slices.Equal(few.Reasons, []string{"of 6 runs that a 95 % interval needs, there are 2"}) {
		t.Errorf("%+v", few)
	}
}

// Memory is known of traced runs alone: every second one, 1001, 1003 and so on, and these are no
// samples of the time or of other metrics.
func TestMemoryIsMeasuredInTracedRuns(t *testing.T) {
	r := measuredMetrics(t, 7, 0, SystemMetrics, []string{""})[0]
	if e := r.Metrics["max_rss_bytes"].Estimate; e.N != 7 || e.Value != 1007 || e.Unit != "bytes" {
		t.Errorf("%+v", e)
	}
	if e := r.Metrics["minor_faults"].Estimate; e.N != 7 || e.Value != 8 {
		t.Errorf("%+v", e)
	}
	if n := len(NewReport(r).Counted()); n != 7 {
		t.Errorf("%d runs count for the time, want 7", n)
	}
	without := measuredMetrics(t, 7, 0, SystemMetrics[2:3], []string{""})[0]
	if len(without.Runs) != 8 {
		t.Errorf("%d runs where memory is not asked for, want 8", len(without.Runs))
	}
}

// A program that waits, and asks to wait until some time, is traced twice before every second run is traced for its memory:
// five of six runs counted.
func TestMemoryRunsAfterTwoProbes(t *testing.T) {
	const runs = 6
	s := &series{command: Command{Name: "waits", Metrics: SystemMetrics}}
	plan := Plan{Precision: 0.01, MinRuns: runs, MaxRuns: runs, ExactRuns: true, MaxTime: time.Hour}
	m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), all: []*series{s}, checks: quiet.checks()}
	m.run = func(_ context.Context, _ Command, traced bool) (Run, error) {
		r := alternating(2, 0, 0)
		if r.TimedWaits = 1; !traced {
			r.Untraced = errTimeout
		}
		return r, nil
	}
	if err := m.measure(background); err != nil || s.probes != mostProbes || s.counted() != runs {
		t.Errorf("%v: %d probes, %d of %d runs count", err, s.probes, s.counted(), runs)
	}
}

// Of a rate less is worse. A planted 25 % is beyond a limit of 10 %, and the same is within it. What one
// side lacks is undecided.
func TestMetricsAreComparedAndGated(t *testing.T) {
	texts := [][]string{{"100", "101", "99"}, {"80", "81", "79"}, {"100", "101", "99"}, {"x"}}
	results := measuredMetrics(t, 16, 0, []Metric{written("ops/s")}, texts...)
	var all []Comparison
	for _, b := range results[1:] {
		all = append(all, Compare(results[0], b, 0.02, 1), CompareMetric(results[0], b, 0, 0.02, 1))
	}
	gate := stats.Gate{Limit: math.NaN(), Metrics: map[string]float64{"ops/s": 0.1}, FalseAlarms: stats.FalseAlarms}
	judged := Judge(all, gate)
	for i, want := range map[int]struct {
		outcome stats.Outcome
		side    stats.Side
	}{1: {stats.Slower, stats.Beyond}, 3: {stats.Same, stats.Within}, 5: {stats.Undecided, stats.Open}} {
		if p := judged[i]; p.Metric != "ops/s" || p.Outcome != want.outcome || p.Joint.Side != want.side {
			t.Errorf("%d: %+v, %+v, want %+v", i, p, p.Joint, want)
		}
		if p := judged[i-1]; p.Metric != "" || p.Joint.Side != "" {
			t.Errorf("%d: the time has no limit, and is %q", i, p.Joint.Side)
		}
	}
	if ratio := judged[1].Ratio; math.Abs(ratio.Value-1.25) > 0.04 || ratio.Lo < 1.2 || ratio.Hi > 1.3 {
		t.Errorf("%+v", ratio)
	}
	if !strings.Contains(judged[5].Why, "0 pairs") {
		t.Errorf("%q", judged[5].Why)
	}
}

// 8 % more, where every fourth value is 0, passed a limit of 5 %, as the ratio was 1.039.
func TestZerosOfAMetricAreGated(t *testing.T) {
	gate := stats.Gate{Limit: math.NaN(), Metrics: map[string]float64{"n": 0.05}, FalseAlarms: stats.FalseAlarms}
	for _, c := range []struct {
		second string
		side   stats.Side
	}{{"108", stats.Beyond}, {"100", stats.Within}} {
		results := measuredMetrics(t, 24, 0, []Metric{written("n")}, []string{"0", "100", "100", "100"}, []string{"0", c.second, c.second, c.second})
		p := Judge([]Comparison{CompareMetric(results[0], results[1], 0, 0.02, 1)}, gate)[0]
		if want := MetricsOf(results[1])["n"].Estimate.Value / 100; p.Joint.Side != c.side || math.Abs(p.Ratio.Value-want) > 1e-9 || p.Zeros != 6 {
			t.Errorf("%s: %+v, %+v", c.second, p, p.Joint)
		}
	}
	results := measuredMetrics(t, 24, 0, []Metric{written("n")}, []string{"0"}, []string{"5"})
	p := Judge([]Comparison{CompareMetric(results[0], results[1], 0, 0.02, 1)}, gate)[0]
	if p.Joint.Side != stats.Beyond || p.Outcome != stats.Slower || !math.IsNaN(p.Ratio.Value) || !math.IsNaN(p.Ratio.Hi) {
		t.Errorf("5 after 0: %+v, %+v", p, p.Joint)
	}
}

// One page fault in one of 40 runs left a limit undecided for ever, and the command ended with 1. Five in each run are found.
func TestStrayCountsAreNoChange(t *testing.T) {
	gate := stats.Gate{Limit: math.NaN(), Metrics: map[string]float64{"n": 0.05}, FalseAlarms: stats.FalseAlarms}
	count := written("n")
	count.least = leastCount
	stray := append([]string{"1"}, slices.Repeat([]string{"0"}, 39)...)
	results := measuredMetrics(t, 40, 0, []Metric{count}, stray, []string{"0"}, []string{"5"})
	for i, want := range map[int]stats.Side{1: stats.Within, 2: stats.Beyond} {
		if p := Judge([]Comparison{CompareMetric(results[0], results[i], 0, 0.02, 1)}, gate)[0]; p.Joint.Side != want {
			t.Errorf("%d: %+v, %+v", i, p, p.Joint)
		}
	}
	for _, m := range SystemMetrics {
		if isCount := m.Unit == "faults" || m.Unit == "switches"; isCount != (m.least > 0) {
			t.Errorf("%s: a count: %v, least %g", m.Name, isCount, m.least)
		}
	}
}

// Values below 0 were called missing, though all runs had them.
func TestMetricsBelowZeroHaveNoRatio(t *testing.T) {
	results := measuredMetrics(t, 12, 0, []Metric{written("n")}, []string{"-5"}, []string{"-3"}, []string{"x"})
	for i, want := range map[int]string{1: "values below 0 have no ratio", 2: "only 0 pairs of runs have it on both sides"} {
		c := CompareMetric(results[0], results[i], 0, 0.02, 1)
		if p := c.Pair(1); p.Why != want || p.Outcome != stats.Undecided {
			t.Errorf("%q, want %q: %+v", p.Why, want, p)
		}
	}
}

// Metrics of runs that failed were trusted if failures are ignored. Those of a command that failed are not compared.
func TestMetricsOfFailedRuns(t *testing.T) {
	texts := []string{"100", "101", "99"}
	results := measuredMetrics(t, 16, 0, []Metric{written("n")}, texts, texts)
	for i := range 6 {
		results[1].Runs[2+i].ExitCode = 1
	}
	got := MetricsOf(results[1])["n"]
	if got.Verdict != stats.Suspect || !slices.Equal(got.Reasons, []string{"6 of 16 runs failed, and count because failures are ignored"}) {
		t.Errorf("%+v", got)
	}
	if c := CompareMetric(results[0], results[1], 0, 0.02, 1); c.pairs.Len() == 0 {
		t.Errorf("%+v", c)
	}
	results[1].Failure = errTimeout
	if c := CompareMetric(results[0], results[1], 0, 0.02, 1); c.pairs.Len() != 0 || c.Outcome != stats.Undecided {
		t.Errorf("%+v", c)
	}
}

// An unchanged metric is called beyond a limit of 0 in at most 1 % of all suites, of four commands with
// two metrics each: 2 of 40 suites or fewer, but for a chance of 1 in 100.
func TestFalseAlarmsOfMetrics(t *testing.T) {
	alarms := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var texts [][]string
		for range 4 {
			var own []string
			for range 41 {
				own = append(own, strconv.FormatFloat(100*math.Exp(0.05*rng.NormFloat64()), 'g', 6, 64))
			}
			texts = append(texts, own)
		}
		results := measuredMetrics(t, 40, 0, []Metric{written("ops/s"), written("n")}, texts...)
		var all []Comparison
		for _, b := range results[1:] {
			for i := range 2 {
				all = append(all, CompareMetric(results[0], b, i, 0.02, 1))
			}
		}
		gate := stats.Gate{Limit: math.NaN(), Metrics: map[string]float64{"ops/s": 0, "n": 0}, FalseAlarms: stats.FalseAlarms}
		if slices.ContainsFunc(Judge(all, gate), func(p stats.Pair) bool { return p.Joint.Side == stats.Beyond }) {
			alarms++
		}
	}
	if alarms > 2 {
		t.Errorf("%d of 40 suites without a change raise an alarm", alarms)
	}
}

// The end of an output is kept, in bounded memory.
func TestOnlyTheEndOfAnOutputIsKept(t *testing.T) {
	var o outputEnd
	piece := bytes.Repeat([]byte("x"), 100_000)
	for range 100 {
		o.Write(piece)
		if cap(o.text) > 4*OutputKept {
			t.Fatalf("%d bytes are held", cap(o.text))
		}
	}
	o.Write([]byte("end"))
	if got := o.output(); !got.IsCut || len(got.Text) != OutputKept || !bytes.HasSuffix(got.Text, []byte("xend")) {
		t.Errorf("%d bytes, cut: %v", len(got.Text), got.IsCut)
	}
	whole := outputEnd{}
	whole.Write([]byte("all"))
	if got := whole.output(); got.IsCut || string(got.Text) != "all" {
		t.Errorf("%q, cut: %v", got.Text, got.IsCut)
	}
}

// Where the system counts neither page faults nor switches, their numbers are unknown, and not 0.
func TestUncounted(t *testing.T) {
	for _, uncounted := range []bool{false, true} {
		r := Run{}
		r.Uncounted = uncounted
		for _, m := range SystemMetrics {
			if strings.HasSuffix(m.Name, "_faults") || strings.HasSuffix(m.Name, "_switches") {
				if v := m.of(&r); math.IsNaN(v) != uncounted {
					t.Errorf("uncounted %v: %s is %v", uncounted, m.Name, v)
				}
			}
		}
		if d := newRunReport(r); (d.MinorFaults == nil) != uncounted || (d.VoluntarySwitches == nil) != uncounted {
			t.Errorf("uncounted %v: %+v", uncounted, d)
		}
	}
}
