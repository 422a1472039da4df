package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

func TestParseParameter(t *testing.T) {
	for text, want := range map[string]string{
		"n=1,10,100":         "1 10 100",
		"n=1..4":             "1 2 3 4",
		"n=4..1":             "4 3 2 1",
		"n=-1..1":            "-1 0 1",
		"n=0..10..4":         "0 4 8",
		"n=10..0..5":         "10 5 0",
		"n=3..3":             "3",
		"t=0.30..0.45..0.05": "0.30 0.35 0.40 0.45", // once a literal
		"t=1..0..0.5":        "1.0 0.5 0.0",
		"t=-0.1..0.1..0.1":   "-0.1 0.0 0.1",
		"n=1..2,5,a..b":      "1 2 5 a..b",
		"flag=-O2,-O3":       "-O2 -O3",
		"a-b_c=x=y":          "x=y",
		"path=../x,1..2/y":   "../x 1..2/y",
	} {
		p, err := parseParameter(text)
		if got := strings.Join(p.values, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "n", "n=", "=1", "1n=1", "n m=1", "{n}=1", "n=1,,2", "n=1..5..0", "n=1..1000000", "n=1..99999999999", "n=0..2000..1", "t=0.3..0.5", "t=.1...2", "t=1...5", "t=0.1..0.5..", "t=0..1..0.0", "t=0..1..0.00000000001"} {
		if p, err := parseParameter(text); err == nil {
			t.Errorf("%q: %v, want an error", text, p)
		}
	}
	if _, err := parseParameters([]string{"n=1", "n=2"}); err == nil {
		t.Error("a name that is given twice passes")
	}
}

// shown are the commands that a call would measure.
func shown(t *testing.T, lines []string, parameters ...string) (names []string) {
	t.Helper()
	commands, err := templates(lines, -1, "")
	if err != nil {
		t.Fatal(err)
	}
	given, err := parseParameters(parameters)
	if err != nil {
		t.Fatal(err)
	}
	flags := &programFlags{commands: commands, given: given}
	all, err := flags.programs(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		names = append(names, fmt.Sprintf("%s %q", c.Name, c.Args))
	}
	return names
}

func TestParametersMultiply(t *testing.T) {
	for _, c := range []struct {
		lines, parameters, want []string
	}{
		{[]string{"echo {n} {m}"}, []string{"n=1,2", "m=a,b"}, []string{
			`echo 1 a ["1" "a"]`, `echo 1 b ["1" "b"]`, `echo 2 a ["2" "a"]`, `echo 2 b ["2" "b"]`,
		}},
		// A command in which a parameter does not stand is measured once.
		{[]string{"true", "echo {n}"}, []string{"n=1,2"}, []string{`true []`, `echo 1 ["1"]`, `echo 2 ["2"]`}},
		// A value is no other parameter's place, and stays one word.
		{[]string{"echo {n}"}, []string{"n={m},a b"}, []string{`echo {m} ["{m}"]`, `echo a b ["a b"]`}},
		{[]string{"echo {x} {n}{n}"}, []string{"n=7"}, []string{`echo {x} 77 ["{x}" "77"]`}},
	} {
		if got := shown(t, c.lines, c.parameters...); !slices.Equal(got, c.want) {
			t.Errorf("%q with %q: %q, want %q", c.lines, c.parameters, got, c.want)
		}
	}
}

// No command is left out. A command was compared with only one of those that the first line makes, and the others passed a limit
// without a word: `a{n}` and `b` with n=1,2 gave a1:b alone.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		lines, parameters string
		want              string
	}{
		{"a", "", ""},
		{"a b", "", "a:b"},
		{"a b c", "", "a:b a:c"},
		{"a{n}", "n=1,2,3", "a1:a2 a1:a3"},
		{"a{n} b{n}", "n=1,2", "a1:b1 a2:b2"},
		{"a b{n}", "n=1,2", "a:b1 a:b2"},
		{"a{n} b", "n=1,2", "a1:b a2:b"},
		{"a{n} b{n} c", "n=1,3", "a1:b1 a3:b3 a1:c a3:c"},
		{"a{n} b{m}", "n=1,3 m=2,4", "a1:b2 a3:b2 a1:b4 a3:b4"},
		{"a{n} b{n}{m}", "n=1,3 m=2,4", "a1:b12 a1:b14 a3:b32 a3:b34"},
		{"a{n}{m} b{n}", "n=1,3 m=2,4", "a12:b1 a14:b1 a32:b3 a34:b3"},
	} {
		flags := &programFlags{}
		var err error
		if flags.given, err = parseParameters(strings.Fields(c.parameters)); err != nil {
			t.Fatal(err)
		}
		var given, got []string
		for i, line := range strings.Fields(c.lines) {
			flags.commands = append(flags.commands, template{name: line, words: []string{line}})
			for _, v := range combinations(flags.parametersOf(i)) {
				given = append(given, v.in(line))
			}
		}
		for _, p := range flags.pairs() {
			got = append(got, given[p[0]]+":"+given[p[1]])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s with %s: %q, want %q", c.lines, c.parameters, got, c.want)
		}
	}
}

