package cli_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chronoscope/activity"
)

// This file has the documented form of activity traces.

// causes are those that the command knows; TestCausesAreDocumented compares them with the page.
var causes = func() (all []string) {
	for _, c := range activity.Causes() {
		all = append(all, c.String())
	}
	return all
}()

// The command's causes are those of the table in docs/activity.md.
func TestCausesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/activity.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Causes\n")
	table, _, _ := strings.Cut(section, "\n\nA gap")
	var documented []string
	for line := range strings.SplitSeq(table, "\n") {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(first, -1) {
			documented = append(documented, name[1])
		}
	}
	slices.Sort(documented)
	if known := slices.Sorted(slices.Values(causes)); !slices.Equal(documented, known) {
		t.Errorf("documented: %q; known: %q", documented, known)
	}
	for _, c := range activity.Causes() {
		if c.Meaning() == "" {
			t.Errorf("%s has no meaning", c)
		}
	}
}

var traceForm = object{
	"cpu": orNull(count), "clock": text, "threshold_ns": size, "duration_ns": size,
	"active_ratio": orNull(share), "dropped": count,
	"interrupts": orNull(object{
		"period_ns": size, "count": count, "min_cost_ns": orNull(size), "median_cost_ns": orNull(size),
	}.check),
	"combs": list(object{
		"period_ns": size, "phase_ns": size, "count": count,
		"min_cost_ns": orNull(size), "median_cost_ns": orNull(size), "source": oneOf(causes...), "attributed": count,
	}.check),
	"causes": causeTotals, "caveats": list(text),
}

var periodsForm = object{"periods": list(object{
	"label": text, "state": oneOf("active", "inactive"), "start_ns": size, "duration_ns": size,
	"start_ticks": count, "duration_ticks": count, "cause": orNull(oneOf(causes...)),
}.check)}

var switchingForm = object{
	"cpu": count, "clock": text, "cost": estimateForm.check, "min_ns": orNull(size), "p95_ns": orNull(size),
	"switches": count, "verdict": oneOf("trusted", "suspect", "unusable"), "reasons": list(text), "caveats": list(text),
	"cold": list(object{
		"bytes": count, "pattern": oneOf("sequential", "random"), "warm": estimateForm.check,
		"after_idle_switch": estimateForm.check, "after_busy_switch": estimateForm.check, "extra": estimateForm.check,
	}.check),
}

// causeTotals checks that an object has only causes as its fields.
func causeTotals(at string, value any) []string {
	form := object{"count": count, "total_ns": size, "max_ns": size}
	fields, ok := value.(map[string]any)
	if !ok {
		return broken(at, "%v is no object", value)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(causes, name) {
			all = append(all, broken(at, "%s is no cause", name)...)
		}
		all = append(all, form.check(at+"."+name, fields[name])...)
	}
	return all
}

// tracesDocument is the part of a document with traces.
type tracesDocument struct {
	Traces []struct {
		DurationNs  float64  `json:"duration_ns"`
		ActiveRatio *float64 `json:"active_ratio"`
		ThresholdNs float64  `json:"threshold_ns"`
		Dropped     int
		Periods     []struct {
			Label, State  string
			StartTicks    int64   `json:"start_ticks"`
			DurationTicks int64   `json:"duration_ticks"`
			DurationNs    float64 `json:"duration_ns"`
			Cause         *string
		}
		Interrupts *struct{ Count int }
		Combs      []struct {
			Count  int
			Source string
		}
		Causes map[string]struct {
			Count   int
			TotalNs float64 `json:"total_ns"`
			MaxNs   float64 `json:"max_ns"`
		}
	}
}

// breaches lists contradictions between the fields of traces.
func (d tracesDocument) breaches(expectation) []string {
	var all []string
	for i, t := range d.Traces {
		say := func(format string, args ...any) {
			all = append(all, broken(fmt.Sprintf("trace %d", i), format, args...)...)
		}
		var lost float64
		for _, name := range causes {
			total := t.Causes[name]
			lost += total.TotalNs
			if total.MaxNs > total.TotalNs || (total.Count == 0) != (total.TotalNs == 0) {
				say("%s: %d gaps of %g ns in all, and %g ns at most", name, total.Count, total.TotalNs, total.MaxNs)
			}
		}
		if t.Dropped == 0 && t.ActiveRatio != nil && math.Abs(1-lost/t.DurationNs-*t.ActiveRatio) > 1e-6 {
			say("it was active for %g of the time, and its causes took %g of %g ns", *t.ActiveRatio, lost, t.DurationNs)
		}
		ticks := slices.IndexFunc(t.Combs, func(c struct {
			Count  int
			Source string
		}) bool {
			return c.Source == "timer-tick"
		})
		if (ticks >= 0) != (t.Interrupts != nil) || ticks >= 0 && t.Combs[ticks].Count != t.Interrupts.Count {
			say("its interrupts are not those of the timer tick's comb")
		}
		end, counted := int64(0), map[string]int{}
		for n, p := range t.Periods {
			state, letter := "active", "A"
			if n%2 == 1 {
				state, letter = "inactive", "I"
			}
			if want := fmt.Sprintf("%s%d", letter, n/2); p.Label != want || p.State != state {
				say("period %d is %s, %s, instead of %s", n, p.Label, p.State, want)
			}
			if t.Dropped == 0 && p.StartTicks != end {
				say("%s starts at %d, and the one before ended at %d", p.Label, p.StartTicks, end)
			}
			if (p.Cause != nil) != (p.State == "inactive") {
				say("%s is %s, with the cause %v", p.Label, p.State, p.Cause)
			}
			if p.State == "inactive" && p.Cause != nil {
				counted[*p.Cause]++
			}
			end = p.StartTicks + p.DurationTicks
		}
		for _, name := range causes {
			if len(t.Periods) > 0 && counted[name] != t.Causes[name].Count {
				say("%d periods are put down to %s, and %d gaps", counted[name], name, t.Causes[name].Count)
			}
		}
	}
	return all
}
