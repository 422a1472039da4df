package cli_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// This file has the documented form of the times of a virtual machine's instructions.

var bytecodeForm = bytecodeRunForm.with(object{"others": list(bytecodeRunForm.check), "load?": count})

var bytecodeRunForm = object{
	"java": object{"path": free, "version": free, "name": free}.check,
	"mode": free, "method": bytecodeMethod, "length": count,
	"tick_ns": orNull(size), "count_ns": orNull(size), "tsc_hz": orNull(size),
	"starts": count, "stretches": count, "slow": count, "elapsed_ns": size,
	"instructions": list(bytecodeTimeForm.with(object{
		"mnemonic": text, "opcode": count, "kind": text, "form": bytecodeFormName,
		"outlier": orNull(boolean), "cluster": orNull(text), "compiled": object{"c1": orNull(estimateForm.check), "c2": orNull(estimateForm.check)}.check,
		"methods": list(bytecodeTimeForm.with(object{"method": bytecodeMethod}).check),
	}).check),
	"overhead": estimateForm.check, "overheads": list(object{"method": bytecodeMethod, "overhead": estimateForm.check}.check),
	"summary": object{
		"instructions": count, "min_ns": orNull(number), "q1_ns": orNull(number), "median_ns": orNull(number), "q3_ns": orNull(number),
		"max_ns": orNull(number), "mean_ns": orNull(number), "lower_whisker_ns": orNull(number), "upper_whisker_ns": orNull(number),
	}.check,
	"clusters": list(object{"statistic": text, "granularity_ns": number, "groups": count}.check),
	"groups":   list(object{"label": text, "least_ns": number, "most_ns": number, "instructions": list(text)}.check),
	"fits": list(object{
		"method": bytecodeMethod, "pairing": oneOf("paired", "unpaired"), "points": count, "left_out": list(text), "pearson_r": orNull(number),
		"slope": number, "slope_lo": orNull(number), "slope_hi": orNull(number),
		"intercept_ns": number, "intercept_lo_ns": orNull(number), "intercept_hi_ns": orNull(number),
		"median_error": orNull(size), "max_error": orNull(size), "above": count, "strays": list(text),
		"residuals": list(object{"mnemonic": text, "form": bytecodeFormName, "time_ns": number, "tsc_ns": number, "residual_ns": number}.check),
	}.check),
	"predictions": list(object{"instructions": list(text), "predicted": estimateForm.check, "measured": estimateForm.check, "error": orNull(number)}.check),
	"unused":      list(object{"method": bytecodeMethod, "reason": text}.check), "verdict": verdict, "reasons": list(text),
}

var bytecodeTimeForm = object{
	"time": estimateForm.check, "tsc": estimateForm.check, "trials": count, "elapsed_ns": size, "verdict": verdict, "reasons": list(text),
}

var (
	bytecodeMethod   = oneOf("tsc", "counter", "discrete", "bernoulli", "nano")
	bytecodeFormName = oneOf("homogeneous", "pair", "taken", "not-taken")
	free             = holds("text", func(string) bool { return true })
)

// bytecodeDocument is the part of a document with instructions.
type bytecodeDocument struct {
	Instructions []timedInstruction
	Summary      struct {
		Instructions int
		MinNs        *float64 `json:"min_ns"`
		Q1Ns         *float64 `json:"q1_ns"`
		MedianNs     *float64 `json:"median_ns"`
		Q3Ns         *float64 `json:"q3_ns"`
		MaxNs        *float64 `json:"max_ns"`
	}
	Clusters []struct {
		GranularityNs float64 `json:"granularity_ns"`
		Groups        int
	}
	Groups []struct {
		Label        string
		LeastNs      float64 `json:"least_ns"`
		MostNs       float64 `json:"most_ns"`
		Instructions []string
	}
	Fits []struct {
		Method, Pairing string
		Points          int
		PearsonR        *float64 `json:"pearson_r"`
		Residuals       []any
	}
}

type timedInstruction struct {
	Mnemonic, Form string
	Time           struct{ Value, Lo, Hi *float64 }
	Outlier        *bool
	Cluster        *string
	Verdict        string
	Reasons        []string
}

