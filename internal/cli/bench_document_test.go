package cli_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// The documented form of a module's benchmarks.

var pairForm = object{
	"a": text, "b": text, "ratio": estimateForm.check, "as_measured?": estimateForm.check, "p_value": orNull(share),
	"outcome": oneOf("faster", "slower", "same", "undecided"),
}

var benchForm = object{
	"results": list(benchResult), "pairs": list(benchPair),
	"missing?": list(object{"package?": text, "revision?": text, "metric?": text, "why": text}.check),
}

var benchResultForm = object{
	"name": text, "package": text, "revision": holds("text", func(string) bool { return true }),
	"estimate": estimateForm.check, "wall": estimateForm.check, "cycles": estimateForm.check, "cpu": estimateForm.check,
	"basis":      oneOf("timer", "cpu-time", "bounds", ""),
	"wait_share": orNull(size), "runnable_threads": orNull(number), "gomaxprocs": count,
	"iterations": count, "corrected": count, "rejected": count, "failed?": boolean,
	"repetitions": list(object{"time_ns": number}.check),
	"metrics":     list(object{"unit": text, "value": number}.check),
	"runs":        list(benchRunForm.check), "duets?": list(benchRunForm.check),
	"verdict": verdict, "reasons": list(text),
}

var benchRunForm = object{
	"iterations": count, "traced": boolean, "timed_ns": size, "wall_ns": size, "cpu_ns": size,
	"runqueue_wait_ns": orNull(size), "involuntary_switches": count,
}

// jointForm is that of the joint bounds of a pair, and judgedForm that of one with a limit.
var (
	jointForm  = object{"lo": orNull(number), "hi": orNull(number), "false_alarms": share, "comparisons": count}
	judgedForm = jointForm.with(object{
		"limit": number, "p_beyond_limit": share, "side": oneOf("within", "beyond", "undecided"),
	})
)

// benchPair checks a pair that was judged together with others. Of these, a metric without a limit has
// no side.
func benchPair(at string, value any) []string {
	form := judgedForm
	pair, _ := value.(map[string]any)
	if joint, ok := pair["joint"].(map[string]any); ok && pair["metric"] != nil && joint["limit"] == nil && joint["side"] == nil {
		form = jointForm
	}
	return pairForm.with(object{"false_discoveries": orNull(share), "joint": form.check}).check(at, value)
}

// callsForm is that of single calls, of a benchmark of which they were timed.
var callsForm = object{
	"all": tailsForm.check, "on_cpu": tailsForm.check, "preempted": count, "blocked": count, "moved": count,
	"clock_ns": orNull(size), "step_ns": orNull(size), "verdict": verdict, "reasons": list(text),
}

// benchResult checks a benchmark, its calls if they were timed, and its GOMAXPROCS if that was set.
func benchResult(at string, value any) []string {
	form := benchResultForm
	result, _ := value.(map[string]any)
	if result["calls"] != nil {
		form = form.with(object{"calls": callsForm.check})
	}
	if result["set_gomaxprocs"] != nil {
		form = form.with(object{"set_gomaxprocs": count})
	}
	return form.check(at, value)
}

// benchDocument is the part of a document that holds benchmarks.
type benchDocument struct {
	Results []struct {
		Name     string
		Estimate struct {
			Value, Lo, Hi *float64
			N, Discarded  int
		}
		Basis       string
		Iterations  int
		Corrected   int
		Rejected    int
		Repetitions []struct {
			TimeNs float64 `json:"time_ns"`
		}
		Runs    []struct{ Iterations int }
		Verdict string
		Reasons []string
	}
	Pairs []struct {
		A, B, Outcome string
		Ratio         struct{ Value, Lo, Hi *float64 }
	}
}

// breaches lists how the fields contradict one another.
func (d benchDocument) breaches(expectation) []string {
	var all []string
	say := func(at, format string, args ...any) { all = append(all, broken(at, format, args...)...) }
	for _, r := range d.Results {
		if (r.Verdict == "trusted") != (len(r.Reasons) == 0) {
			say(r.Name, "%s for %d reasons", r.Verdict, len(r.Reasons))
		}
		// A repetition is of two runs, or of three. What is too slow for one of them is run once, and
		// unusable: beside load any benchmark may be.
		all, least := r.Estimate.N+r.Estimate.Discarded, 2
		if len(r.Runs) == 1 && r.Verdict == "unusable" {
			least = 1
		}
		if len(r.Repetitions) != r.Estimate.N || len(r.Runs) < least*r.Estimate.N {
			say(r.Name, "%d repetitions count, %d times stand there, and %d runs", r.Estimate.N, len(r.Repetitions), len(r.Runs))
		}
		if r.Rejected > r.Estimate.Discarded || len(r.Runs) < least*all || len(r.Runs) > 3*all || r.Corrected > all {
			say(r.Name, "%d repetitions count, %d don't, %d were rejected and %d corrected, of %d runs",
				r.Estimate.N, r.Estimate.Discarded, r.Rejected, r.Corrected, len(r.Runs))
		}
		if (r.Estimate.Value == nil) != (r.Basis == "") {
			say(r.Name, "it rests on %q", r.Basis)
		}
		if r.Estimate.Value == nil {
			if r.Verdict != "unusable" {
				say(r.Name, "nothing is known of it, and it is %s", r.Verdict)
			}
			continue
		}
		if lo, hi := orElse(r.Estimate.Lo, math.Inf(-1)), orElse(r.Estimate.Hi, math.Inf(1)); !(lo <= *r.Estimate.Value && *r.Estimate.Value <= hi) {
			say(r.Name, "the time lies outside of its interval")
		}
		for _, run := range r.Runs {
			if run.Iterations > r.Iterations {
				say(r.Name, "a run has %d iterations, and the longest %d", run.Iterations, r.Iterations)
			}
		}
	}
	for _, p := range d.Pairs {
		lo, hi := orElse(p.Ratio.Lo, 0), orElse(p.Ratio.Hi, math.Inf(1))
		if value := p.Ratio.Value; value != nil && !(lo <= *value && *value <= hi) {
			say(p.B, "its ratio lies outside of its interval")
		}
		if p.Outcome == "slower" && lo <= 1 || p.Outcome == "faster" && hi >= 1 {
			say(p.B, "%s than %s, at a ratio from %g to %g", p.Outcome, p.A, lo, hi)
		}
	}
	return all
}

