package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ohler55/ojg/jp"

	"chronoscope/program"
	"chronoscope/stats"
)

// metricForm matches NAME=SOURCE of --metric. A name has no dot, since it is a part of a path in CSV.
var metricForm = regexp.MustCompile(`(?s)^([\pL_][\pL\pN_/%*+-]*)=(?:(stdout|stderr):)?(regexp|json):(.+)$`)

// sourcesOfMetrics says what --metric takes.
func sourcesOfMetrics() string {
	return "give NAME=regexp:PATTERN with one group, such as 'ops/s=regexp:([0-9.]+) ops/s', NAME=json:PATH, such as 'ops/s=json:$.total.rate' (after stderr: of standard error), or one of " +
		strings.Join(systemMetrics(), ", ")
}

func systemMetrics() (names []string) {
	for _, m := range program.SystemMetrics {
		names = append(names, m.Name)
	}
	return names
}

// parseMetric reads the value of a --metric.
func parseMetric(text string) (program.Metric, error) {
	if i := slices.Index(systemMetrics(), text); i >= 0 {
		m := program.SystemMetrics[i]
		m.Source = "system"
		return m, nil
	}
	parts := metricForm.FindStringSubmatch(text)
	switch {
	case parts == nil:
		return program.Metric{}, fmt.Errorf("invalid value %q: %s", text, sourcesOfMetrics())
	case slices.Contains(timeUnits, parts[1]) || slices.Contains(systemMetrics(), parts[1]):
		return program.Metric{}, fmt.Errorf("%s is known already: give the metric another name", parts[1])
	}
	m := program.Metric{Name: parts[1], Unit: parts[1], FromStderr: parts[2] == "stderr"}
	m.Source = strings.TrimPrefix(text, m.Name+"=")
	var find func(program.Output) (string, error)
	var err error
	if parts[3] == "regexp" {
		find, err = matching(parts[4])
	} else {
		find, err = atPath(parts[4])
	}
	m.Read = func(o program.Output) (float64, error) {
		found, err := find(o)
		if err != nil {
			return math.NaN(), err
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(found), 64)
		if err != nil || !stats.IsFinite(value) {
			return math.NaN(), fmt.Errorf("%.40q is no number", found)
		}
		return value, nil
	}
	return m, err
}

// matching returns a function that finds the group of the last match of a regular expression: programs write
// their results after other output.
func matching(pattern string) (func(program.Output) (string, error), error) {
	expression, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no regular expression (go doc regexp/syntax): %w", pattern, err)
	case expression.NumSubexp() != 1:
		return nil, fmt.Errorf("%q has %s: put parentheses around the number alone, and (?: ) around others", pattern, stats.Count(expression.NumSubexp(), "group"))
	}
	return func(o program.Output) (string, error) {
		var last []byte
		for _, match := range expression.FindAllSubmatch(o.Text, -1) {
			last = match[1]
		}
		if last == nil {
			return "", fmt.Errorf("its output%s has no match of %s", ofIt(o), pattern)
		}
		return string(last), nil
	}, nil
}

// ofIt says which part of an output was searched; it is empty if all of it was.
func ofIt(o program.Output) string {
	if o.IsCut {
		return fmt.Sprintf("'s last %d bytes", program.OutputKept)
	}
	return ""
}

// atPath returns a function that finds the number at a path (JSONPath, RFC 9535) in the last JSON value of an
// output.
func atPath(path string) (func(program.Output) (string, error), error) {
	expression, err := jp.ParseString(path)
	if err != nil {
		return nil, fmt.Errorf("%q is no JSON path (RFC 9535), such as $.total.rate or $.runs[0].rate: %w", path, err)
	}
	return func(o program.Output) (string, error) {
		if o.IsCut {
			return "", fmt.Errorf("its output is longer than %d bytes: too long to be read as JSON", program.OutputKept)
		}
		document, err := lastValue(o.Text)
		if err != nil {
			return "", err
		}
		found := expression.Get(document)
		if len(found) != 1 {
			return "", fmt.Errorf("%s finds %s in its output: one is wanted", path, stats.Count(len(found), "value"))
		}
		switch value := found[0].(type) {
		case float64:
			return strconv.FormatFloat(value, 'g', -1, 64), nil
		case string:
			return value, nil
		}
		return "", fmt.Errorf("%s finds no number in its output", path)
	}, nil
}

// lastValue reads a JSON document, or the last one of several.
func lastValue(text []byte) (last any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for n := 0; ; n++ {
		var value any
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF) && n > 0:
			return last, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("it wrote nothing")
		case err != nil:
			return nil, fmt.Errorf("its output is no JSON: %w", err)
		}
		last = value
	}
}

// checkMetrics reads the metrics and their limits. A metric of the system that has a limit need not be given
// with --metric, too.
func (t *programFlags) checkMetrics(c *call) error {
	isTaken := func(name string) bool {
		return slices.ContainsFunc(t.metrics, func(m program.Metric) bool { return m.Name == name })
	}
	for _, text := range t.metricTexts {
		m, err := parseMetric(text)
		if err != nil {
			return usagef("--metric: %v", err)
		}
		if isTaken(m.Name) {
			return usagef("--metric: %s is given twice: give each a name of its own", m.Name)
		}
		t.metrics = append(t.metrics, m)
	}
	if t.gateText == "" {
		return nil
	}
	var err error
	if t.gate, err = gateWith(t.gateText, c.mostRegression); err != nil {
		return err
	}
	t.gate.FalseAlarms = stats.FalseAlarms
	for name := range t.gate.Metrics {
		switch m, err := parseMetric(name); {
		case isTaken(name):
		case err != nil:
			return usagef("--gate: there is no metric %q: give --metric %[1]s=SOURCE too, or one of %s", name, strings.Join(systemMetrics(), ", "))
		default:
			t.metrics = append(t.metrics, m)
		}
	}
	c.mostRegression, c.gateFlag, c.regression = 0, "--gate", t.gateText // each metric has its own limit
	return nil
}

// comparisons compares pairs of results, in their times and in each metric.
func (t *programFlags) comparisons(results []*program.Result, pairs [][2]int, seed uint64) (all []program.Comparison) {
	tolerance := 2 * t.plan.Precision
	for _, pair := range pairs {
		a, b := results[pair[0]], results[pair[1]]
		all = append(all, program.Compare(a, b, tolerance, seed))
		for i := range t.metrics {
			all = append(all, program.CompareMetric(a, b, i, tolerance, seed))
		}
	}
	return all
}

// judged returns the comparisons in the form of the document. If --gate is given, it judges them.
func (t *programFlags) judged(all []program.Comparison) []stats.Pair {
	if t.gate != nil {
		return program.Judge(all, *t.gate)
	}
	var pairs []stats.Pair
	for i := range all {
		pairs = append(pairs, all[i].Pair(len(all)))
	}
	return pairs
}