// Three commands beside each of three are nine comparisons. Each is wrong with a chance of 1 % / 9: so 14 pairs may have one stray,
// as 15 of 2^14 choices of signs have, and 13 may not (14 of 2^13).
func TestRunsForAllComparisons(t *testing.T) {
	flags := &programFlags{commands: []template{{name: "a{n}"}, {name: "b{m}"}}, given: []parameter{{name: "n", values: []string{"1", "2", "3"}}, {name: "m", values: []string{"1", "2", "3"}}}}
	c := &call{cmd: &cobra.Command{}, settings: settings{mostRegression: 0.05, effort: quick}}
	if err := flags.choosePlan(c); err != nil || flags.plan.MinRuns != 14 {
		t.Errorf("%v: %d runs", err, flags.plan.MinRuns)
	}
}

// A regression beyond what is allowed ends with 3, a failure and what can't be told with
// 1; chance and what is allowed end well.
func TestProgramOutcome(t *testing.T) {
	failure := "exit status 7"
	ratio := func(outcome stats.Outcome, value, lo, hi float64) stats.Pair {
		return pairOf(outcome, value, lo, hi)
	}
	unknown := ratio(stats.Undecided, math.NaN(), math.NaN(), math.NaN())
	for name, c := range map[string]struct {
		limit   string
		pairs   []stats.Pair
		failure *string
		require stats.Verdict
		want    int
	}{
		"slower by too much":        {"50%", []stats.Pair{ratio(stats.Slower, 1.6, 1.55, 1.65)}, nil, "", 3},
		"slower, as is allowed":     {"50%", []stats.Pair{ratio(stats.Slower, 1.4, 1.3, 1.45)}, nil, "", 0},
		"faster":                    {"0", []stats.Pair{ratio(stats.Faster, 0.5, 0.4, 0.6)}, nil, "", 0},
		"the same":                  {"0", []stats.Pair{ratio(stats.Same, 1.001, 0.99, 1.01)}, nil, "", 0},
		"undecided":                 {"5%", []stats.Pair{ratio(stats.Undecided, 1.02, 0.9, 1.2)}, nil, "", 1},
		"undecided within limits":   {"50%", []stats.Pair{ratio(stats.Undecided, 1.02, 0.9, 1.2)}, nil, "", 0},
		"unknown":                   {"50%", []stats.Pair{unknown}, nil, "", 1},
		"unknown beside regression": {"50%", []stats.Pair{unknown, ratio(stats.Slower, 2, 1.9, 2.1)}, nil, "", 3},
		"no limit":                  {"", []stats.Pair{unknown, ratio(stats.Slower, 9, 8, 10)}, nil, "", 0},
		"failed":                    {"", nil, &failure, "", 1},
		"failed, no comparison":     {"50%", []stats.Pair{unknown}, &failure, "", 1},
		"too bad a verdict":         {"", nil, nil, stats.Trusted, 1},
		"good enough":               {"", nil, nil, stats.Suspect, 0},
	} {
		allowed, err := allowedRegression("--max-regression", c.limit)
		if err != nil {
			t.Fatal(err)
		}
		d := record.Programs{Pairs: c.pairs, Results: []program.Report{{Command: "new", Failure: c.failure, Judgement: stats.Judgement{Verdict: stats.Suspect}}}}
		if got := ExitStatus(settings{require: c.require, mostRegression: allowed, regression: c.limit}.outcome(judgedPrograms(d))); got != c.want {
			t.Errorf("%s: exit status %d, want %d", name, got, c.want)
		}
	}
}

