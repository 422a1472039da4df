package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// change compares a benchmark with the same one of another revision, by its time or another metric.
type change struct {
	stats.Pair
	benchmark gobench.Report
	shared    bool // a benchmark of another package has the same name
}

// changesIn returns the pairs of a document, each with the result of the working tree.
func changesIn(d record.Bench) (all []change) {
	reports := map[string]gobench.Report{}
	for _, b := range d.Results {
		if b.Revision == "" {
			reports[b.Package+"."+b.Name] = b
		}
	}
	shared := view.SharedNames(d.Results)
	for _, p := range d.Pairs {
		all = append(all, change{p, reports[p.B], shared[reports[p.B].Name]})
	}
	return all
}

func (c change) name() string {
	if c.shared {
		return c.B
	}
	return strings.TrimPrefix(cmp.Or(c.benchmark.Name, c.B), "Benchmark")
}

func (c change) metric() string { return cmp.Or(c.Metric, "sec/op") }

// farBeyond reports whether the gate could not judge a pair, and fails for it all the same.
func (c change) farBeyond() bool { return c.Joint != nil && c.Joint.FarBeyond }

// differs reports whether a pair has a row in the table of changes.
func (c change) differs() bool {
	return c.Side() == stats.Beyond || c.farBeyond() || c.Outcome == stats.Slower || c.Outcome == stats.Faster
}

// sentence describes the comparison in one line.
func (c change) sentence() string {
	bounds := ""
	if c.Joint != nil && c.Joint.Lo.Known() && c.Joint.Hi.Known() {
		bounds = fmt.Sprintf(", joint bounds %s to %s", percentMore(c.Joint.Lo.Value()), percentMore(c.Joint.Hi.Value()))
	}
	text := fmt.Sprintf("%s %s: %s%s", c.name(), c.metric(), percentMore(c.Ratio.Value), bounds)
	if limit := c.Limit(); limit.Known() {
		text += fmt.Sprintf(" (limit %s)", percentMore(1+limit.Value()))
	}
	return view.OneLine(text)
}

// percentMore writes by how many percent a ratio is above 1.
func percentMore(ratio float64) string {
	if !stats.IsFinite(ratio) {
		return "?"
	}
	return fmt.Sprintf("%+.3g %%", 100*(ratio-1))
}

// StickyMark begins the Markdown of [BenchSummary], so that a later run finds its comment and
// replaces it.
const StickyMark = "<!-- chronoscope bench -->"

