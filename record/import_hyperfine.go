package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/stats"
)

// importHyperfine reads the JSON of hyperfine. Its times are wall times in seconds. If a command
// has no list of times, only its median is known.
func importHyperfine(data []byte, written time.Time) (Document, error) {
	if err := tooLarge(data); err != nil {
		return nil, fmt.Errorf("reading hyperfine's JSON: %w", err)
	}
	if err := CheckExtent(data); err != nil {
		return nil, fmt.Errorf("reading hyperfine's JSON: %w", err)
	}
	var file struct {
		Results []importedCommand `json:"results"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // keeps a parameter of 1000000 from becoming 1e+06
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("reading hyperfine's JSON: %w: give what hyperfine --export-json wrote", err)
	}
	d := Programs{
		Header:  importedHeader("run", written, &machine.Machine{}, "by hyperfine, which does not say on what machine: its times include fork and exec, those of chronoscope run begin after exec"),
		Results: []program.Report{}, Pairs: []stats.Pair{},
	}
	var names []string
	for i, c := range file.Results {
		p, err := c.program()
		if err != nil {
			return nil, fmt.Errorf("reading hyperfine's JSON: results[%d]: %w: give what hyperfine --export-json wrote", i, err)
		}
		if p.Wall.Value == 0 {
			d.Caveats = append(d.Caveats, fmt.Sprintf(passedOver+"%.200q: a median of 0 s is no time", p.Command))
		}
		name := p.Command
		if len(p.Parameters) > 0 {
			name += fmt.Sprint(" ", p.Parameters)
		}
		names, d.Results = append(names, name), append(d.Results, p)
	}
	d.tellTwice(names)
	if len(d.Results) == 0 {
		return nil, fmt.Errorf("reading hyperfine's JSON: it has no results: give what hyperfine --export-json wrote")
	}
	return d, nil
}

// importedCommand holds the fields that are read for a command.
type importedCommand struct {
	Command    string         `json:"command"`
	Median     float64        `json:"median"`
	Times      []float64      `json:"times"`
	Parameters map[string]any `json:"parameters"` // a text, or in older versions a number
}

// mostSeconds is the longest time that a run may have taken: ten years.
const mostSeconds = 10 * 366 * 86400

// program converts a command into the form of a document.
func (c importedCommand) program() (program.Report, error) {
	p := program.Report{
		Command: c.Command, Parameters: map[string]string{}, Summary: program.Summary{Estimate: notMeasured(), CPU: notMeasured()},
		Runs: []program.RunReport{}, Outliers: []program.Outlier{},
	}
	if c.Command == "" {
		return p, fmt.Errorf("it names no command")
	}
	for name, value := range c.Parameters {
		p.Parameters[name] = fmt.Sprint(value)
	}
	var times []float64
	for _, seconds := range c.Times {
		if !(seconds >= 0 && seconds < mostSeconds) {
			return p, fmt.Errorf("%q took %g s, as no run does", c.Command, seconds)
		}
		times = append(times, seconds*1e9)
		p.Runs = append(p.Runs, program.RunReport{WallNs: seconds * 1e9})
	}
	if len(times) == 0 {
		if !(c.Median > 0 && c.Median < mostSeconds) {
			return p, fmt.Errorf("%q has neither times nor a median", c.Command)
		}
		times = []float64{c.Median * 1e9}
	}
	var judgement stats.Judgement
	p.Wall, judgement = wallMedian(times)
	p.Judgement = judgement
	return p, nil
}

// notMeasured returns the estimate of a value that the other tool does not report.
func notMeasured() stats.Estimate { return stats.NoEstimate("ns", "median") }