// The checker sees what is wrong with a document of benchmarks.
func TestPlantedBenchBreaches(t *testing.T) {
	for _, c := range []struct {
		place string
		value any
		says  string
	}{
		{"results", nil, "results"},
		{"results.0.name", "", "name"},
		{"results.0.basis", "guess", "basis: guess"},
		{"results.0.basis", "", `BenchmarkFast: it rests on ""`},
		{"results.3.basis", "timer", `BenchmarkBroken: it rests on "timer"`},
		{"results.0.estimate.lo", 101.0, "BenchmarkFast: the time lies outside of its interval"},
		{"results.0.estimate.hi", 99.0, "BenchmarkFast: the time lies outside of its interval"},
		{"results.0.estimate.confidence", 0.9, "confidence"},
		{"results.0.estimate.n", 5, "BenchmarkFast: 5 repetitions count, 6 times stand there"},
		{"results.0.repetitions", []any{}, "BenchmarkFast: 6 repetitions count, 0 times stand there"},
		{"results.0.repetitions.0.time_ns", "100 ns", "time_ns"},
		{"results.0.runs", []any{}, "and 0 runs"},
		{"results.0.runs.0.iterations", 500001, "BenchmarkFast: a run has 500001 iterations, and the longest 500000"},
		{"results.0.runs.0.timed_ns", -1, "timed_ns"},
		{"results.0.runs.0.runqueue_wait_ns", nil, ""},
		{"results.0.iterations", 499999, "BenchmarkFast: a run has 500000 iterations"},
		{"results.1.estimate.discarded", 0, "6 repetitions count, 0 don't, 1 were rejected and 0 corrected, of 14 runs"},
		{"results.1.rejected", 2, "6 repetitions count, 1 don't, 2 were rejected"},
		{"results.1.rejected", 0, ""}, // traced ones may not count either
		{"results.1.rejected", 0.5, "rejected: 0.5 is no count"},
		{"results.2.corrected", 7, "7 corrected, of 12 runs"},
		{"results.2.wait_share", -0.1, "wait_share"},
		{"results.2.verdict", "trusted", "BenchmarkSleep: trusted for 1 reasons"},
		{"results.2.reasons", []any{}, "BenchmarkSleep: suspect for 0 reasons"},
		{"results.3.verdict", "suspect", "BenchmarkBroken: nothing is known of it, and it is suspect"},
		{"results.0.metrics.0.value", nil, "value"},
		{"results.0.time_ms", 3, "time_ms is no time in nanoseconds"},

		{"missing", []any{map[string]any{"package": "example.com/a"}}, "it lacks why"},
		{"missing", []any{map[string]any{"metric": "B/op", "why": "it is not reported"}}, ""},
		{"pairs", nil, "pairs"},
		{"pairs.0.outcome", "better", "outcome: better"},
		{"pairs.0.outcome", "faster", "faster than example.com/work.BenchmarkFast at HEAD, at a ratio from 1.19 to 1.21"},
		{"pairs.0.ratio.lo", 0.99, "slower than example.com/work.BenchmarkFast at HEAD, at a ratio from 0.99"},
		{"pairs.0.ratio.value", 1.3, "its ratio lies outside of its interval"},
		{"pairs.0.p_value", 2, "p_value"},
		{"pairs.0.p_value", nil, ""},
	} {
		t.Run(fmt.Sprintf("%s=%v", c.place, c.value), func(t *testing.T) {
			got := breachesOf(t, sample(t, "bench.json"), c.place, func(m map[string]any, k string) { m[k] = c.value })
			said := slices.ContainsFunc(got, func(breach string) bool { return strings.Contains(breach, c.says) })
			if c.says == "" && len(got) > 0 || c.says != "" && !said {
				t.Errorf("%q, want one that says %q", got, c.says)
			}
		})
	}
}
