package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/stats"
)

// ImportSeries reads another tool's file with measurements of many commits: the data.js of
// github-action-benchmark, or a result file of asv. known is false if the file is neither.
func ImportSeries(data []byte) (documents []Document, known bool, err error) {
	data = bytes.TrimSpace(data)
	if js, ok := bytes.CutPrefix(data, []byte("window.BENCHMARK_DATA")); ok {
		_, js, _ = bytes.Cut(js, []byte("="))
		documents, err = importActionBenchmark(bytes.TrimRight(js, "; \n"))
		return documents, true, inContext("reading the data.js of github-action-benchmark", err)
	}
	var form struct {
		CommitHash json.RawMessage `json:"commit_hash"`
		EnvName    json.RawMessage `json:"env_name"`
		Entries    json.RawMessage `json:"entries"`
	}
	if json.Unmarshal(data, &form) != nil {
		return nil, false, nil
	}
	switch {
	case form.CommitHash != nil && form.EnvName != nil:
		documents, err = importASV(data)
		return documents, true, inContext("reading a result of asv", err)
	case form.Entries != nil:
		documents, err = importActionBenchmark(data)
		return documents, true, inContext("reading the data of github-action-benchmark", err)
	}
	return nil, false, nil
}

func inContext(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// inNanoseconds are the units of time that other tools write, in nanoseconds.
var inNanoseconds = map[string]float64{"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "seconds": 1e9, "sec": 1e9}

// importActionBenchmark reads {"entries": {suite: [{commit, date, benches: [{name, value, unit, range}]}]}}.
func importActionBenchmark(data []byte) (documents []Document, err error) {
	if err := errors.Join(tooLarge(data), CheckExtent(data)); err != nil {
		return nil, err
	}
	var file struct {
		Entries map[string][]struct {
			Commit  struct{ ID, Message, Timestamp string }
			Date    float64 // in milliseconds
			Tool    string
			Benches []struct {
				Name, Unit, Range string
				Value             float64
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var refused error // the first reason to leave out a result
	imported := 0
	for suite, runs := range file.Entries {
		for _, run := range runs {
			d := importedBench(time.UnixMilli(int64(run.Date)).UTC(), &machine.Machine{}, "by github-action-benchmark ("+run.Tool+"), which does not say on what machine")
			committed, err := time.Parse(time.RFC3339, run.Commit.Timestamp)
			if err != nil {
				committed = d.Started
			}
			subject, _, _ := strings.Cut(run.Commit.Message, "\n")
			d.Source = &Source{Commit: run.Commit.ID, Time: committed.UTC(), Subject: shortened(subject)}
			for _, b := range run.Benches {
				unit, perOperation := strings.CutSuffix(b.Unit, "/op")
				if after, ok := strings.CutSuffix(b.Unit, "/iter"); ok {
					unit, perOperation = after, true
				}
				value := stats.Estimate{Value: b.Value, Lo: math.NaN(), Hi: math.NaN(), Unit: b.Unit, Statistic: "median", N: 1}
				factor, isTime := inNanoseconds[unit]
				isTime = isTime && (perOperation || unit == b.Unit)
				if err := cmp.Or(checkDirection(run.Tool, b.Name, b.Unit, stats.IsRate(b.Unit) && !isTime), checkTime(b.Name, value, isTime)); err != nil {
					refused = cmp.Or(refused, err)
					d.Caveats = append(d.Caveats, passedOver+err.Error())
					continue
				}
				if isTime {
					value = value.Scaled(factor, "ns")
				}
				d.Results = append(d.Results, importedResult(suite, b.Name, value))
			}
			d.tellTwice(namesOf(d.Results))
			documents, imported = append(documents, d), imported+len(d.Results)
		}
	}
	switch {
	case len(documents) == 0:
		return nil, errors.New("it has no entries")
	case imported == 0 && refused != nil:
		return nil, refused
	}
	slices.SortStableFunc(documents, func(a, b Document) int { return a.Head().Started.Compare(b.Head().Started) })
	return documents, nil
}

// checkDirection returns an error if the tool says the opposite of the unit about which values are better. A metric of a
// record is better in the direction that its unit implies, and so a comparison would call better what is worse. Other
// tools leave the direction to the unit: pytest writes iter/sec, and benchmarkjs ops/sec.
func checkDirection(tool, name, unit string, moreIsBetter bool) error {
	const rates = "units that end in /s, /sec or /second"
	switch {
	case tool == "customBiggerIsBetter" && !moreIsBetter:
		return fmt.Errorf("%s: %s says that more %q is better, but here that holds only for %s", name, tool, unit, rates)
	case tool == "customSmallerIsBetter" && moreIsBetter:
		return fmt.Errorf("%s: %s says that less %q is better, but here more is better for %s", name, tool, unit, rates)
	}
	return nil
}

// checkTime returns an error if a time is not above 0.
func checkTime(name string, e stats.Estimate, isTime bool) error {
	if isTime && !(e.Value > 0) {
		return fmt.Errorf("%.200s: %g %s is no time", name, e.Value, e.Unit)
	}
	return nil
}

// namesOf returns the names of imported results. One name may have values in several units.
func namesOf(results []gobench.Report) (names []string) {
	for _, r := range results {
		name := strings.TrimSpace(r.Package + " " + r.Name)
		for _, m := range r.Metrics {
			name += " in " + m.Unit
		}
		names = append(names, name)
	}
	return names
}

// asv keeps intervals of 99 %, and a record those of 95 %. Each side is made shorter by the ratio of the quantiles of
// the normal distribution that bound the two, as if the estimate were normal.
const (
	normal95, normal99 = 1.960, 2.576
	sideOf95           = normal95 / normal99
)

// importASV reads a result file of asv, version 2: the names of the columns and, for each
// benchmark, a list of values in the same order.
func importASV(data []byte) ([]Document, error) {
	if err := errors.Join(tooLarge(data), CheckExtent(data)); err != nil {
		return nil, err
	}
	var file struct {
		CommitHash    string           `json:"commit_hash"`
		Date          float64          `json:"date"` // of the commit, in milliseconds
		Params        map[string]any   `json:"params"`
		ResultColumns []string         `json:"result_columns"`
		Results       map[string][]any `json:"results"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	param := func(name string) machine.Text {
		text, _ := file.Params[name].(string)
		return machine.Text(text)
	}
	at := time.UnixMilli(int64(file.Date)).UTC()
	d := importedBench(at, &machine.Machine{CPU: param("cpu"), OS: machine.Text(strings.ToLower(string(param("os")))), Arch: param("arch")}, "by asv, on the machine "+string(param("machine")))
	d.Source = &Source{Commit: file.CommitHash, Time: at}
	column := func(row []any, name string) any {
		if i := slices.Index(file.ResultColumns, name); i >= 0 && i < len(row) {
			return row[i]
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(file.Results)) {
		row := file.Results[name]
		values, _ := column(row, "result").([]any)
		lows, _ := column(row, "stats_ci_99_a").([]any)
		highs, _ := column(row, "stats_ci_99_b").([]any)
		labels := asvLabels(column(row, "params"))
		for i, v := range values {
			seconds, ok := v.(float64)
			if !ok {
				continue // null: the benchmark failed
			}
			lo, hi := seconds-sideOf95*(seconds-number(lows, i)), seconds+sideOf95*(number(highs, i)-seconds)
			e := stats.Estimate{Value: seconds, Lo: lo, Hi: hi, Unit: "value", Statistic: "median", N: 1}
			label := name
			if i < len(labels) && labels[i] != "" {
				label += "(" + labels[i] + ")"
			}
			if strings.HasPrefix(name[strings.LastIndex(name, ".")+1:], "time_") {
				e = e.Scaled(1e9, "ns")
				if err := checkTime(label, e, true); err != nil {
					d.Caveats = append(d.Caveats, passedOver+err.Error())
					continue
				}
			}
			d.Results = append(d.Results, importedResult("", label, e))
		}
	}
	if len(d.Results) == 0 {
		return nil, errors.New("it has no results")
	}
	slices.SortStableFunc(d.Results, func(a, b gobench.Report) int { return strings.Compare(a.Name, b.Name) })
	d.tellTwice(namesOf(d.Results))
	return []Document{d}, nil
}

// number returns the i-th number of a list that may be shorter or contain null.
func number(list []any, i int) float64 {
	if i < len(list) {
		if v, ok := list[i].(float64); ok {
			return v
		}
	}
	return math.NaN()
}

// asvLabels returns the combinations of the parameters' values; the last parameter changes fastest.
func asvLabels(params any) []string {
	labels := []string{""}
	lists, _ := params.([]any)
	for _, list := range lists {
		values, _ := list.([]any)
		if len(values) > 0 && len(labels) > mostElements/len(values) {
			return nil
		}
		var longer []string
		for _, l := range labels {
			for _, v := range values {
				longer = append(longer, strings.TrimPrefix(fmt.Sprintf("%s, %v", l, v), ", "))
			}
		}
		labels = longer
	}
	return labels
}

func importedBench(started time.Time, m *machine.Machine, caveat string) Bench {
	return Bench{Header: importedHeader("bench", started, m, caveat), Results: []gobench.Report{}, Pairs: []stats.Pair{}}
}

// importedResult returns a benchmark's value as its wall time, or as a metric of another unit.
func importedResult(suite, name string, e stats.Estimate) gobench.Report {
	r := gobench.Report{
		Benchmark: gobench.Benchmark{Name: name, Package: suite},
		Summary: gobench.Summary{
			Estimate: notMeasured(), CPU: notMeasured(), Cycles: notMeasured(), Wall: notMeasured(), Metrics: []gobench.Metric{},
		},
		Repetitions: []gobench.RepetitionReport{}, Runs: []gobench.RunReport{}, Judgement: stats.NewJudgement(),
	}
	r.Lower(stats.Suspect, "by another tool: what waited for a CPU is in it, and nothing says how much that was")
	if e.Unit == "ns" {
		r.Wall = e
	} else {
		r.Metrics = append(r.Metrics, gobench.Metric{Unit: e.Unit, Value: e.Value})
	}
	return r
}