// breaches lists contradictions between fields.
func (d bytecodeDocument) breaches(expectation) []string {
	var all []string
	say := func(at, format string, args ...any) { all = append(all, broken(at, format, args...)...) }
	seen := map[string]bool{}
	clusters := map[string]int{}
	for _, i := range d.Instructions {
		name := i.Mnemonic + " (" + i.Form + ")"
		all = append(all, i.breaches(name)...)
		if seen[name] {
			say(name, "it stands twice")
		}
		seen[name] = true
		if i.Cluster != nil {
			clusters[*i.Cluster]++
		}
	}
	s := d.Summary
	if !ascending(s.MinNs, s.Q1Ns, s.MedianNs, s.Q3Ns, s.MaxNs) {
		say("summary", "its numbers do not ascend")
	}
	members := 0
	for _, g := range d.Groups {
		members += len(g.Instructions)
		if len(g.Instructions) != clusters[g.Label] {
			say("group "+g.Label, "%d instructions, and %d say that they belong to it", len(g.Instructions), clusters[g.Label])
		}
		if s.MedianNs != nil && g.MostNs-g.LeastNs > max(0, *s.MedianNs) { // the median of noise may be negative
			say("group "+g.Label, "it is wider than the median")
		}
	}
	if members != s.Instructions {
		say("groups", "%d instructions of %d", members, s.Instructions)
	}
	for i, c := range d.Clusters {
		for _, other := range d.Clusters[:i] {
			if (c.GranularityNs-other.GranularityNs)*float64(c.Groups-other.Groups) > 0 {
				say("clusters", "%d groups at %g ns, and %d at %g ns", c.Groups, c.GranularityNs, other.Groups, other.GranularityNs)
			}
		}
	}
	for _, f := range d.Fits {
		if f.Points != len(f.Residuals) || f.Points < 3 || f.PearsonR != nil && math.Abs(*f.PearsonR) > 1+1e-12 {
			say("fit of "+f.Method, "%d points, %d residuals", f.Points, len(f.Residuals))
		}
	}
	return all
}

func (i timedInstruction) breaches(name string) []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, broken(name, format, args...)...) }
	v := i.Time
	if (i.Verdict == "trusted") != (len(i.Reasons) == 0) {
		say("%s for %d reasons", i.Verdict, len(i.Reasons))
	}
	if v.Value == nil && i.Verdict != "unusable" {
		say("nothing is known of it, and it is %s", i.Verdict)
	}
	if !ascending(v.Lo, v.Value, v.Hi) {
		say("the time lies outside of its interval")
	}
	if (i.Outlier == nil) != (i.Cluster == nil) {
		say("the analysis has it in part")
	}
	if i.Cluster != nil && (v.Value == nil || i.Verdict == "unusable" || i.Form == "taken" || i.Form == "pair") {
		say("the analysis should not have it")
	}
	return all
}

// The checker finds errors that were planted in a document of instructions.
func TestPlantedBytecodeBreaches(t *testing.T) {
	for _, c := range []struct {
		place string
		value any
		says  string
	}{
		{"instructions", nil, "instructions"},
		{"instructions.0.form", "sideways", "form: sideways"},
		{"instructions.1.mnemonic", "nop", "nop (homogeneous): it stands twice"},
		{"instructions.0.time.lo", 99, "nop (homogeneous): the time lies outside of its interval"},
		{"instructions.0.time.value", nil, "nop (homogeneous): nothing is known of it"},
		{"instructions.0.verdict", "suspect", "nop (homogeneous): suspect for 0 reasons"},
		{"instructions.0.outlier", nil, "nop (homogeneous): the analysis has it in part"},
		{"instructions.0.cluster", "z", "group a"},
		{"instructions.0.form", "taken", "the analysis should not have it"},
		{"instructions.0.compiled.c1", 5, "compiled.c1: 5 is no object"},
		{"summary.q1_ns", 1e6, "summary: its numbers do not ascend"},
		{"summary.instructions", 9, "groups:"},
		{"groups.0.most_ns", 1e6, "wider than the median"},
		{"clusters.0.groups", 0, "clusters:"},
		{"fits.0.points", 2, "fit of counter"},
		{"fits.0.pearson_r", 2, "fit of counter"},
		{"fits.0.pearson_r", nil, ""},
		{"instructions.0.tsc.value", nil, ""},
	} {
		t.Run(fmt.Sprintf("%s=%v", c.place, c.value), func(t *testing.T) {
			got := breachesOf(t, sample(t, "bytecode.json"), c.place, func(m map[string]any, k string) { m[k] = c.value })
			said := slices.ContainsFunc(got, func(breach string) bool { return strings.Contains(breach, c.says) })
			if c.says == "" && len(got) > 0 || c.says != "" && !said {
				t.Errorf("%q, want one that says %q", got, c.says)
			}
		})
	}
}
