package cli_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// The documented form of how long programs take.

// dictionary is an object of any fields of one shape.
func dictionary(element shape) shape {
	return func(at string, value any) []string {
		fields, ok := value.(map[string]any)
		if !ok {
			return broken(at, "%v is no object", value)
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all = append(all, element(at+"."+name, fields[name])...)
		}
		return all
	}
}

var anyText = holds("text", func(string) bool { return true })

var programForm = object{
	"command": text, "command_line?": text, "parameters": dictionary(anyText),
	"estimate": estimateForm.check, "idle?": estimateForm.check, "wall": estimateForm.check, "cpu": estimateForm.check,
	"runqueue_wait_ns": orNull(size), "blocked_ns": orNull(size), "max_rss_bytes": orNull(count),
	"method": oneOf("cycle-time", "interval-counting", "critical-path", "bounds", ""), "explanation": anyText,
	"runs": list(object{
		"started": instant, "wall_ns": size, "user_ns": size, "system_ns": size,
		"runqueue_wait_ns": orNull(size), "blocked_ns": orNull(size), "steal_ns": orNull(size), "throttled_ns": orNull(size),
		"interrupts_ns": orNull(size), "voluntary_switches": orNull(count), "involuntary_switches": orNull(count),
		"minor_faults": orNull(count), "major_faults": orNull(count), "max_rss_bytes": orNull(count), "core_hz": orNull(size),
		"low_ns": orNull(number), "high_ns": orNull(number), "exit_code": orNull(count), "signal": orNull(text),
		"rejected": boolean, "why": orNull(text), "metrics?": dictionary(orNull(number)),
	}.check),
	"outliers": list(object{"run": count, "causes": list(text)}.check),
	"metrics?": dictionary(object{
		"source": text, "better": oneOf("lower", "higher"), "estimate": estimateForm.check, "verdict": verdict, "reasons": list(text),
	}.check),
	"failure": orNull(text), "stderr_end": orNull(text),
	"verdict": verdict, "reasons": list(text),
}

var programsForm = object{
	"results": list(programForm.check), "pairs": list(pairForm.check), "shell": orNull(programForm.check),
	"sort?": oneOf("command", "mean-time"), "time_unit?": oneOf("microsecond", "millisecond", "second"),
}

// programsDocument is the part of a document that says how long programs take.
type programsDocument struct {
	Caveats []string
	Results []programResult
	Shell   *programResult
	Pairs   []struct {
		A, B, Outcome string
		Ratio         struct{ Value, Lo, Hi *float64 }
		PValue        *float64 `json:"p_value"`
	}
}

type programResult struct {
	Command             string
	Estimate, Wall, CPU struct {
		Value, Lo, Hi *float64
		N, Discarded  int
	}
	Method    string
	Runs      []programRun
	Outliers  []struct{ Run int }
	Failure   *string
	StderrEnd *string `json:"stderr_end"`
	Verdict   string
	Reasons   []string
}

type programRun struct {
	WallNs      float64  `json:"wall_ns"`
	LowNs       *float64 `json:"low_ns"`
	HighNs      *float64 `json:"high_ns"`
	WaitNs      *float64 `json:"runqueue_wait_ns"`
	BlockedNs   *float64 `json:"blocked_ns"`
	StealNs     *float64 `json:"steal_ns"`
	ThrottledNs *float64 `json:"throttled_ns"`
	MaxRSSBytes *float64 `json:"max_rss_bytes"`
	CoreHz      *float64 `json:"core_hz"`
	ExitCode    *int     `json:"exit_code"`
	Signal      *string
	Rejected    bool
	Why         *string
}

// breaches lists how the fields contradict one another.
func (d programsDocument) breaches(expectation) []string {
	var all []string
	results := slices.Clone(d.Results)
	if d.Shell != nil {
		results = append(results, *d.Shell)
	}
	for _, r := range results {
		all = append(all, r.breaches()...)
		all = append(all, d.unexplained(r)...)
	}
	return append(all, d.mispaired()...)
}

func (r programResult) breaches() []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, broken(r.Command, format, args...)...) }
	if (r.Verdict == "trusted") != (len(r.Reasons) == 0) {
		say("%s for %d reasons", r.Verdict, len(r.Reasons))
	}
	if r.Failure != nil && r.Verdict != "unusable" {
		say("it failed, and is %s", r.Verdict)
	}
	if r.Failure == nil && r.StderrEnd != nil {
		say("it did not fail, and its standard error is shown")
	}
	if r.Estimate.Value == nil && r.Verdict != "unusable" {
		say("nothing is known of it, and it is %s", r.Verdict)
	}
	if (r.Method == "") != (r.Estimate.N == 0) {
		say("%d runs count by the method %q", r.Estimate.N, r.Method)
	}
	if !ascending(r.Estimate.Lo, r.Estimate.Value, r.Estimate.Hi) || !ascending(r.Wall.Lo, r.Wall.Value, r.Wall.Hi) || !ascending(r.CPU.Lo, r.CPU.Value, r.CPU.Hi) {
		say("a time lies outside of its interval")
	}
	if r.Estimate.N+r.Estimate.Discarded != len(r.Runs) {
		say("%d runs count and %d don't, and %d stand there", r.Estimate.N, r.Estimate.Discarded, len(r.Runs))
	}
	for i, run := range r.Runs {
		all = append(all, run.breaches(fmt.Sprintf("%s, run %d", r.Command, i+1))...)
	}
	return append(all, r.misplacedOutliers()...)
}

// misplacedOutliers lists outliers that are no runs, or stand twice.
func (r programResult) misplacedOutliers() []string {
	var all []string
	seen := map[int]bool{}
	for _, o := range r.Outliers {
		if o.Run >= len(r.Runs) || seen[o.Run] {
			all = append(all, broken(r.Command, "of %d runs, outlier %d does not exist, or stands twice", len(r.Runs), o.Run)...)
		}
		seen[o.Run] = true
	}
	return all
}

