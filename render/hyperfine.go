package render

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Hyperfine writes the format of hyperfine --export-json, with the same keys and units (seconds),
// for scripts that read such files. Times are wall times, as in hyperfine's files, and so include
// waits for other programs. The time alone is only in this program's own document.
//
// Runs that don't count are left out, as are commands without a run that counts. A run that a signal
// ended has no exit code.
func Hyperfine(w io.Writer, d record.Programs) error {
	whole := struct {
		Results []hyperfineResult `json:"results"`
	}{[]hyperfineResult{}}
	for _, p := range d.Results {
		if len(p.Counted()) > 0 {
			whole.Results = append(whole.Results, newHyperfineResult(p))
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(whole)
}

// HyperfineCSV writes the table of hyperfine --export-csv: wall times in seconds. The standard
// deviation of a single run is empty, where hyperfine writes 0.
func HyperfineCSV(w io.Writer, d record.Programs) error {
	d = view.Shown(d)
	out := csv.NewWriter(w)
	parameters := map[string]bool{}
	for _, p := range d.Results {
		for name := range p.Parameters {
			parameters[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(parameters))
	header := []string{"command", "mean", "stddev", "median", "user", "system", "min", "max"}
	for _, name := range names {
		header = append(header, "parameter_"+name)
	}
	out.Write(header)
	for _, p := range d.Results {
		if len(p.Counted()) == 0 {
			continue
		}
		r := newHyperfineResult(p)
		row := []string{r.Command}
		for _, seconds := range []float64{r.Mean, r.StdDev.Value(), r.Median, r.User, r.System, r.Min, r.Max} {
			row = append(row, textOf(reflect.ValueOf(seconds)))
		}
		for _, name := range names {
			row = append(row, p.Parameters[name])
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// hyperfineResult is a command in hyperfine's form. Its fields are those of the struct
// BenchmarkResult of hyperfine 1.15, in their order.
type hyperfineResult struct {
	Command    string            `json:"command"`
	Mean       float64           `json:"mean"`
	StdDev     stats.Float       `json:"stddev"` // null for a single run
	Median     float64           `json:"median"`
	User       float64           `json:"user"`   // mean
	System     float64           `json:"system"` // mean
	Min        float64           `json:"min"`
	Max        float64           `json:"max"`
	Times      []float64         `json:"times"`
	ExitCodes  []*int            `json:"exit_codes"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

func newHyperfineResult(p program.Report) hyperfineResult {
	r := hyperfineResult{Command: p.Command, Parameters: p.Parameters}
	var user, system []float64
	for _, run := range p.Counted() {
		r.Times = append(r.Times, run.WallNs/1e9)
		r.ExitCodes = append(r.ExitCodes, run.ExitCode)
		user, system = append(user, run.UserNs/1e9), append(system, run.SystemNs/1e9)
	}
	r.Mean, r.StdDev = meanAndSD(r.Times)
	r.User, _ = meanAndSD(user)
	r.System, _ = meanAndSD(system)
	r.Median, r.Min, r.Max = stats.Median(r.Times), slices.Min(r.Times), slices.Max(r.Times)
	return r
}

// meanAndSD returns the mean and the sample's standard deviation, which is unknown for a single
// value.
func meanAndSD(values []float64) (mean float64, sd stats.Float) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, stats.FloatOf(math.Sqrt(squares / float64(len(values)-1)))
}
