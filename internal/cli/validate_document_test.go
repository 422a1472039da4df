package cli_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// This file has the documented form of a validation.

// Old documents name no neighbours. Their cells had none, or loops.
var regimeForm = oneOf("none", "loops", "bursty", "wakers", "memory", "build", "changing")

// Whole programs that only compute have no kind.
var kindForm = oneOf("sleep", "deadline", "child", "threads", "pipe", "server")

var coverageForm = list(object{
	"scheme": text, "load": count, "neighbours?": regimeForm, "kind?": kindForm, "cells": count, "covered": count, "unusable": count, "unjudged": count, "median_width": orNull(size),
}.check)

var validationForm = object{
	"cells": list(object{
		"scheme": text, "work": oneOf("chain", "ints", "traced"), "kind?": kindForm, "load": count, "neighbours?": regimeForm, "duration_ns": count,
		"expected": estimateForm.check, "estimate": estimateForm.check, "error": orNull(number), "no_truth": boolean, "covered": orNull(boolean),
		"verdict": verdict, "reasons": list(text),
	}.check),
	"reach": list(object{
		"scheme": text, "load": count, "neighbours?": regimeForm, "kind?": kindForm, "tolerance": share, "min_duration_ns": orNull(size), "max_duration_ns": orNull(size),
	}.check),
	"coverage": coverageForm, "added_up": orNull(object{"runs": count, "coverage": coverageForm}.check),
	"compensation": list(object{
		"duration_ns": size, "error_ns": number, "lost_ns": size, "removed_ns": size, "residual": number, "own_residual": orNull(number),
	}.check),
	"fits": list(object{
		"work": oneOf("chain", "ints", "traced"), "load": count, "neighbours?": regimeForm, "round_ns": size, "start_ns": number, "error": size,
	}.check),
	"timers": list(object{"name": text, "resolution_ns": orNull(size), "latency_ns": size}.check),
}

// validationDocument is the part of a document with a validation.
type validationDocument struct {
	Cells    []validationCell
	Reach    []reachRow
	Coverage []struct {
		Scheme, Kind, Neighbours           string
		Load                               int
		Cells, Covered, Unusable, Unjudged int
	}
}

type validationCell struct {
	Scheme, Work, Kind, Neighbours string
	Load                           int
	DurationNs                     float64 `json:"duration_ns"`
	Expected, Estimate             struct{ Value, Lo, Hi *float64 }
	Error                          *float64
	NoTruth                        bool `json:"no_truth"`
	Covered                        *bool
	Verdict                        string
	Reasons                        []string
}

type reachRow struct {
	Scheme           string
	Kind, Neighbours string
	Load             int
	Tolerance        float64
	MinNs            *float64 `json:"min_duration_ns"`
	MaxNs            *float64 `json:"max_duration_ns"`
}

func (c validationCell) name() string {
	return fmt.Sprintf("%s of %s, %g ns at load %d", c.Scheme, c.Work+c.Kind, c.DurationNs, c.Load)
}

// breaches lists contradictions between fields.
func (d validationDocument) breaches(expectation) []string {
	var all []string
	for _, c := range d.Cells {
		all = append(all, c.breaches()...)
	}
	for _, r := range d.Reach {
		all = append(all, r.breaches(d.Cells)...)
	}
	return append(all, d.miscounted()...)
}

func (c validationCell) breaches() []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, broken(c.name(), format, args...)...) }
	if (c.Verdict == "trusted") != (len(c.Reasons) == 0) {
		say("%s for %d reasons", c.Verdict, len(c.Reasons))
	}
	if c.Load < 1 {
		say("a load of %d", c.Load)
	}
	if c.Expected.Value == nil || !ascending(c.Expected.Lo, c.Expected.Value, c.Expected.Hi) || c.Expected.Lo == nil || c.Expected.Hi == nil {
		say("the truth is not known, or outside of its interval")
		return all
	}
	if !ascending(c.Estimate.Lo, c.Estimate.Value, c.Estimate.Hi) {
		say("the estimate lies outside of its interval")
	}
	if (c.Estimate.Value == nil) != (c.Error == nil) {
		say("either its estimate or its error is null")
		return all
	}
	if c.Estimate.Value == nil {
		if c.Verdict != "unusable" || c.Covered != nil {
			say("it has no estimate, and is %s", c.Verdict)
		}
		return all
	}
	if want := *c.Estimate.Value / *c.Expected.Value - 1; math.Abs(want-*c.Error) > 1e-9*(1+math.Abs(want)) {
		say("its error is %g instead of %g", *c.Error, want)
	}
	if c.NoTruth && c.Covered != nil {
		say("nobody knows its truth, and it is judged")
	}
	if c.Covered != nil {
		if c.Estimate.Lo == nil || c.Estimate.Hi == nil {
			say("nothing is claimed that could be covered")
		} else {
			slack := math.Min((*c.Expected.Hi-*c.Expected.Lo)/2, *c.Expected.Value/100)
			if holds := *c.Estimate.Lo <= *c.Expected.Value+slack && *c.Expected.Value-slack <= *c.Estimate.Hi; holds != *c.Covered {
				say("covered is %v", *c.Covered)
			}
		}
	}
	return all
}

