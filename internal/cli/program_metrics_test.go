package cli

import (
	"math"
	"strings"
	"testing"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// What programs write is found where the source says, and nothing else is taken for it.
func TestMetricsAreFoundInOutputs(t *testing.T) {
	const lines = "warm: 1 ops/s\n12.5 ops/s\ndone\n"
	const document = `{"log": "start"}
{"runs": [{"name": "a", "rate": 1e3}, {"name": "b", "rate": "2.5"}], "ok": true, "half": 0.5}
`
	for _, c := range []struct {
		source, output string
		want           float64
		says           string // where nothing is found
	}{
		{"x=regexp:([0-9.]+) ops/s", lines, 12.5, ""},
		{"x=regexp:(?m)^(?:warm): (\\d+) ops", lines, 1, ""},
		{"x=stdout:regexp:= *(-?[0-9.e+-]+)", "x = -1.5e-3\n", -0.0015, ""},
		{"x=regexp:a=b=([0-9]+)", "a=b=3", 3, ""},
		{"x=regexp:([0-9]+) MB", lines, 0, "its output has no match of ([0-9]+) MB"},
		{"x=regexp:(d.ne)", lines, 0, `"done" is no number`},
		{"x=regexp:(Inf|NaN)", "Inf", 0, `"Inf" is no number`},
		{"x=regexp:(?:b|(a))", "b", 0, "has no match"},
		{"x=json:$.runs[0].rate", document, 1000, ""},
		{"x=json:$.runs[1].rate", document, 2.5, ""},
		{"x=json:$.runs[?(@.name == 'b')].rate", document, 2.5, ""},
		{"x=json:half", document, 0.5, ""},
		{"x=json:$.runs[*].rate", document, 0, "finds 2 values"},
		{"x=json:$.rate", document, 0, "finds 0 values"},
		{"x=json:$.ok", document, 0, "finds no number"},
		{"x=json:$.log", document, 0, "finds 0 values"}, // it is in another document than the last
		{"x=json:$.a", "", 0, "it wrote nothing"},
		{"x=json:$.a", lines, 0, "its output is no JSON"},
	} {
		m, err := parseMetric(c.source)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		got, err := m.Read(program.Output{Text: []byte(c.output)})
		switch {
		case c.says == "" && (err != nil || got != c.want):
			t.Errorf("%s: %g, %v, want %g", c.source, got, err, c.want)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || !math.IsNaN(got)):
			t.Errorf("%s: %g, %v, want one that says %q", c.source, got, err, c.says)
		}
	}
	cut := program.Output{Text: []byte(document), IsCut: true}
	m, _ := parseMetric("x=json:half")
	if _, err := m.Read(cut); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("JSON without its begin: %v", err)
	}
}

// What can't be a metric is refused before anything runs.
func TestWrongMetricsAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"ops/s":                   "give NAME=regexp:PATTERN",
		"=regexp:(.)":             "give NAME=regexp:PATTERN",
		"x=":                      "give NAME=regexp:PATTERN",
		"x=([0-9]+)":              "give NAME=regexp:PATTERN",
		"x=regexp:":               "give NAME=regexp:PATTERN",
		"a.b=regexp:(.)":          "give NAME=regexp:PATTERN",
		"a b=regexp:(.)":          "give NAME=regexp:PATTERN",
		"x=regexp:([0-9]+":        "is no regular expression",
		"x=regexp:[0-9]+":         "has 0 groups",
		"x=regexp:(.)(.)":         "has 2 groups",
		"x=json:$.a[":             "is no JSON path",
		"time=regexp:(.)":         "give the metric another name",
		"sec/op=regexp:(.)":       "give the metric another name",
		"max_rss_bytes=json:$.ru": "give the metric another name",
	} {
		if _, err := parseMetric(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want one that says %q", text, err, says)
		}
	}
}

// What --require asks of results it asks of their metrics, too.
func TestVerdictsOfMetricsAreRequired(t *testing.T) {
	p := program.Report{Command: "prog", Judgement: stats.NewJudgement()}
	p.Metrics = map[string]program.MetricSummary{"ops/s": {Judgement: stats.Judgement{Verdict: stats.Unusable}}}
	found := judgedPrograms(record.Programs{Results: []program.Report{p}})
	err := settings{require: stats.Suspect}.met(found.verdicts)
	if err == nil || !strings.Contains(err.Error(), "ops/s of prog is unusable") {
		t.Errorf("%v", err)
	}
}

// After --ignore-failure=4 the advice was --ignore-failure.
func TestAdviceNamesTheExitStatus(t *testing.T) {
	failure, code := "exit status 5", 5
	d := record.Programs{Results: []program.Report{{Command: "prog", Failure: &failure, Runs: []program.RunReport{{ExitCode: &code}}, Judgement: stats.NewJudgement()}}}
	for want, ignored := range map[string][]int{"with --ignore-failure": nil, "with --ignore-failure=4,5": {4}} {
		if err := judgedPrograms(d, ignored...).failed; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Without --gate, --max-regression judges times alone.
func TestMaxRegressionIsOfTimes(t *testing.T) {
	d := record.Programs{Pairs: []stats.Pair{{A: "a", B: "b"}, {A: "a", B: "b", Metric: "ops/s"}}}
	if rivals := judgedPrograms(d).rivals; len(rivals) != 1 || rivals[0].name != "b" {
		t.Errorf("%+v", rivals)
	}
	d.Pairs[1].Joint = &stats.PairJoint{Side: stats.Within}
	if rivals := judgedPrograms(d).rivals; len(rivals) != 1 || rivals[0].name != "ops/s of b" {
		t.Errorf("%+v", rivals)
	}
}
