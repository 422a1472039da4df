package cli_test

import (
	"fmt"
	"math"
)

// This file has the documented form of sandwiches and checks.

var verdict = oneOf("trusted", "suspect", "unusable")

var trustForm = object{
	"sandwiches": list(object{
		"counter": text, "reference": text, "independent": boolean, "workload": text,
		"samples": list(object{
			"requested_ns": size, "reference_ns": size, "counter_ticks": number, "counter_ns": orNull(number),
		}.check),
		"count": count, "migrations": count,
		"rate_hz": estimateForm.check, "max_error_ppm": orNull(size), "max_error_ns": orNull(size), "permitted_error_ns": orNull(size),
		"faults":  list(object{"kind": text, "size": orNull(number), "unit": oneOf("ns", "ppm", "times", "")}.check),
		"verdict": verdict, "reasons": list(text), "verdict_means": text,
	}.check),
	"checks": list(object{
		"clock": text, "check": text, "worst_ns": orNull(size), "estimate": orNull(estimateForm.check),
		"notes": list(text), "verdict": verdict, "reasons": list(text),
	}.check),
}

// trustDocument is the part of a document that says whether counters can be trusted.
type trustDocument struct {
	Sandwiches []struct {
		Counter, Reference, Workload string
		Count, Migrations            int
		Samples                      []struct {
			ReferenceNs  float64 `json:"reference_ns"`
			CounterTicks float64 `json:"counter_ticks"`
		}
		Rate        struct{ Value *float64 } `json:"rate_hz"`
		MaxErrorPPM *float64                 `json:"max_error_ppm"`
		Faults      []struct{ Kind string }
		Verdict     string
		Reasons     []string
	}
	Checks []struct {
		Clock, Check, Verdict string
		Reasons               []string
	}
}

// breaches lists contradictions between fields.
func (d trustDocument) breaches(expectation) []string {
	var all []string
	say := func(at, format string, args ...any) { all = append(all, broken(at, format, args...)...) }
	for _, s := range d.Sandwiches {
		if (s.Verdict == "trusted") != (len(s.Reasons) == 0) {
			say(s.Workload, "%s for %d reasons", s.Verdict, len(s.Reasons))
		}
		if s.Verdict == "trusted" && len(s.Faults) > 0 {
			say(s.Workload, "trusted with %d faults", len(s.Faults))
		}
		if s.Counter == s.Reference {
			say(s.Workload, "%s is compared with itself", s.Counter)
		}
		if len(s.Samples) != s.Count || s.Migrations > s.Count {
			say(s.Workload, "%d samples, %d moved, and a count of %d", len(s.Samples), s.Migrations, s.Count)
		}
		if s.Rate.Value == nil || s.MaxErrorPPM == nil {
			continue
		}
		worst := 0.0
		for _, p := range s.Samples {
			worst = math.Max(worst, math.Abs(p.CounterTicks / *s.Rate.Value * 1e9 / p.ReferenceNs - 1)*1e6)
		}
		if math.Abs(worst-*s.MaxErrorPPM) > 1e-3+1e-6*worst {
			say(s.Workload, "the largest error is %g ppm, and its samples say %g", *s.MaxErrorPPM, worst)
		}
	}
	asked := map[string]bool{}
	for _, c := range d.Checks {
		at := fmt.Sprintf("%s, %s", c.Clock, c.Check)
		if (c.Verdict == "trusted") != (len(c.Reasons) == 0) {
			say(at, "%s for %d reasons", c.Verdict, len(c.Reasons))
		}
		if asked[at] {
			say(at, "it was asked twice")
		}
		asked[at] = true
	}
	return all
}
