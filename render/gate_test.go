package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"regexp"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// gatedBench returns a suite with a benchmark that is slower and has a hostile name, one that is
// undecided, one that is not slower, and one that failed.
func gatedBench() record.Bench {
	const hostile = "BenchmarkCopy/<b>|`x`,a:b%\n::error::planted"
	pair := func(name, metric string, outcome stats.Outcome, ratio float64, side stats.Side) stats.Pair {
		joint := &stats.PairJoint{Lo: stats.FloatOf(ratio - 0.01), Hi: stats.FloatOf(ratio + 0.01), FalseAlarms: 0.01, Comparisons: 4, Side: side, Limit: stats.FloatOf(0.05)}
		return stats.Pair{A: "example.com/a." + name + " at main", B: "example.com/a." + name, Metric: metric, Outcome: outcome, Ratio: stats.Estimate{Value: ratio, Lo: ratio, Hi: ratio, Unit: "ratio"}, Joint: joint}
	}
	report := func(name, revision string, ns float64) gobench.Report {
		return gobench.Report{
			Benchmark: gobench.Benchmark{Name: name, Package: "example.com/a", Revision: revision, File: "a/copy_test.go", Line: 12},
			Summary:   gobench.Summary{Estimate: estimateOf(ns, ns-1, ns+1), Metrics: []gobench.Metric{{Unit: "allocs/op", Value: 2, Lo: stats.FloatOf(2), Hi: stats.FloatOf(2)}, {Unit: "MB/s", Value: 9}}},
			Judgement: stats.Judgement{Verdict: stats.Trusted},
		}
	}
	d := record.Bench{Header: record.Header{Machine: &machine.Machine{CPU: "Made Up CPU"}, DurationNs: 6e10}}
	for _, name := range []string{hostile, "BenchmarkOpen", "BenchmarkCalm"} {
		d.Results = append(d.Results, report(name, "main", 100), report(name, "", 120))
	}
	d.Results[1].RepositoryFile = "services/a/copy_test.go" // it was measured in a subfolder
	broken := gobench.Report{Benchmark: gobench.Benchmark{Name: "BenchmarkBroken", Package: "example.com/a"}, Summary: gobench.Summary{Estimate: unknown}, Judgement: stats.Judgement{Verdict: stats.Unusable, Reasons: []string{"panic: no"}}}
	d.Results = append(d.Results, broken)
	d.Pairs = []stats.Pair{
		pair(hostile, "", stats.Slower, 1.2, stats.Beyond), pair(hostile, "allocs/op", stats.Same, 1, ""),
		pair("BenchmarkOpen", "", stats.Undecided, 1.04, stats.Open), pair("BenchmarkCalm", "", stats.Same, 1, stats.Within),
	}
	return d
}