func (r programRun) breaches(at string) []string {
	var all []string
	if (r.ExitCode == nil) == (r.Signal == nil) {
		all = append(all, broken(at, "it ended with an exit code or by a signal, not by both or neither")...)
	}
	if r.Rejected && r.Why == nil {
		all = append(all, broken(at, "it was rejected for no reason")...)
	}
	if !ascending(r.LowNs, r.HighNs) {
		all = append(all, broken(at, "its bounds are upside down")...)
	}
	return all
}

// unexplained lists the nulls of runs that no caveat explains.
func (d programsDocument) unexplained(p programResult) []string {
	var all []string
	for i, r := range p.Runs {
		for _, field := range []struct {
			name  string
			value *float64
		}{
			{"runqueue_wait_ns", r.WaitNs}, {"blocked_ns", r.BlockedNs}, {"steal_ns", r.StealNs}, {"throttled_ns", r.ThrottledNs},
			{"max_rss_bytes", r.MaxRSSBytes}, {"core_hz", r.CoreHz}, {"low_ns", r.LowNs}, {"high_ns", r.HighNs},
		} {
			explained := slices.ContainsFunc(d.Caveats, func(c string) bool { return strings.Contains(c, field.name) })
			if field.value == nil && !explained {
				all = append(all, broken(fmt.Sprintf("%s, run %d", p.Command, i+1), "%s is null for no reason", field.name)...)
			}
		}
	}
	return all
}

// mispaired lists pairs of what was not measured, and outcomes that contradict the ratio.
func (d programsDocument) mispaired() []string {
	var all []string
	for _, p := range d.Pairs {
		at := p.A + " and " + p.B
		for _, name := range []string{p.A, p.B} {
			if !slices.ContainsFunc(d.Results, func(r programResult) bool { return r.Command == name }) {
				all = append(all, broken(at, "%s was not measured", name)...)
			}
		}
		lo, hi := orElse(p.Ratio.Lo, 0), orElse(p.Ratio.Hi, math.Inf(1))
		if p.Outcome == "slower" && lo <= 1 || p.Outcome == "faster" && hi >= 1 {
			all = append(all, broken(at, "%s at a ratio from %g to %g", p.Outcome, lo, hi)...)
		}
		if p.Outcome != "undecided" && (p.Ratio.Value == nil || p.PValue == nil) {
			all = append(all, broken(at, "%s without a ratio or a p value", p.Outcome)...)
		}
	}
	return all
}

func TestPlantedProgramBreaches(t *testing.T) {
	for _, c := range []struct {
		place string
		value any
		says  string
	}{
		{"results.0.verdict", "suspect", "work 1: suspect for 0 reasons"},
		{"results.1.reasons", []any{}, "work 2: suspect for 0 reasons"},
		{"results.0.verdict", "good", "verdict"},
		{"results.0.failure", "exit status 1", "work 1: it failed, and is trusted"},
		{"results.0.stderr_end", "no such file", "work 1: it did not fail"},
		{"results.0.estimate.lo", 3e6, "work 1: a time lies outside"},
		{"results.0.wall.hi", 1.0, "work 1: a time lies outside"},
		{"results.0.cpu.value", 1.0, "work 1: a time lies outside"},
		{"results.0.estimate.value", nil, "work 1: nothing is known of it, and it is trusted"},
		{"results.0.estimate.n", 1, "work 1: 1 runs count and 0 don't, and 2 stand there"},
		{"results.0.method", "guess", "method"},
		{"results.0.method", "", `work 1: 2 runs count by the method ""`},
		{"results.0.parameters.n", 1, "parameters.n: 1 is no text"},
		{"results.0.runs.0.wall_ns", -1, "wall_ns: -1"},
		{"results.0.runs.0.low_ns", 1e9, "work 1, run 1: its bounds"},
		{"results.0.runs.0.exit_code", nil, "work 1, run 1: it ended"},
		{"results.0.runs.0.signal", "killed", "work 1, run 1: it ended"},
		{"results.0.runs.0.rejected", true, "work 1, run 1: it was rejected for no reason"},
		{"results.0.runs.0.rejected", "no", "rejected"},
		{"results.0.runs.0.core_hz", nil, "work 1, run 1: core_hz is null for no reason"},
		{"results.0.runs.1.steal_ns", nil, ""},
		{"caveats", []any{}, "work 1, run 2: max_rss_bytes is null for no reason"},
		{"results.1.outliers.0.run", 2, "work 2: of 2 runs, outlier 2"},
		{"results.1.runs.0.why", 3, "why"},
		{"shell.reasons", []any{"dirty"}, "sh -c exit: trusted for 1 reasons"},
		{"pairs.0.b", "work 3", "work 1 and work 3: work 3 was not measured"},
		{"pairs.0.ratio.lo", 0.9, "work 1 and work 2: slower at a ratio from 0.9"},
		{"pairs.0.outcome", "faster", "work 1 and work 2: faster at"},
		{"pairs.0.outcome", "better", "outcome"},
		{"pairs.0.p_value", nil, "work 1 and work 2: slower without"},
		{"pairs.0.p_value", 1.5, "p_value"},
	} {
		got := breachesOf(t, sample(t, "run.json"), c.place, func(m map[string]any, k string) { m[k] = c.value })
		said := slices.ContainsFunc(got, func(breach string) bool { return strings.Contains(breach, c.says) })
		if c.says == "" && len(got) > 0 || c.says != "" && !said {
			t.Errorf("%s=%v: %q, want one that says %q", c.place, c.value, got, c.says)
		}
	}
}
