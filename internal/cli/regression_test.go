package cli

import (
	"math"
	"slices"
	"strings"
	"testing"

	"chronoscope/bytecode"
	"chronoscope/compare"
	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// pairOf returns a pair from a comparison of only two, whose joint interval is its own interval.
func pairOf(outcome stats.Outcome, value, lo, hi float64) stats.Pair {
	joint := &stats.PairJoint{Lo: stats.FloatOf(lo), Hi: stats.FloatOf(hi), FalseAlarms: stats.FalseAlarms, Comparisons: 1}
	return stats.Pair{A: "old", B: "new", Outcome: outcome, Ratio: stats.Estimate{Value: value, Lo: lo, Hi: hi}, Joint: joint}
}

// A pair without a joint interval, because it has too few repetitions, is no regression, however
// far its own interval is above the limit.
func TestFewPairsAreNoRegression(t *testing.T) {
	p := pairOf("slower", 1.184, 1.087, 1.311)
	p.Joint.Lo = stats.Float{}
	if got := ExitStatus(gate(rivalsOf([]stats.Pair{p}), gateRule{allowed: 0.03, flag: "--max-regression", given: "3%"}).err()); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
}

// The number of compared rows counts: judged alone this row is above the limit, but among forty
// rows that may be chance.
func TestManyRowsAreLookedAtTogether(t *testing.T) {
	known := &record.ComparisonValue{}
	row := func(outcome string, value, lo, hi float64) record.ComparisonRow {
		c := &record.ComparisonChange{Outcome: outcome, Ratio: stats.Estimate{Value: value, Lo: lo, Hi: hi, N: 20}}
		return record.ComparisonRow{Topic: "benchmark", Name: "x", Quantity: "time", Better: "lower", Values: []*record.ComparisonValue{known, known}, Changes: []*record.ComparisonChange{c}}
	}
	rows := []record.ComparisonRow{row("slower", 1.1, 1.05, 1.15)}
	for others, want := range map[int]int{0: 3, 39: 1} {
		d := record.Comparison{Subjects: []string{"old", "new"}, Origins: make([]record.Origin, 2), Rows: rows}
		for range others {
			d.Rows = append(d.Rows, row("same", 1, 0.99, 1.01))
		}
		if got := ExitStatus(settings{mostRegression: 0.03}.outcome(judged(d))); got != want {
			t.Errorf("beside %d others: exit status %d, want %d", others, got, want)
		}
	}
}

// The same two times lead to the same status under the same limit, whether run or bench measured
// them or compare read them from records.
func TestOneRuleForRegressions(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		outcome       string
		value, lo, hi float64
		allowed       float64
		want          int
	}{
		{"slower", 1.6, 1.5, 1.7, 0.4, 3},
		{"slower", 1.184, 1.087, 1.311, 0.1, 1}, // the lower end is below the limit; an earlier version returned 3
		{"slower", 1.04, 1.01, 1.07, 0.05, 1},   // the upper end is above it; an earlier version returned 0
		{"slower", 1.04, 1.015, 1.07, 0, 3},
		{"undecided", 1.02, 0.9, 1.2, 0.05, 1},
		{"undecided", 0.95, 0.8, 1.06, 0.05, 1},
		{"undecided", 1.02, 0.99, 1.05, 0.05, 0},
		{"undecided", 1.02, nan, nan, 0.05, 1},
		{"undecided", nan, nan, nan, 0.05, 1},
		{"undecided", nan, nan, nan, nan, 0},
		{"same", 1, 0.99, 1.01, 0, 0},
		{"faster", 0.5, 0.4, 0.6, 0, 0},
	} {
		ratio := stats.Estimate{Value: c.value, Lo: c.lo, Hi: c.hi}
		pairs := []stats.Pair{pairOf(stats.Outcome(c.outcome), c.value, c.lo, c.hi)}
		change := &record.ComparisonChange{Ratio: ratio, Outcome: c.outcome}
		row := record.ComparisonRow{Topic: "program", Name: "p", Quantity: "time", Better: "lower", Values: []*record.ComparisonValue{{}, {}}, Changes: []*record.ComparisonChange{change}}
		set := settings{mostRegression: c.allowed}
		for command, err := range map[string]error{
			"run":     set.outcome(judgedPrograms(record.Programs{Pairs: pairs})),
			"bench":   set.outcome(judgedBench(record.Bench{Pairs: pairs}, nil)),
			"compare": set.outcome(judged(record.Comparison{Subjects: []string{"old", "new"}, Origins: make([]record.Origin, 2), Rows: []record.ComparisonRow{row}})),
		} {
			if got := ExitStatus(err); got != c.want {
				t.Errorf("%s: %+v: exit status %d, want %d: %v", command, c, got, c.want, err)
			}
		}
	}
	for _, word := range []string{string(stats.Slower), string(stats.Slower), compare.Slower} {
		if word != "slower" {
			t.Errorf("one of the commands calls it %q", word)
		}
	}
	for _, word := range []string{string(stats.Undecided), string(stats.Undecided), compare.Undecided} {
		if word != "undecided" {
			t.Errorf("one of the commands calls it %q", word)
		}
	}
}