func written(t *testing.T, write func(d record.Bench, b *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(gatedBench(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The summary begins with the verdict, then lists what is slower, then, folded, everything else.
// Names can't inject HTML, break a table cell or mention a user.
func TestBenchSummary(t *testing.T) {
	text := written(t, func(d record.Bench, b *bytes.Buffer) error { return BenchSummary(b, d) })
	for _, want := range []string{
		StickyMark + "\n## Slower: 1 of 3 comparisons are beyond the limit; 1 benchmark failed\n", "+20 % | +19 % to +21 % | +5 % | **beyond the limit** |",
		"<summary>3 comparisons without a change", "| Open | sec/op | +4 %", "| Calm | sec/op |", "allocs/op", "**BenchmarkBroken** failed: panic: no", "Made Up CPU",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<b>") || strings.Contains(text, "\n::") {
		t.Errorf("a name is more than a name:\n%s", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(line, "|")-strings.Count(line, "\\|") != 7 {
			t.Errorf("a row of another length: %s", line)
		}
	}
	quiet := gatedBench()
	quiet.Pairs = quiet.Pairs[3:]
	var b bytes.Buffer
	if BenchSummary(&b, quiet); !strings.Contains(b.String(), "## No regression: 1 comparisons are within the limit") {
		t.Errorf("%s", b.String())
	}
}

// Two packages may have a benchmark of one name: the summary, the annotation and the reasons did not say which one is slower or failed.
func TestBenchmarksOfOneName(t *testing.T) {
	d := gatedBench()
	other := d.Results[len(d.Results)-1] // which failed
	name := "BenchmarkOpen"
	other.Package, other.Name = "example.com/other", name
	d.Results = append(d.Results, other)
	var summary, notes bytes.Buffer
	if err := errors.Join(BenchSummary(&summary, d), Annotations(&notes, d)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- **example.com/other.BenchmarkOpen** failed", ".BenchmarkOpen | sec/op | +4 %", "| Calm | sec/op |"} {
		if !strings.Contains(summary.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, summary.String())
		}
	}
	if !strings.Contains(notes.String(), ".BenchmarkOpen sec/op") {
		t.Error(notes.String())
	}
}

// A benchmark of which a later run failed, in either revision, is named as such in the summary and an error in JUnit.
// An interrupted comparison is not judged. A name is no image or emphasis.
func TestBenchFailuresAndInterruptions(t *testing.T) {
	d := gatedBench()
	d.Results[2].Failed, d.Results[2].Reasons = true, []string{"exit status 2"}
	d.Results[0].Name, d.Results[0].Failed, d.Results[0].Reasons = "Benchmark![x](https://host/p)*a*", true, []string{"no"}
	var summary, junit, notes bytes.Buffer
	if err := errors.Join(BenchSummary(&summary, d), JUnit(&junit, d)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"; 3 benchmarks failed", "**BenchmarkOpen at main** failed: exit status 2", `Benchmark\!\[x\](https://host/p)\*a\* at main`} {
		if !strings.Contains(summary.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, summary.String())
		}
	}
	if n := strings.Count(junit.String(), "<error"); n != 3 || !strings.Contains(junit.String(), `name="BenchmarkOpen at main"`) {
		t.Errorf("%d errors:\n%s", n, junit.String())
	}
	d.Interrupted = true
	summary.Reset()
	junit.Reset()
	if err := errors.Join(BenchSummary(&summary, d), JUnit(&junit, d), Annotations(&notes, d)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(summary.String(), "## Interrupted, and so not judged\n") || strings.Contains(junit.String(), "<failure") || notes.Len() > 0 {
		t.Errorf("interrupted: %s\n%s\n%s", summary.String(), junit.String(), notes.String())
	}
}

// What could not be measured, so that the status is 1, is named in the heading and is an error in JUnit. Once they said that
// there was no regression.
func TestWhatIsNotMeasured(t *testing.T) {
	d := gatedBench()
	d.Results, d.Pairs = d.Results[:6], d.Pairs[3:]
	d.Missing = []record.BenchMissing{
		{Package: "example.com/<b>", Revision: "main", Why: "it does not compile:\nx.go:1:1 " + strings.Repeat("no ", 1000)},
		{Metric: "alloc/op", Why: "no benchmark reports it"}, {Why: "no process could be started"}, {Package: "example.com/d", Why: "no"},
	}
	var summary, junit bytes.Buffer
	if err := errors.Join(BenchSummary(&summary, d), JUnit(&junit, d)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## No regression was found in 1 comparison; not measured: example.com/&lt;b&gt; at main, alloc/op, the rest, 1 more\n",
		"- **example.com/&lt;b&gt; at main** was not measured: it does not compile:␤x.go:1:1 no", "- **the rest** was not measured: no process could be started\n",
	} {
		if !strings.Contains(summary.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, summary.String())
		}
	}
	if summary.Len() > 3000 {
		t.Errorf("a summary of %d bytes", summary.Len())
	}
	for _, want := range []string{`tests="5" failures="0" errors="4"`, `classname="example.com/d" name="example.com/d"`, `name="alloc/op"`, `<error message="no process could be started">`} {
		if !strings.Contains(junit.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, junit.String())
		}
	}
}

// What is far beyond the limit in too few pairs fails the gate, so that no report says that nothing was found.
func TestFarBeyondInReports(t *testing.T) {
	d := gatedBench()
	d.Pairs = d.Pairs[2:]
	d.Pairs[0].Joint.FarBeyond, d.Pairs[0].Joint.Why = true, "the ratio is 4 or more in all pairs measured (3)"
	var summary, junit bytes.Buffer
	if err := errors.Join(BenchSummary(&summary, d), JUnit(&junit, d)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## Undecided: 1 of 2 comparisons are far beyond the limit, but in too few pairs; 1 benchmark failed\n", "| **far beyond the limit**, in too few pairs |"} {
		if !strings.Contains(summary.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, summary.String())
		}
	}
	for _, want := range []string{`errors="2" skipped="0"`, `: the ratio is 4 or more in all pairs measured (3)">`} {
		if !strings.Contains(junit.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, junit.String())
		}
	}
}

