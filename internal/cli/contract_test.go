package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tests in this file check the checker of documents: with a valid document, and with that
// document broken in every way that the checker has to detect.

// places returns the paths of all fields of a document, such as clocks.0.name.
func places(at string, value any) []string {
	var all []string
	add := func(name string, v any) {
		place := strings.TrimPrefix(at+"."+name, ".")
		all = append(all, place)
		all = append(all, places(place, v)...)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			add(name, field)
		}
	case []any:
		for i, element := range v {
			add(strconv.Itoa(i), element)
		}
	}
	slices.Sort(all)
	return all
}

// edit calls change with the object that contains the place, and the field's name.
func edit(document any, place string, change func(parent map[string]any, name string)) {
	head, rest, more := strings.Cut(place, ".")
	switch v := document.(type) {
	case map[string]any:
		if !more {
			change(v, head)
			return
		}
		edit(v[head], rest, change)
	case []any:
		i, _ := strconv.Atoi(head)
		if more {
			edit(v[i], rest, change)
			return
		}
		element := map[string]any{head: v[i]}
		change(element, head)
		v[i] = element[head]
	}
}

// sample returns a valid document from testdata.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "documents", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// breachesOf returns the checker's findings for the sample after a change.
func breachesOf(t *testing.T, data []byte, place string, change func(parent map[string]any, name string)) []string {
	t.Helper()
	var d any
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	edit(d, place, change)
	changed, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return breaches(changed, asExpected)
}

var asExpected = expectation{sortedBy: "quality", clocks: []string{"tsc", "monotonic", "thread-cputime", "perf-cycles"}}

var samples = []string{"clocks.json", "activity.json", "card.json", "bench.json", "run.json", "slowclock.json", "lateness.json", "bisect.json", "validate.json", "bytecode.json"}

func TestRightDocuments(t *testing.T) {
	for _, name := range samples {
		for _, breach := range breaches(sample(t, name), asExpected) {
			t.Errorf("%s: %s", name, breach)
		}
	}
}

// isLater matches places in a list after its first element.
var isLater = regexp.MustCompile(`(^|\.)[1-9][0-9]*(\.|$)`)

// The checker detects any field that is missing, or of another type. In short tests only the first
// element of each list is changed.
func TestEveryFieldIsChecked(t *testing.T) {
	free := []string{"seed", "findings.0.effect", "findings.0.fix", // undocumented, or possibly empty
		"results.0.parameters", "results.0.parameters.n", "results.1.parameters", "results.1.parameters.n", "shell.parameters"} // names of fields here are arbitrary
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d map[string]any
			if err := json.Unmarshal(sample(t, name), &d); err != nil {
				t.Fatal(err)
			}
			for _, place := range places("", d) {
				if slices.Contains(free, place) || testing.Short() && isLater.MatchString(place) {
					continue
				}
				if !isElement(place) && !isSeen(t, d, place, func(m map[string]any, k string) { delete(m, k) }) {
					t.Errorf("without %s nothing is seen", place)
				}
				wrong := func(m map[string]any, k string) { m[k] = map[string]any{"of": "another type"} }
				if !isSeen(t, d, place, wrong) {
					t.Errorf("with %s of another type nothing is seen", place)
				}
			}
		})
	}
}

// isSeen reports whether the checker finds anything in the document with a change, which is then
// undone. The document is checked without writing it as text, since there are thousands of changes.
func isSeen(t *testing.T, document map[string]any, place string, change func(parent map[string]any, name string)) bool {
	t.Helper()
	var before any
	edit(document, place, func(parent map[string]any, name string) {
		before = parent[name]
		change(parent, name)
	})
	defer edit(document, place, func(parent map[string]any, name string) { parent[name] = before })
	if len(breachesOfForm(document)) > 0 {
		return true
	}
	changed, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return len(breaches(changed, asExpected)) > 0
}

// isElement reports whether a place is an element of a list, which may be missing, and not a field.
func isElement(place string) bool {
	_, err := strconv.Atoi(place[strings.LastIndex(place, ".")+1:])
	return err == nil
}