// A limit of 5 was once taken for 500 %.
func TestLimitThatIsNoLimit(t *testing.T) {
	for text, want := range map[string]string{
		" ": "invalid value", "1": "100 %: write 1%", "5": "500 %: write 5%", "2.5": "250 %: write 2.5%",
		"-5%": "invalid value", "5%%": "invalid value", "NaN": "invalid value", "+Inf": "invalid value", "five": "invalid value",
		"0": "", "5%": "", "0.05": "", "500%": "", " 5 % ": "",
	} {
		_, err := allowedRegression("--max-regression", text)
		if want == "" && err == nil {
			continue
		}
		if want == "" || ExitStatus(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// In records, the limit applies to whatever got worse. An undecided comparison fails only for the
// times of the first subject's work.
func TestRegressionInRecords(t *testing.T) {
	nan := math.NaN()
	row := func(topic, quantity, better string, first, other *record.ComparisonValue, c *record.ComparisonChange) record.ComparisonRow {
		return record.ComparisonRow{Topic: topic, Name: "x", Quantity: quantity, Better: better, Values: []*record.ComparisonValue{first, other}, Changes: []*record.ComparisonChange{c}}
	}
	change := func(outcome string, value, lo, hi float64) *record.ComparisonChange {
		return &record.ComparisonChange{Outcome: outcome, Ratio: stats.Estimate{Value: value, Lo: lo, Hi: hi}, Reasons: []string{"so"}}
	}
	known := &record.ComparisonValue{}
	same := row("program", "time", "lower", known, known, change("same", 1, 1, 1))
	failed := &record.ComparisonValue{Estimate: stats.NoEstimate("ns", "median"), Verdict: stats.Unusable}
	advised := row("best clock", "quality", "higher", &record.ComparisonValue{Of: "x"}, known, change("same", 1, 1, 1))
	for name, c := range map[string]struct {
		rows []record.ComparisonRow
		want int
	}{
		"more is better, and it became less": {[]record.ComparisonRow{row("clock", "quality", "higher", known, known, change("worse", 0.8, 0.7, 0.9))}, 3},
		"more is better, and it became more": {[]record.ComparisonRow{row("clock", "quality", "higher", known, known, change("better", 1.8, 1.7, 1.9))}, 0},
		"another clock is the best one":      {[]record.ComparisonRow{same, row("best clock", "quality", "higher", known, known, change("worse", 0.8, 0.7, 0.9))}, 0},
		"a worse rank":                       {[]record.ComparisonRow{row("clock", "rank", "lower", known, known, change("worse", 3, nan, nan))}, 0},
		"more CPU time":                      {[]record.ComparisonRow{same, row("program", "CPU time", "lower", known, known, change("slower", 1.3, 1.2, 1.4))}, 3},
		"CPU time that can't be told":        {[]record.ComparisonRow{same, row("program", "CPU time", "lower", known, known, change("undecided", 1, 0.5, 2))}, 0},
		"a clock that none advises to use":   {[]record.ComparisonRow{row("clock", "cost", "lower", known, known, change("undecided", 2, nan, nan)), same}, 0},
		"an advised clock without interval":  {[]record.ComparisonRow{advised, row("clock", "cost", "lower", known, known, change("undecided", 2, nan, nan)), same}, 1},
		"noise that can't be told":           {[]record.ComparisonRow{row("noise", "time lost", "lower", known, known, change("undecided", 2, nan, nan))}, 1},
		"noise that can, beside some":        {[]record.ComparisonRow{row("noise", "time lost", "lower", known, known, change("same", 1, nan, nan)), row("noise", "time lost", "lower", known, known, change("undecided", 2, nan, nan))}, 0},
		"a program that is missing":          {[]record.ComparisonRow{same, row("program", "time", "lower", known, nil, nil)}, 1},
		"a program that is new":              {[]record.ComparisonRow{same, row("program", "time", "lower", nil, known, nil)}, 0},
		"an unusable program":                {[]record.ComparisonRow{same, row("program", "time", "lower", known, known, change("incomparable", nan, nan, nan))}, 1},
		"a program that failed before":       {[]record.ComparisonRow{same, row("program", "time", "lower", failed, known, change("incomparable", nan, nan, nan))}, 0},
		"beside a regression":                {[]record.ComparisonRow{row("program", "time", "lower", known, nil, nil), row("benchmark", "time", "lower", known, known, change("slower", 1.3, 1.2, 1.4))}, 3},
		"nothing in both":                    {[]record.ComparisonRow{row("clock", "cost", "lower", known, nil, nil)}, 1},
	} {
		d := record.Comparison{Subjects: []string{"old", "new"}, Origins: make([]record.Origin, 2), Rows: c.rows}
		if got := ExitStatus(settings{mostRegression: 0.05}.outcome(judged(d))); got != c.want {
			t.Errorf("%s: exit status %d, want %d", name, got, c.want)
		}
		err, wantAnError := settings{mostRegression: nan}.outcome(judged(d)), name == "nothing in both"
		if (err != nil) != wantAnError {
			t.Errorf("%s, without a limit: %v", name, err)
		}
	}
}

// If nothing could be compared, the error says why: not that the others lack it, if they have it measured in another way.
func TestWhyNothingIsComparable(t *testing.T) {
	row := func(c *record.ComparisonChange) record.ComparisonRow {
		return record.ComparisonRow{Topic: "bytecode", Name: "iadd", Quantity: "time", Better: "lower", Values: []*record.ComparisonValue{{}, {}}, Changes: []*record.ComparisonChange{c}}
	}
	for want, rows := range map[string][]record.ComparisonRow{
		"could be compared: the others lack it: name":                       {row(nil)},
		"could be compared: timed by discrete, and timed by tsc: name":      {row(nil), row(&record.ComparisonChange{Outcome: "incomparable", Reasons: []string{"timed by discrete, and timed by tsc"}})},
		"could be compared: the other is unusable: it was not steady: name": {row(&record.ComparisonChange{Outcome: "incomparable", Reasons: []string{"the other is unusable: it was not steady"}})},
	} {
		d := record.Comparison{Subjects: []string{"old", "new"}, Origins: make([]record.Origin, 2), Rows: rows}
		err := settings{mostRegression: math.NaN()}.outcome(judged(d))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A command that fails in the second record can't be told, whichever of its times the first record knows. Beside another
// tool's wall times it once had no row, and another command that could be compared made the status 0.
func TestFailureBesideWallTimes(t *testing.T) {
	of := func(command string, time, wall float64) program.Report {
		estimate := func(v float64) stats.Estimate {
			if math.IsNaN(v) {
				return stats.NoEstimate("ns", "median")
			}
			return stats.Estimate{Value: v, Lo: 0.999 * v, Hi: 1.001 * v, Unit: "ns", Statistic: "median", N: 20}
		}
		r := program.Report{Command: command, Summary: program.Summary{Estimate: estimate(time), CPU: stats.NoEstimate("ns", "median"), Wall: estimate(wall)}, Judgement: stats.NewJudgement()}
		if math.IsNaN(time) && math.IsNaN(wall) {
			r.Lower(stats.Unusable, "it failed")
		}
		return r
	}
	nan := math.NaN()
	doubtful := of("b", nan, 1e6)
	doubtful.Lower(stats.Unusable, "how long it takes alone is not known")
	others := []program.Report{of("a", nan, 1e6), of("b", nan, 1e6)}
	for _, c := range []struct {
		before, after []program.Report
		want          int
	}{
		{others, []program.Report{of("a", 1e6, 1e6), of("b", 1e6, 1e6)}, 0},
		{others, []program.Report{of("a", 1e6, 1e6), of("b", nan, nan)}, 1},
		{[]program.Report{of("a", 1e6, 1e6), of("b", 1e6, 1e6)}, []program.Report{of("a", 1e6, 1e6), of("b", nan, nan)}, 1},
		{[]program.Report{of("a", 1e6, 1e6), of("b", nan, nan)}, []program.Report{of("a", 1e6, 1e6), of("b", 1e6, 1e6)}, 0},
		{[]program.Report{of("a", 1e6, 1e6), of("b", nan, nan)}, others, 0},
		{[]program.Report{of("a", 1e6, 1e6), doubtful}, []program.Report{of("a", 1e6, 1e6), of("b", 2e6, 2e6)}, 1}, // nothing failed
	} {
		subjects := []compare.Subject{{Name: "old", Document: record.Programs{Results: c.before}}, {Name: "new", Document: record.Programs{Results: c.after}}}
		d, err := compare.Subjects(record.Header{}, subjects)
		if err != nil {
			t.Fatal(err)
		}
		if err := (settings{mostRegression: 0.05}).outcome(judged(d)); ExitStatus(err) != c.want {
			t.Errorf("%+v: status %d, want %d: %v", d.Rows, ExitStatus(err), c.want, err)
		}
	}
}

// allocs/op has an interval, by which it is worse: of 0 allocations there is no ratio, and whether more is beyond the limit can't
// be told. Stray allocations of the Go runtime, of which 16 in a run of 10,000 iterations may be the most, are no alarm. Other
// metrics have no interval: equal code once raised alarms, as many metrics depend on what else ran, and B/op on the number of
// iterations. Fewer than six repetitions have no interval either.
func TestRegressionOfMetrics(t *testing.T) {
	type bounds struct{ value, lo, hi float64 }
	const allocs, rate, iterations = "allocs/op", "frogs/s", 10_000
	for _, c := range []struct {
		unit        string
		a, b        bounds
		repetitions int
		outcome     string
		want        int
	}{
		{allocs, bounds{1, 1, 1}, bounds{10, 10, 10}, 8, compare.Worse, 3},
		{allocs, bounds{10, 10, 10}, bounds{1, 1, 1}, 8, compare.Better, 0},
		{allocs, bounds{0, 0, 0.001}, bounds{1, 1, 1}, 8, compare.Worse, 1},
		{allocs, bounds{0, 0, 0.5}, bounds{1, 0.4, 1}, 8, compare.Undecided, 0},
		{allocs, bounds{1, 1, 1}, bounds{0, 0, 0}, 8, compare.Better, 0},
		{allocs, bounds{0, 0, 0}, bounds{0.003, 0.003, 0.003}, 8, compare.Undecided, 0}, // strays
		{allocs, bounds{0.01, 0.01, 0.01}, bounds{0.012, 0.012, 0.012}, 8, compare.Undecided, 0},
		{allocs, bounds{3, 3, 3}, bounds{3, 3, 3.001}, 8, compare.Same, 0},
		{allocs, bounds{0, 0, 0.001}, bounds{0, 0, 0}, 8, compare.Same, 0},
		{allocs, bounds{1, 1, 1}, bounds{10, 10, 10}, 5, compare.Undecided, 0},
		{rate, bounds{100, 99, 101}, bounds{50, 49, 51}, 8, compare.Undecided, 0},
		{rate, bounds{100, 99, 101}, bounds{0, 0, 0}, 8, compare.Undecided, 0},
		{"p99-ns", bounds{100, 99, 101}, bounds{150, 149, 151}, 8, compare.Undecided, 0},
		{"B/op", bounds{100, 99, 101}, bounds{150, 149, 151}, 8, compare.Undecided, 0},
		{"MB/s", bounds{100, 99, 101}, bounds{50, 49, 51}, 8, compare.Undecided, 0},
	} {
		of := func(x bounds) record.Bench {
			time := stats.Estimate{Value: 100, Lo: 99.9, Hi: 100.1, Unit: "ns", N: c.repetitions}
			metric := gobench.Metric{Unit: c.unit, Value: x.value, Lo: stats.FloatOf(x.lo), Hi: stats.FloatOf(x.hi)}
			b := gobench.Report{Benchmark: gobench.Benchmark{Name: "BenchmarkX"}, Summary: gobench.Summary{Estimate: time, Iterations: iterations, Metrics: []gobench.Metric{metric}}, Judgement: stats.NewJudgement()}
			b.Runs = []gobench.RunReport{{Iterations: 2}, {Iterations: iterations / 5}, {Iterations: iterations}}
			return record.Bench{Header: record.Header{Machine: &machine.Machine{}}, Results: []gobench.Report{b}}
		}
		d, err := compare.Subjects(record.Header{}, []compare.Subject{{Name: "old", Document: of(c.a)}, {Name: "new", Document: of(c.b)}})
		if err != nil {
			t.Fatal(err)
		}
		if row := d.Rows[len(d.Rows)-1]; row.Quantity != c.unit || row.Outcome != c.outcome {
			t.Errorf("%s from %v to %v: %s, want %s", row.Quantity, c.a, c.b, row.Outcome, c.outcome)
		}
		err = settings{mostRegression: 0.05, gateFlag: "--max-regression", regression: "5%"}.outcome(judged(d))
		if ExitStatus(err) != c.want || err != nil && strings.Contains(err.Error(), "NaN") {
			t.Errorf("%s from %v to %v: status %d, want %d: %v", c.unit, c.a, c.b, ExitStatus(err), c.want, err)
		}
	}
}

// The decision of the whole suite counts, whatever the interval of one pair says: single intervals
// raised an alarm among 40 benchmarks of equal code. An undecided pair passes with a warning that
// names it, or fails, as the user chose. A pair that was not measured fails.
func TestUndecidedPassesWithAWarning(t *testing.T) {
	side := func(name string, side stats.Side) stats.Pair {
		p := pairOf(stats.Slower, 1.1, 1.02, 1.2)
		p.B, p.Joint.Lo, p.Joint.Side = name, stats.FloatOf(0.99), side
		return p
	}
	for _, c := range []struct {
		pairs   []stats.Pair
		passes  bool
		want    int
		warning string
	}{
		{[]stats.Pair{side("x", stats.Beyond), side("y", stats.Open)}, true, 3, "1 of 2 comparisons pass undecided: y"},
		{[]stats.Pair{side("x", stats.Open), side("y", stats.Within)}, true, 0, "1 of 2 comparisons pass undecided: x"},
		{[]stats.Pair{side("x", stats.Open), side("y", stats.Within)}, false, 1, ""},
		{[]stats.Pair{side("x", stats.Within)}, false, 0, ""},
		{[]stats.Pair{side("x", stats.Open)}, true, 0, "x"},
		{[]stats.Pair{pairOf(stats.Undecided, 1, 0.9, 1.1)}, true, 0, "new"}, // judged alone, as run does
		{slices.Repeat([]stats.Pair{side("x", stats.Open)}, 9), true, 0, "x, x, x, x, x, 4 more"},
	} {
		var notes strings.Builder
		set := settings{mostRegression: 0.05, regression: "5%", gateFlag: "--max-regression", undecidedPasses: c.passes, notes: &notes}
		if got := ExitStatus(set.outcome(judgedBench(record.Bench{Pairs: c.pairs}, nil))); got != c.want {
			t.Errorf("%+v, undecided passes: %v: exit status %d, want %d", c.pairs, c.passes, got, c.want)
		}
		if (c.warning == "") != (notes.Len() == 0) || !strings.Contains(notes.String(), c.warning) {
			t.Errorf("%+v: %q, want %q", c.pairs, notes.String(), c.warning)
		}
	}
	missing := settings{mostRegression: 0.05, undecidedPasses: true}.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{side("x", stats.Within)}, Missing: []record.BenchMissing{{Package: "p", Why: "it does not compile"}}}, nil))
	if ExitStatus(missing) != 1 {
		t.Errorf("a package that does not compile: %v", missing)
	}
}

// The interval of the first undecided comparison stood behind the names of all, as if it were theirs, and the error named the
// first one alone. An interval within the limit was given as the reason why that is not known.
func TestUndecidedAreToldApart(t *testing.T) {
	var all []rival
	for _, name := range []string{"x", "y", "z"} {
		p := pairOf(stats.Undecided, 0.9, 0.8, 0.95)
		p.B, p.Joint.Side = name, stats.Open
		all = append(all, rivalsOf([]stats.Pair{p})...)
	}
	const why = "by itself it is within the limit (a ratio of 0.8 to 0.95), but too few pairs were measured to be sure: "
	if got := gate(all, gateRule{flag: "--gate", allowed: 0.05, undecidedPasses: true}).warning(); !strings.Contains(got, "undecided: x, y, z: of the first, "+why) {
		t.Error(got)
	}
	if got := gate(all[:1], gateRule{flag: "--gate", allowed: 0.05, undecidedPasses: true}).warning(); !strings.Contains(got, "undecided: x: "+why) {
		t.Error(got)
	}
	if got := gate(all, gateRule{flag: "--gate", allowed: 0.05}).err().Error(); !strings.Contains(got, why) || !strings.HasSuffix(got, " (nor of y, z)") {
		t.Error(got)
	}
}

// Names in a record of somebody else once reached the terminal as they were, through the warning of what passes undecided.
func TestWarningDoesNotSteerTheTerminal(t *testing.T) {
	p := pairOf(stats.Undecided, 1, 0.9, 1.1)
	p.B = "new\x1b[8m\n"
	var notes strings.Builder
	set := settings{mostRegression: 0.05, regression: "5%", gateFlag: "--max-regression", undecidedPasses: true, notes: &notes}
	if err := set.outcome(found{rivals: rivalsOf([]stats.Pair{p})}); err != nil || strings.Contains(notes.String(), "\x1b") || strings.Count(notes.String(), "\n") != 1 {
		t.Errorf("%v, %q", err, notes.String())
	}
}

// If results have the same name, --require judges the worst of them. It once judged the last one.
func TestRequireJudgesResultsOfOneName(t *testing.T) {
	trusted, suspect := stats.NewJudgement(), stats.Judgement{Verdict: stats.Suspect}
	for _, order := range [][]stats.Judgement{{trusted, suspect}, {suspect, trusted}} {
		var programs record.Programs
		var javas record.Bytecode
		for _, j := range order {
			metrics := map[string]program.MetricSummary{"ops/s": {Judgement: j}}
			programs.Results = append(programs.Results, program.Report{Command: "x", Summary: program.Summary{Metrics: metrics}, Judgement: trusted})
			javas.Others = append(javas.Others, bytecode.Report{Instructions: []bytecode.InstructionReport{{Mnemonic: "iadd", Judgement: j}}})
		}
		for command, all := range map[string]map[string]stats.Verdict{"run": judgedPrograms(programs).verdicts, "bytecode": verdictsOfBytecode(javas)} {
			if (settings{require: stats.Trusted}).met(all) == nil {
				t.Errorf("%s: a suspect result passes: %v", command, all)
			}
		}
	}
}

// A figure that is worse was told from chance, also if it may be within the limit.
func TestWorseWithinTheLimitIsTold(t *testing.T) {
	worse := rival{ratio: stats.Estimate{Value: 1.04, Lo: 1.02, Hi: 1.07}, joint: stats.Joint{Lo: 1.01}, slower: true, optional: true}
	undecided := rival{ratio: stats.Estimate{Value: 1.04, Lo: 0.9, Hi: 1.07}, joint: stats.Joint{Lo: 0.9}, undecided: true, optional: true}
	beyond := rival{ratio: stats.Estimate{Value: 1.5, Lo: 1.2, Hi: 1.9}, joint: stats.Joint{Lo: 1.04}, slower: true, optional: true}
	for _, c := range []struct {
		all    []rival
		status int
	}{{[]rival{worse, worse}, 0}, {[]rival{undecided, undecided}, 1}, {[]rival{beyond, beyond}, 1}} {
		if err := gate(c.all, gateRule{allowed: 0.05, flag: "--max-regression", given: "5%"}).err(); ExitStatus(err) != c.status {
			t.Errorf("%+v: status %d, want %d: %v", c.all, ExitStatus(err), c.status, err)
		}
	}
}

// A comparison that its suite judged has a limit of its own: the reason says whether it is beyond that one.
func TestUndecidedByItsOwnLimit(t *testing.T) {
	p := pairOf(stats.Slower, 1.05, 1.02, 1.08)
	p.Joint.Side, p.Joint.Limit = stats.Open, stats.FloatOf(0.05)
	for limit, beyond := range map[float64]bool{0.05: false, 0.01: true} {
		p.Joint.Limit = stats.FloatOf(limit)
		err := gate(rivalsOf([]stats.Pair{p}), gateRule{allowed: 0, flag: "--gate", given: "sec/op=5%,allocs/op=0"}).err()
		if err == nil || strings.Contains(err.Error(), "by itself it is beyond the limit") != beyond {
			t.Errorf("a limit of %v: %v", limit, err)
		}
	}
}

// A metric is worse, not slower, and the message says why it can't be told.
func TestMetricBelowZeroCantBeTold(t *testing.T) {
	p := pairOf(stats.Undecided, math.NaN(), math.NaN(), math.NaN())
	p.Metric, p.Why, p.Joint.Side = "n", program.BelowZero, stats.Open
	err := gate(rivalsOf([]stats.Pair{p}), gateRule{allowed: 0, flag: "--gate", given: "n=5%"}).err()
	if want := "--gate: whether n of " + p.B + " is worse than " + p.A + " can't be told: values below 0 have no ratio"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Of a metric nothing takes long, also where the message is that of times.
func TestMetricBeyondTheLimitByItself(t *testing.T) {
	p := pairOf(stats.Slower, 3, 2, 4)
	p.Metric, p.Joint.Side, p.Joint.Limit = "n", stats.Open, stats.FloatOf(0.05)
	err := gate(rivalsOf([]stats.Pair{p}), gateRule{allowed: 0, flag: "--gate", given: "n=5%"}).err()
	if err == nil || !strings.Contains(err.Error(), "by itself it is beyond the limit (a ratio of 2 to 4)") || strings.Contains(err.Error(), "long as") {
		t.Errorf("%v", err)
	}
}

// An interval from 1 to 1 was given as the reason for which a limit is undecided, where zeros leave no bound at each look.
func TestZerosThatLeaveNoBoundAtEachLook(t *testing.T) {
	p := pairOf(stats.Same, 1, 1, 1)
	p.Metric, p.Zeros, p.Joint.Side, p.Joint.Hi = "n", 20, stats.Open, stats.Float{}
	err := gate(rivalsOf([]stats.Pair{p}), gateRule{allowed: 0, flag: "--gate", given: "n=5%"}).err()
	if err == nil || !strings.Contains(err.Error(), "can't be told: too many values are 0 to bound the ratio at each look") {
		t.Errorf("%v", err)
	}
}

// Where zeros leave no upper bound, the message was that the runs are too few or unusable.
func TestZerosThatLeaveNoBound(t *testing.T) {
	p := pairOf(stats.Undecided, 1, 0, math.NaN())
	p.Metric, p.Zeros, p.Joint.Side = "n", 20, stats.Open
	err := gate(rivalsOf([]stats.Pair{p}), gateRule{allowed: 0, flag: "--gate", given: "n=5%"}).err()
	if err == nil || !strings.HasSuffix(err.Error(), "can't be told: too many values are 0 to bound the ratio: look at both values") {
		t.Errorf("%v", err)
	}
}