// breaches computes the reach again, by trying every range of durations.
func (r reachRow) breaches(cells []validationCell) []string {
	worst := map[float64]float64{}
	for _, c := range cells {
		if c.Scheme == r.Scheme && c.Load == r.Load && c.Kind == r.Kind && c.Neighbours == r.Neighbours {
			if c.NoTruth {
				c.Error = nil
			}
			worst[c.DurationNs] = math.Max(worst[c.DurationNs], math.Abs(orElse(c.Error, math.Inf(1))))
		}
	}
	var durations []float64
	for d := range worst {
		durations = append(durations, d)
	}
	slices.SortFunc(durations, cmp.Compare)
	from, to, length := -1.0, -1.0, 0
	for i := range durations {
		for j := i; j < len(durations); j++ {
			good := !slices.ContainsFunc(durations[i:j+1], func(d float64) bool { return worst[d] > r.Tolerance })
			if good && j-i+1 >= length {
				from, to, length = durations[i], durations[j], j-i+1
			}
		}
	}
	if orElse(r.MinNs, -1) != from || orElse(r.MaxNs, -1) != to {
		return broken(fmt.Sprintf("reach of %s at load %d within %g", r.Scheme, r.Load, r.Tolerance),
			"from %g to %g ns instead of %g to %g", orElse(r.MinNs, -1), orElse(r.MaxNs, -1), from, to)
	}
	return nil
}

// miscounted lists rows of the coverage that contradict the cells, and cells that no row counts.
func (d validationDocument) miscounted() []string {
	var all []string
	counted := 0
	for _, row := range d.Coverage {
		cells, covered, unusable, unjudged := 0, 0, 0, 0
		for _, c := range d.Cells {
			switch {
			case c.Scheme != row.Scheme || c.Load != row.Load || c.Kind != row.Kind || c.Neighbours != row.Neighbours:
			case c.Verdict == "unusable":
				unusable++
			case c.NoTruth:
				unjudged++
			case c.Covered != nil:
				cells++
				if *c.Covered {
					covered++
				}
			}
		}
		counted += cells
		if cells != row.Cells || covered != row.Covered || unusable != row.Unusable || unjudged != row.Unjudged {
			all = append(all, broken(fmt.Sprintf("coverage of %s at load %d", row.Scheme, row.Load),
				"%d of %d, %d unusable and %d unjudged instead of %d of %d, %d and %d", row.Covered, row.Cells, row.Unusable, row.Unjudged, covered, cells, unusable, unjudged)...)
		}
	}
	for _, c := range d.Cells {
		if c.Covered != nil && c.Verdict != "unusable" {
			counted--
		}
	}
	if counted < 0 {
		all = append(all, broken("coverage", "%d cells are not counted", -counted)...)
	}
	return all
}

func TestPlantedValidationBreaches(t *testing.T) {
	for _, c := range []struct {
		place string
		value any
		says  string
	}{
		{"cells.0.verdict", "suspect", "kbest of chain, 1e+06 ns at load 1: suspect for 0 reasons"},
		{"cells.0.verdict", "good", "verdict"},
		{"cells.0.work", "sleep", "work: sleep"},
		{"cells.0.load", 0, "a load of 0"},
		{"cells.0.expected.value", 2e6, "the truth is not known, or outside"},
		{"cells.0.expected.lo", nil, "the truth is not known, or outside"},
		{"cells.0.estimate.hi", 1.0, "the estimate lies outside"},
		{"cells.0.estimate.value", nil, "either its estimate or its error"},
		{"cells.0.error", nil, "either its estimate or its error"},
		{"cells.0.error", 0.5, "its error is 0.5 instead of 0.01"},
		{"cells.0.covered", false, "covered is false"},
		{"cells.0.covered", "yes", "covered"},
		{"cells.0.no_truth", true, "nobody knows its truth, and it is judged"},
		{"coverage.0.unjudged", 1, "2 of 2, 0 unusable and 1 unjudged instead of 2 of 2, 0 and 0"},
		{"cells.0.covered", nil, "coverage of kbest at load 1: 2 of 2"},
		{"cells.2.covered", true, "covered is true"},
		{"cells.4.verdict", "suspect", "it has no estimate, and is suspect"},
		{"cells.4.covered", true, "it has no estimate"},
		{"cells.5.covered", true, "nothing is claimed that could be covered"},
		{"reach.0.max_duration_ns", 1e6, "reach of kbest at load 1 within 0.1: from 1e+06 to 1e+06 ns instead of 1e+06 to 1e+07"},
		{"reach.1.min_duration_ns", 1e6, "reach of kbest at load 1 within 0.001"},
		{"reach.2.max_duration_ns", nil, "reach of source-k3 at load 11"},
		{"reach.0.tolerance", 10.0, "tolerance"},
		{"coverage.0.covered", 1, "coverage of kbest at load 1: 1 of 2, 0 unusable and 0 unjudged instead of 2 of 2, 0 and 0"},
		{"coverage.1.unusable", 0, "coverage of source-k3 at load 11"},
		{"coverage", []any{}, "coverage: 4 cells are not counted"},
		{"coverage.0.median_width", "wide", "median_width"},
		{"timers.0.latency_ns", nil, "latency_ns"},
		{"timers.0.resolution_ns", nil, ""},
	} {
		got := breachesOf(t, sample(t, "validate.json"), c.place, func(m map[string]any, k string) { m[k] = c.value })
		said := slices.ContainsFunc(got, func(breach string) bool { return strings.Contains(breach, c.says) })
		if c.says == "" && len(got) > 0 || c.says != "" && !said {
			t.Errorf("%s=%v: %q, want one that says %q", c.place, c.value, got, c.says)
		}
	}
}