// Of two commands that are the same, the worse one counts.
func TestOutcomeOfTheSameCommandTwice(t *testing.T) {
	for _, verdicts := range [][2]stats.Verdict{{stats.Suspect, stats.Trusted}, {stats.Trusted, stats.Suspect}} {
		d := record.Programs{Results: []program.Report{{Command: "true", Judgement: stats.Judgement{Verdict: verdicts[0]}}, {Command: "true", Judgement: stats.Judgement{Verdict: verdicts[1]}}}}
		if got := ExitStatus(settings{require: stats.Trusted, mostRegression: math.NaN()}.outcome(judgedPrograms(d))); got != 1 {
			t.Errorf("%v: exit status %d", verdicts, got)
		}
	}
}

// What is null in the runs of the empty shell alone is explained, too.
func TestUnknownsOfTheShell(t *testing.T) {
	known := stats.FloatOf(1)
	run := program.RunReport{RunqueueWaitNs: known, BlockedNs: known, StealNs: known, ThrottledNs: known, InterruptsNs: known, CoreHz: known, LowNs: known, HighNs: known, MaxRSSBytes: new(int64), MinorFaults: new(int64)}
	d := record.Programs{Results: []program.Report{{Runs: []program.RunReport{run}}}}
	if found := unknowns(d); len(found) != 0 {
		t.Errorf("%q", found)
	}
	run.StealNs = stats.Float{}
	d.Shell = &program.Report{Runs: []program.RunReport{run}}
	if found := unknowns(d); len(found) != 1 || !strings.Contains(found[0], "steal_ns") {
		t.Errorf("%q", found)
	}
}

// Of one run whose bounds tell next to nothing, such as 0 to 216 ms, the middle is no headline.
func TestSingleRunOfWideBounds(t *testing.T) {
	for _, c := range []struct {
		lowMs, highMs float64
		want          stats.Verdict
	}{{90, 110, stats.Suspect}, {0, 216, stats.Unusable}, {100, 190, stats.Unusable}, {0, 0, stats.Unusable}} {
		run := program.Run{LowNs: c.lowMs * 1e6, HighNs: c.highMs * 1e6}
		run.WallNs = 257e6
		if r := single(program.Command{Name: "true"}, run, nil); r.Verdict != c.want {
			t.Errorf("%g to %g ms: %s, want %s: %q", c.lowMs, c.highMs, r.Verdict, c.want, r.Reasons)
		}
	}
}

// Of one run during which this command was stopped, no figure is shown.
func TestSingleRunThatWasStopped(t *testing.T) {
	run := program.Run{LowNs: 90e6, HighNs: 110e6, Rejected: true, Why: []string{"this command was stopped while it ran"}}
	run.WallNs = 257e6
	r := single(program.Command{Name: "true"}, run, nil)
	if stats.IsFinite(r.Estimate.Value) || stats.IsFinite(r.Wall.Value) || len(r.Runs) != 0 || r.Verdict != stats.Unusable || len(r.Reasons) != 1 || !strings.Contains(r.Reasons[0], "was stopped while it ran") {
		t.Errorf("%+v", r)
	}
}