// BenchSummary writes a comparison of benchmarks as Markdown, for a job's summary or a comment: the
// verdict, the changes, and all other comparisons, folded.
func BenchSummary(w io.Writer, d record.Bench) error {
	var b strings.Builder
	changes := changesIn(d)
	fmt.Fprintf(&b, "%s\n## %s\n\n", StickyMark, benchVerdict(d, changes))
	var differing, rest []change
	for _, c := range changes {
		if c.differs() {
			differing = append(differing, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(differing) > 0 {
		changeTable(&b, differing)
	}
	shared := view.SharedNames(d.Results)
	for _, r := range failedIn(d) {
		name := withRevision(r)
		if shared[r.Name] {
			name = r.Package + "." + name
		}
		fmt.Fprintf(&b, "- **%s** failed: %s\n", cell(name), cell(r.Reasons[0]))
	}
	for _, m := range d.Missing {
		fmt.Fprintf(&b, "- **%s** was not measured: %s\n", cell(missingName(m)), cell(view.Shortened(m.Why, longestWhy)))
	}
	if len(rest) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d comparisons without a change that is beyond chance</summary>\n\n", len(rest))
		changeTable(&b, rest)
		b.WriteString("\n</details>\n")
	}
	if i := slices.IndexFunc(changes, func(c change) bool { return c.Joint != nil }); i >= 0 {
		fmt.Fprintf(&b, "\nThe lower joint bounds hold for all comparisons at once, but for a chance of %.3g %%; so do the upper ones.\n", 100*changes[i].Joint.FalseAlarms)
	}
	fmt.Fprintf(&b, "\n%s, measured in turn in %s.\n", cell(string(d.Machine.CPU)), stats.Duration(float64(d.DurationNs), 3))
	_, err := io.WriteString(w, b.String())
	return err
}

// longestWhy is the greatest length of what a compiler said, since GitHub limits that of a comment.
const longestWhy = 1000

// missingName names what could not be measured.
func missingName(m record.BenchMissing) string {
	name := cmp.Or(m.Package, m.Metric, "the rest")
	if m.Revision != "" {
		name += " at " + m.Revision
	}
	return name
}

// failedIn returns the benchmarks of which a run failed, or none succeeded.
func failedIn(d record.Bench) (all []gobench.Report) {
	for _, r := range d.Results {
		if (r.Failed || r.Estimate.N == 0) && len(r.Reasons) > 0 {
			all = append(all, r)
		}
	}
	return all
}

func withRevision(r gobench.Report) string {
	if r.Revision == "" {
		return r.Name
	}
	return r.Name + " at " + r.Revision
}

// mostMissing limits what the heading names.
const mostMissing = 3

// benchVerdict returns the verdict of the gate, in one line.
func benchVerdict(d record.Bench, changes []change) string {
	if d.Interrupted {
		return "Interrupted, and so not judged"
	}
	verdict := gateVerdict(d, changes)
	failed := map[string]bool{} // of either revision
	for _, r := range failedIn(d) {
		failed[r.Package+"."+r.Name] = true
	}
	if len(failed) > 0 {
		verdict += fmt.Sprintf("; %s failed", stats.Count(len(failed), "benchmark"))
	}
	if len(d.Missing) > 0 {
		var names []string
		for _, m := range d.Missing[:min(len(d.Missing), mostMissing)] {
			names = append(names, cell(missingName(m)))
		}
		if more := len(d.Missing) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		verdict += "; not measured: " + strings.Join(names, ", ")
	}
	return verdict
}

func gateVerdict(d record.Bench, changes []change) string {
	count, far := map[stats.Side]int{}, 0
	for _, c := range changes {
		count[c.Side()]++
		if c.farBeyond() {
			far++
		}
	}
	gated := count[stats.Beyond] + count[stats.Within] + count[stats.Open]
	switch {
	case len(d.Pairs) == 0:
		return fmt.Sprintf("%d benchmarks were measured", len(d.Results))
	case gated == 0:
		differing := 0
		for _, c := range changes {
			if c.differs() {
				differing++
			}
		}
		return fmt.Sprintf("%d of %d comparisons differ beyond chance", differing, len(changes))
	case count[stats.Beyond] > 0:
		return fmt.Sprintf("Slower: %d of %d comparisons are beyond the limit", count[stats.Beyond], gated)
	case far > 0:
		return fmt.Sprintf("Undecided: %d of %d comparisons are far beyond the limit, but in too few pairs", far, gated)
	case count[stats.Open] > 0:
		return fmt.Sprintf("No regression was found; %d of %d comparisons are undecided", count[stats.Open], gated)
	case len(d.Missing) > 0:
		return fmt.Sprintf("No regression was found in %s", stats.Count(gated, "comparison"))
	}
	return fmt.Sprintf("No regression: %d comparisons are within the limit", gated)
}

func changeTable(b *strings.Builder, changes []change) {
	b.WriteString("| benchmark | metric | change | joint bounds | limit | |\n|---|---|---|---|---|---|\n")
	for _, c := range changes {
		bounds, limit := "", ""
		if c.Joint != nil && c.Joint.Lo.Known() {
			bounds = percentMore(c.Joint.Lo.Value()) + " to " + percentMore(c.Joint.Hi.Value())
		}
		if c.Limit().Known() {
			limit = percentMore(1 + c.Limit().Value())
		}
		word := string(c.Outcome)
		switch {
		case c.Side() == stats.Beyond:
			word = "**beyond the limit**"
		case c.farBeyond():
			word = "**far beyond the limit**, in too few pairs"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", cell(c.name()), cell(c.metric()), percentMore(c.Ratio.Value), bounds, limit, word)
	}
}

// cell escapes text for a Markdown table: names come from outside.
func cell(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "'", "@", "&#64;",
		"\\", "\\\\", "*", "\\*", "[", "\\[", "]", "\\]", "!", "\\!", "~", "\\~").Replace(view.OneLine(text))
}

// Annotations writes GitHub workflow commands: an error for each comparison beyond the limit, and
// one warning that names the undecided ones.
func Annotations(w io.Writer, d record.Bench) error {
	var b strings.Builder
	undecided := []string{}
	for _, c := range changesIn(d) {
		switch side := c.Side(); {
		case d.Interrupted: // not judged
		case side == stats.Beyond:
			at := ""
			if c.benchmark.Source() != "" {
				at = fmt.Sprintf("file=%s,line=%d,", property(c.benchmark.Source()), c.benchmark.Line)
			}
			fmt.Fprintf(&b, "::error %stitle=%s::%s\n", at, property("slower than allowed"), message(c.sentence()))
		case side == stats.Open:
			undecided = append(undecided, c.name()+" "+c.metric())
		}
	}
	if len(undecided) > 0 {
		fmt.Fprintf(&b, "::warning title=%s::%s\n", property("undecided benchmarks"), message(view.OneLine(strings.Join(undecided, ", "))))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// message escapes a message for GitHub's workflow commands, and property a parameter of one.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(text))
}

// JUnit writes each comparison as a test case: one beyond the limit fails, an undecided one is
// skipped, and one that is far beyond the limit in too few pairs is an error, as what could not be measured.
func JUnit(w io.Writer, d record.Bench) error {
	type detail struct {
		Message string `xml:"message,attr"`
	}
	type testCase struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		File    string  `xml:"file,attr,omitempty"`
		Seconds string  `xml:"time,attr"`
		Failure *detail `xml:"failure"`
		Error   *detail `xml:"error"`
		Skipped *detail `xml:"skipped"`
	}
	type testSuite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Seconds  string     `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	suite := testSuite{Name: "chronoscope bench", Seconds: fmt.Sprintf("%.3f", float64(d.DurationNs)/1e9)}
	for _, c := range changesIn(d) {
		t := testCase{Class: c.benchmark.Package, Name: c.benchmark.Name + " " + c.metric(), File: c.benchmark.Source(), Seconds: "0"}
		switch side := c.Side(); {
		case side == "":
			continue
		case d.Interrupted:
			t.Skipped = &detail{"interrupted: it was not judged"}
			suite.Skipped++
		case side == stats.Beyond:
			t.Failure = &detail{c.sentence()}
			suite.Failures++
		case c.farBeyond():
			t.Error = &detail{c.sentence() + ": " + view.OneLine(c.Joint.Why)}
			suite.Errors++
		case side == stats.Open:
			t.Skipped = &detail{"undecided: " + c.sentence()}
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, t)
	}
	for _, r := range failedIn(d) {
		suite.Cases = append(suite.Cases, testCase{Class: r.Package, Name: withRevision(r), File: r.Source(), Seconds: "0", Error: &detail{view.OneLine(r.Reasons[0])}})
		suite.Errors++
	}
	for _, m := range d.Missing {
		suite.Cases = append(suite.Cases, testCase{Class: cmp.Or(m.Package, suite.Name), Name: missingName(m), Seconds: "0", Error: &detail{view.OneLine(m.Why)}})
		suite.Errors++
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// CodeQuality writes each comparison beyond the limit as an issue of GitLab's code quality report
// (docs.gitlab.com, "Code Quality report format").
func CodeQuality(w io.Writer, d record.Bench) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	issues := []issue{}
	for _, c := range changesIn(d) {
		if c.Side() == stats.Beyond {
			id := sha256.Sum256([]byte(c.B + "\x00" + c.metric()))
			issues = append(issues, issue{
				Description: c.sentence(), CheckName: "chronoscope-bench", Fingerprint: fmt.Sprintf("%x", id[:16]), Severity: "major",
				Location: location{cmp.Or(c.benchmark.Source(), "go.mod"), lines{max(1, c.benchmark.Line)}},
			})
		}
	}
	return writeIndented(w, issues)
}

// BenchmarkAction writes the times and metrics of the working tree for github-action-benchmark, with
// "tool: customSmallerIsBetter".
func BenchmarkAction(w io.Writer, d record.Bench) error {
	type entry struct {
		Name  string  `json:"name"`
		Unit  string  `json:"unit"`
		Value float64 `json:"value"`
		Range string  `json:"range,omitempty"`
		Extra string  `json:"extra,omitempty"`
	}
	entries := []entry{}
	for _, r := range d.Results {
		if r.Revision != "" || !stats.IsFinite(r.Estimate.Value) {
			continue
		}
		e := entry{Name: r.Package + "." + r.Name, Unit: "ns/op", Value: r.Estimate.Value, Extra: string(r.Verdict)}
		if half := r.Estimate.HalfWidth(); stats.IsFinite(half) {
			e.Range = fmt.Sprintf("± %.4g", half)
		}
		entries = append(entries, e)
		for _, m := range r.Metrics {
			if !stats.IsRate(m.Unit) { // rates are left out: for them, larger is better
				entries = append(entries, entry{Name: r.Package + "." + r.Name + " - " + m.Unit, Unit: m.Unit, Value: m.Value})
			}
		}
	}
	return writeIndented(w, entries)
}

// BencherMetrics writes the times and metrics of the working tree in the Bencher Metric Format
// (bencher.dev, "Bencher Metric Format"): latency in nanoseconds, and a measure for each unit.
func BencherMetrics(w io.Writer, d record.Bench) error {
	type metric struct {
		Value float64     `json:"value"`
		Lower stats.Float `json:"lower_value,omitzero"`
		Upper stats.Float `json:"upper_value,omitzero"`
	}
	all := map[string]map[string]metric{}
	for _, r := range d.Results {
		if r.Revision != "" || !stats.IsFinite(r.Estimate.Value) {
			continue
		}
		measures := map[string]metric{"latency": {r.Estimate.Value, stats.FloatOf(r.Estimate.Lo), stats.FloatOf(r.Estimate.Hi)}}
		for _, m := range r.Metrics {
			measures[slug(m.Unit)] = metric{m.Value, m.Lo, m.Hi}
		}
		all[r.Package+"."+r.Name] = measures
	}
	return writeIndented(w, all)
}

// longestSlug is the greatest length that Bencher allows.
const longestSlug = 64

// slug turns a unit into the name of a measure: lower-case letters and digits, with hyphens between
// them.
func slug(unit string) string {
	words := strings.FieldsFunc(strings.ToLower(unit), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	text := strings.Join(words, "-")
	return cmp.Or(strings.Trim(text[:min(len(text), longestSlug)], "-"), "metric")
}

func writeIndented(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
