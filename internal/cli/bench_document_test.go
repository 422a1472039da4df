package cli_test

import "math"

// The documented form of a module's benchmarks.

var pairForm = object{
	"a": text, "b": text, "ratio": estimateForm.check, "p_value": orNull(share),
	"outcome": oneOf("faster", "slower", "same", "undecided"),
}

var benchForm = object{
	"results": list(object{
		"name": text, "package": text, "revision": holds("text", func(string) bool { return true }),
		"estimate": estimateForm.check, "wall": estimateForm.check, "cycles": estimateForm.check, "cpu": estimateForm.check,
		"basis":      oneOf("timer", "cpu-time", "bounds", ""),
		"wait_share": orNull(size), "runnable_threads": orNull(number), "gomaxprocs": count,
		"iterations": count, "corrected": count, "rejected": count,
		"repetitions": list(object{"time_ns": number}.check),
		"metrics":     list(object{"unit": text, "value": number}.check),
		"runs": list(object{
			"iterations": count, "traced": boolean, "timed_ns": size, "wall_ns": size, "cpu_ns": size,
			"runqueue_wait_ns": orNull(size), "involuntary_switches": count,
		}.check),
		"verdict": verdict, "reasons": list(text),
	}.check),
	"pairs": list(pairForm.check),
}

// benchDocument is the part of a document that holds benchmarks.
type benchDocument struct {
	Results []struct {
		Name     string
		Estimate struct {
			Value, Lo, Hi *float64
			N             int
		}
		Iterations  int
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
		if len(r.Repetitions) != r.Estimate.N || len(r.Runs) < 2*r.Estimate.N {
			say(r.Name, "%d repetitions count, %d times stand there, and %d runs", r.Estimate.N, len(r.Repetitions), len(r.Runs))
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
		if p.Outcome == "slower" && lo <= 1 || p.Outcome == "faster" && hi >= 1 {
			say(p.B, "%s than %s, at a ratio from %g to %g", p.Outcome, p.A, lo, hi)
		}
	}
	return all
}