// GitHub reads one command per line; a name can't begin another command.
func TestAnnotations(t *testing.T) {
	text := written(t, func(d record.Bench, b *bytes.Buffer) error { return Annotations(b, d) })
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "::error file=services/a/copy_test.go,line=12,title=slower than allowed::Copy/<b>|`x`,a:b%25") || !strings.HasPrefix(lines[1], "::warning title=undecided benchmarks::Open sec/op") {
		t.Errorf("%q", lines)
	}
}

func TestJUnit(t *testing.T) {
	text := written(t, func(d record.Bench, b *bytes.Buffer) error { return JUnit(b, d) })
	var suite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []struct {
			Class   string    `xml:"classname,attr"`
			Name    string    `xml:"name,attr"`
			File    string    `xml:"file,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	// Times are written without an exponent, as the schema of Jenkins's xunit plugin requires
	// (SUREFIRE_TIME in junit-10.xsd).
	if times := regexp.MustCompile(` time="([^"]*)"`).FindAllStringSubmatch(text, -1); len(times) != 5 || times[0][1] != "60.000" || times[1][1] != "0" {
		t.Errorf("times %q", times)
	}
	if err := xml.Unmarshal([]byte(text), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != 4 || suite.Failures != 1 || suite.Errors != 1 || suite.Skipped != 1 || len(suite.Cases) != 4 {
		t.Fatalf("%+v\n%s", suite, text)
	}
	if c := suite.Cases; c[0].Failure == nil || c[1].Skipped == nil || c[2].Failure != nil || c[3].Error == nil || c[0].File != "services/a/copy_test.go" || c[1].File != "a/copy_test.go" || c[0].Class != "example.com/a" {
		t.Errorf("%+v", c)
	}
}

// These are the formats that GitLab, github-action-benchmark and Bencher document.
func TestFormatsOfOthers(t *testing.T) {
	strictly := func(text string, into any) {
		t.Helper()
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	var issues []struct {
		Description string
		CheckName   string `json:"check_name"`
		Fingerprint string
		Severity    string
		Location    struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	strictly(written(t, func(d record.Bench, b *bytes.Buffer) error { return CodeQuality(b, d) }), &issues)
	if len(issues) != 1 || issues[0].Severity != "major" || len(issues[0].Fingerprint) != 32 || issues[0].Location.Path != "services/a/copy_test.go" || issues[0].Location.Lines.Begin != 12 || issues[0].CheckName == "" {
		t.Errorf("%+v", issues)
	}
	var entries []struct {
		Name, Unit   string
		Value        float64
		Range, Extra string
	}
	strictly(written(t, func(d record.Bench, b *bytes.Buffer) error { return BenchmarkAction(b, d) }), &entries)
	if len(entries) != 6 || entries[2].Name != "example.com/a.BenchmarkOpen" || entries[2].Value != 120 || entries[2].Unit != "ns/op" || entries[3].Unit != "allocs/op" {
		t.Errorf("%+v", entries)
	}
	var measures map[string]map[string]struct {
		Value float64
		Lower float64 `json:"lower_value"`
		Upper float64 `json:"upper_value"`
	}
	strictly(written(t, func(d record.Bench, b *bytes.Buffer) error { return BencherMetrics(b, d) }), &measures)
	if m := measures["example.com/a.BenchmarkOpen"]; len(measures) != 3 || m["latency"].Value != 120 || m["latency"].Lower != 119 || m["allocs-op"].Value != 2 || m["mb-s"].Value != 9 {
		t.Errorf("%+v", measures)
	}
}

// Bencher's measures have names of up to 64 characters.
func TestSlug(t *testing.T) {
	for unit, want := range map[string]string{"B/op": "b-op", "§": "metric", strings.Repeat("ab/", 40): strings.TrimSuffix(strings.Repeat("ab-", 22)[:64], "-")} {
		if got := slug(unit); got != want {
			t.Errorf("%q: %q, want %q", unit, got, want)
		}
	}
}
