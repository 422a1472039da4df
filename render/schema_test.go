package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chronoscope/record"
	"chronoscope/stats"
)

// An elementRule is what a schema demands of an element: its children, and its attributes, each with the
// pattern of its values; those of needs have to be there.
type elementRule struct {
	children   []string
	attributes map[string]*regexp.Regexp
	needs      []string
	hasText    bool
}

var (
	anyText = regexp.MustCompile(`(?s)^.*$`)
	whole   = regexp.MustCompile(`^[0-9]+$`)
	// surefireTime is the pattern of SUREFIRE_TIME.
	surefireTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)
)

// junitRules are the constraints of junit-10.xsd, by which Jenkins's xunit plugin (jenkinsci/xunit-plugin,
// org/jenkinsci/plugins/xunit/types/model/xsd) checks files, on the elements that are written here. The
// attribute file of a test case is not in it: GitLab reads it (docs.gitlab.com/ci/testing/unit_test_reports).
// Counts are text in the schema, and numbers for all who read them.
var junitRules = map[string]elementRule{
	"testsuite": {
		children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
		attributes: map[string]*regexp.Regexp{
			"name": anyText, "tests": whole, "failures": whole, "errors": whole, "skipped": whole, "time": surefireTime,
			"group": anyText, "timestamp": anyText, "hostname": anyText, "id": anyText, "package": anyText, "file": anyText, "log": anyText, "url": anyText,
		},
		needs: []string{"name", "tests", "failures", "errors"},
	},
	"testcase": {
		children:   []string{"skipped", "error", "failure", "system-out", "system-err"},
		attributes: map[string]*regexp.Regexp{"name": anyText, "time": surefireTime, "classname": anyText, "group": anyText, "file": anyText},
		needs:      []string{"name"},
	},
	"failure": {attributes: messageOfCase, hasText: true},
	"error":   {attributes: messageOfCase, hasText: true},
	"skipped": {attributes: messageOfCase, hasText: true},
}

var messageOfCase = map[string]*regexp.Regexp{"type": anyText, "message": anyText}

// junitBreaches lists what contradicts the rules.
func junitBreaches(text string) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	decoder := xml.NewDecoder(strings.NewReader(text))
	var open []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			return append(all, err.Error())
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			rule, known := junitRules[name]
			if len(open) == 0 && name != "testsuite" || !known || len(open) > 0 && !slices.Contains(junitRules[open[len(open)-1]].children, name) {
				say("%s in %v", name, open)
			}
			given := map[string]bool{}
			for _, a := range token.Attr {
				pattern := rule.attributes[a.Name.Local]
				if given[a.Name.Local] = true; pattern == nil || !pattern.MatchString(a.Value) {
					say("%s: attribute %s=%q", name, a.Name.Local, a.Value)
				}
			}
			for _, need := range rule.needs {
				if !given[need] {
					say("%s without %s", name, need)
				}
			}
			open = append(open, name)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 && (len(open) == 0 || !junitRules[open[len(open)-1]].hasText) {
				say("text in %v: %q", open, token)
			}
		}
	}
}

func TestJUnitKeepsItsSchema(t *testing.T) {
	text := written(t, func(d record.Bench, b *bytes.Buffer) error { return JUnit(b, d) })
	for _, breach := range junitBreaches(text) {
		t.Errorf("%s\n%s", breach, text)
	}
	var b bytes.Buffer
	if err := JUnit(&b, record.Bench{}); err != nil || len(junitBreaches(b.String())) > 0 {
		t.Errorf("%v, %q: nothing to report: %s", err, junitBreaches(b.String()), b.String())
	}
	for planted, original := range map[string]string{
		`time="6e10"`: `time="60.000"`, `tests=""`: `tests="4"`, `title="`: `name="`, `<testcases `: `<testcase `, "<failure wrong=": "<failure message=", `<testsuite name="">loose`: `<testsuite name="chronoscope bench"`,
	} {
		if broken := strings.ReplaceAll(text, original, planted); broken == text || len(junitBreaches(broken)) == 0 {
			t.Errorf("%s instead of %s is no breach", planted, original)
		}
	}
}

// qualityBreaches lists what contradicts GitLab's "Code quality report format"
// (docs.gitlab.com/ci/testing/code_quality): an array of objects with the fields below, of which GitLab shows
// one for each fingerprint, and a path in the repository that does not begin with "./".
func qualityBreaches(text []byte) (all []string) {
	var issues []map[string]any
	if err := json.Unmarshal(text, &issues); err != nil || issues == nil {
		return []string{fmt.Sprintf("no array of objects: %v", err)}
	}
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	seen := map[string]bool{}
	for i, issue := range issues {
		for _, field := range []string{"description", "check_name", "fingerprint", "severity"} {
			if value, _ := issue[field].(string); value == "" {
				say("%d: %s is %v", i, field, issue[field])
			}
		}
		if severity, _ := issue["severity"].(string); !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, severity) {
			say("%d: severity %q", i, severity)
		}
		fingerprint, _ := issue["fingerprint"].(string)
		if seen[fingerprint] {
			say("%d: fingerprint %s for the second time", i, fingerprint)
		}
		seen[fingerprint] = true
		location, _ := issue["location"].(map[string]any)
		if file, _ := location["path"].(string); file == "" || path.IsAbs(file) || path.Clean(file) != file || strings.HasPrefix(file, "../") {
			say("%d: path %q", i, file)
		}
		lines, _ := location["lines"].(map[string]any)
		if begin, _ := lines["begin"].(float64); begin < 1 || begin != float64(int(begin)) {
			say("%d: begin %v", i, lines["begin"])
		}
	}
	return all
}

func TestCodeQualityKeepsItsFormat(t *testing.T) {
	d := gatedBench()
	for i := range d.Pairs { // all of them, one without a place in a file
		d.Pairs[i].Joint.Side = stats.Beyond
	}
	d.Pairs[3].B = "example.com/a.BenchmarkUnknown"
	var b bytes.Buffer
	if err := CodeQuality(&b, d); err != nil || strings.Count(b.String(), "fingerprint") != 4 {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for _, breach := range qualityBreaches(b.Bytes()) {
		t.Errorf("%s\n%s", breach, b.String())
	}
	b.Reset()
	if err := CodeQuality(&b, record.Bench{}); err != nil || strings.TrimSpace(b.String()) != "[]" {
		t.Errorf("nothing to report: %v, %s", err, b.String())
	}
	const good = `[{"description": "d", "check_name": "c", "fingerprint": "f", "severity": "major", "location": {"path": "a/b.go", "lines": {"begin": 1}}}]`
	if breaches := qualityBreaches([]byte(good)); len(breaches) > 0 {
		t.Errorf("%q", breaches)
	}
	for planted, original := range map[string]string{`"fatal"`: `"major"`, `"/a/b.go"`: `"a/b.go"`, `"./a/b.go"`: `"a/b.go"`, `"begin": 0`: `"begin": 1`, `"":`: `"check_name":`, `{}`: good} {
		if len(qualityBreaches([]byte(strings.ReplaceAll(good, original, planted)))) == 0 {
			t.Errorf("%s instead of %s is no breach", planted, original)
		}
	}
}