func TestPlantedBreaches(t *testing.T) {
	for _, c := range []struct {
		place string
		value any
		says  string
	}{
		{"schema", "chronoscope/v2", "schema"},
		{"command", "clock", "command"},
		{"started", "21 Nov 2026", "RFC 3339"},
		{"duration_ns", "3 s", "duration_ns"},
		{"duration_ms", 3, "duration_ms is no time in nanoseconds"},
		{"machine.boot_ns", "yesterday", "boot_ns holds yesterday"},
		{"machine.cpus", 1.5, "cpus: 1.5 is no count"},
		{"caveats", nil, "caveats"},
		{"caveats", []any{""}, "caveats[0]"},

		{"clocks.0.kind", "atomic", "kind: atomic"},
		{"clocks.0.accuracy.lo", 11.0, "tsc: the accuracy lies outside of its interval"},
		{"clocks.0.accuracy.hi", 9.0, "tsc: the accuracy lies outside of its interval"},
		{"clocks.0.accuracy.confidence", 0.9, "confidence"},
		{"clocks.0.accuracy.value", nil, "tsc: accuracy is null for no reason"},
		{"clocks.0.accuracy.n", -1, "n: -1 is no count"},
		{"clocks.0.cost.min_ns", 10.0, "tsc: the percentiles"},
		{"clocks.0.cost.median_ns", 25.0, "tsc: the percentiles"},
		{"clocks.0.cost.p95_ns", 30.0, "tsc: the percentiles"},
		{"clocks.0.cost.p99_ns", 100.0, "tsc: the percentiles"},
		{"clocks.0.spread", 1.01, "spread"},
		{"clocks.0.quality", 1.2, "quality: 1.2"},
		{"clocks.0.quality", 0.5, "tsc: its quality does not follow"},
		{"clocks.0.quality", nil, "tsc: its quality does not follow"},
		{"clocks.0.cycles.cost", 0.5, "cycles.cost"},
		{"clocks.0.cycles.cost", 37.0, "tsc: its cost of 9 ns is not 37 cycles"},
		{"clocks.0.cycles.accuracy", nil, "tsc: of its accuracy either"},
		{"clocks.0.cost.median_ns", nil, "tsc: of its cost either"},
		{"machine.core_hz", nil, "tsc: of its accuracy either"},
		{"clocks.0.monotonic", false, "tsc: it fails a check, and is trusted"},
		{"clocks.0.stable", false, "tsc: its quality does not follow"},
		{"clocks.0.thread_safe", nil, "tsc: thread_safe is null for no reason"},
		{"clocks.0.stable", nil, "tsc: stable is null for no reason"},
		{"clocks.2.stable", true, ""},
		{"clocks.0.verdict", "good", "verdict"},
		{"clocks.0.verdict", "suspect", "tsc: suspect for 0 reasons"},
		{"clocks.0.reasons", []any{"it is Monday"}, "tsc: trusted for 1 reasons"},
		{"clocks.0.reasons", nil, "reasons"},
		{"clocks.0.quality", 0.0001, "clocks: they are not sorted by quality"},
		{"clocks.0.name", "sundial", "sundial: nobody asked for it"},
		{"clocks.0.name", "monotonic", "monotonic: it stands twice"},

		{"best.wall", "sundial", "best.wall: no clock sundial was ranked"},
		{"best.wall", "perf-cycles", "best.wall: no clock perf-cycles was ranked"},
		{"best.wall", "tsc", "best.wall: tsc, a clock of kind counter"},
		{"best.cpu", "monotonic", "best.cpu: monotonic"},
		{"unavailable", []any{}, "perf-cycles: it is missing"},
		{"unavailable.0.reason", "", "reason"},
		{"caveats", []any{}, "thread-cputime: stable is null for no reason"},
		{"caveats", []any{"stability is not known of times: the same"}, "thread-cputime: stable is null for no reason"},
		{"caveats", []any{"stability is not known of times, thread-cputime: the same"}, ""},
		{"caveats", []any{"stability is not known: of no clock"}, ""},

		{"sandwiches.0.count", 3, "sleep: 2 samples, 1 moved, and a count of 3"},
		{"sandwiches.0.verdict", "trusted", "sleep: trusted with 1 faults"},
		{"sandwiches.0.reasons", []any{}, "sleep: suspect for 0 reasons"},
		{"sandwiches.0.reference", "tsc", "sleep: tsc is compared with itself"},
		{"sandwiches.0.max_error_ppm", 2.0, "sleep: the largest error is 2 ppm, and its samples say"},
		{"checks.0.verdict", "trusted", "tsc, cpu-offset: trusted for 1 reasons"},

		{"traces.0.active_ratio", 0.9, "trace 0: it was active for 0.9 of the time"},
		{"traces.0.active_ratio", 1.1, "active_ratio"},
		{"traces.0.dropped", nil, "dropped"},
		{"traces.0.causes.runtime.total_ns", 0, "trace 0: runtime: 1 gaps of 0 ns"},
		{"traces.0.causes.timer-tick.max_ns", 20000.0, "trace 0: timer-tick: 2 gaps"},
		{"traces.0.causes.weather", map[string]any{"count": 1, "total_ns": 1, "max_ns": 1}, "weather is no cause"},
		{"traces.0.interrupts", nil, "trace 0: its interrupts are not those"},
		{"traces.0.interrupts.count", 3, "trace 0: its interrupts are not those"},
		{"traces.0.combs.0.source", "hypervisor", "trace 0: its interrupts are not those"},

		{"findings.0.severity", "warning", "finding load: warning"},
		{"findings.1.severity", "ok", "finding smt: ok"},
		{"findings.1.fix", "", "finding smt: note"},
		{"advice.0.clock", "sundial", "advice: no clock sundial was ranked"},
		{"advice.0.to_ns", 1.0, "advice: the range"},
		{"advice.0.expected_error", nil, "expected_error"},
	} {
		t.Run(fmt.Sprintf("%s=%v", c.place, c.value), func(t *testing.T) {
			got := breachesOf(t, sample(t, "card.json"), c.place, func(m map[string]any, k string) { m[k] = c.value })
			said := slices.ContainsFunc(got, func(breach string) bool { return strings.Contains(breach, c.says) })
			if c.says == "" && len(got) > 0 || c.says != "" && !said {
				t.Errorf("%q, want one that says %q", got, c.says)
			}
		})
	}
}

func TestPlantedPeriodBreaches(t *testing.T) {
	for _, c := range []struct {
		place string
		value any
		says  string
	}{
		{"traces.0.periods.1.label", "I1", "period 1 is I1, inactive, instead of I0"},
		{"traces.0.periods.1.state", "active", "period 1 is I0, active, instead of I0"},
		{"traces.0.periods.2.start_ticks", 212001, "A1 starts at 212001, and the one before ended at 212000"},
		{"traces.0.periods.2.cause", "runtime", "A1 is active, with the cause"},
		{"traces.0.periods.1.cause", nil, "I0 is inactive, with the cause"},
		{"traces.0.periods.1.cause", "runtime", "1 periods are put down to timer-tick, and 2 gaps"},
	} {
		got := breachesOf(t, sample(t, "activity.json"), c.place, func(m map[string]any, k string) { m[k] = c.value })
		if !slices.ContainsFunc(got, func(breach string) bool { return strings.Contains(breach, c.says) }) {
			t.Errorf("%s=%v: %q, want one that says %q", c.place, c.value, got, c.says)
		}
	}
}

func TestPlantedTextBreaches(t *testing.T) {
	right := string(sample(t, "clocks.json"))
	for name, changed := range map[string]string{
		"empty":         "",
		"cut short":     right[:len(right)/2],
		"not a number":  strings.Replace(right, "0.99", "NaN", 1),
		"infinite":      strings.Replace(right, "0.99", "1e999", 1),
		"two documents": right + right,
		"a list":        "[" + right + "]",
	} {
		if changed == right {
			t.Errorf("%s: nothing was changed", name)
		}
		if len(breaches([]byte(changed), asExpected)) == 0 {
			t.Errorf("%s: nothing is seen", name)
		}
	}
	sorted := asExpected
	sorted.sortedBy = "cost"
	if len(breaches([]byte(right), sorted)) == 0 {
		t.Error("sorted by quality it passes for sorted by cost")
	}
}
