package program

import (
	"fmt"
	"io"
	"math"

	"chronoscope/stats"
)

// Metric is a figure of a single run other than its time: the program writes it, or the system tells it.
type Metric struct {
	// Name is the metric's name. If it is the name of a rate ([stats.IsRate]), more is better.
	Name string
	// Unit is the unit of the values, and Source says where they come from.
	Unit, Source string
	// Read finds the value in what the program wrote to its standard output, or with FromStderr to its standard
	// error; nil if the system tells the value. The error says why there is no value.
	Read       func(Output) (float64, error)
	FromStderr bool

	of     func(*Run) float64 // the value that the system tells; NaN if unknown
	traced bool               // only traced runs have it
	least  float64            // of a count: see [stats.RatiosOfMetric]
}

// Output is what a run wrote to one stream: all of it, or with IsCut its last [OutputKept] bytes.
type Output struct {
	Text  []byte
	IsCut bool
}

// OutputKept is the number of bytes that are kept of a stream.
const OutputKept = 1 << 20

// leastCount is a median of a count below which one more or less, as in a first run, is no change.
const leastCount = 0.5

// SystemMetrics are the metrics that the system tells of a run, with their names in documents.
var SystemMetrics = []Metric{
	{Name: "cpu_ns", Unit: "ns", of: (*Run).OwnCPUNs},
	{Name: "max_rss_bytes", Unit: "bytes", of: func(r *Run) float64 { return knownCount(r.MaxRSSBytes) }, traced: true},
	{Name: "minor_faults", Unit: "faults", least: leastCount, of: counted(func(r *Run) int64 { return r.MinorFaults })},
	{Name: "major_faults", Unit: "faults", least: leastCount, of: counted(func(r *Run) int64 { return r.MajorFaults })},
	{Name: "voluntary_switches", Unit: "switches", least: leastCount, of: counted(func(r *Run) int64 { return r.VoluntarySwitches })},
	{Name: "involuntary_switches", Unit: "switches", least: leastCount, of: counted(func(r *Run) int64 { return r.InvoluntarySwitches })},
}

// counted returns a figure that the system counts of a run, as a metric. It is NaN of runs whose system counts none.
func counted(of func(*Run) int64) func(*Run) float64 {
	return func(r *Run) float64 {
		if r.Uncounted {
			return math.NaN()
		}
		return float64(of(r))
	}
}

// knownCount returns the number n, or NaN if n is 0 or less, which stands for an unknown number.
func knownCount(n int64) float64 {
	if n <= 0 {
		return math.NaN()
	}
	return float64(n)
}

// MetricSummary is the result for one metric: the median of the runs, with the interval of
// [stats.MedianOrRange], which holds for any distribution of independent runs.
type MetricSummary struct {
	Source   string         `json:"source"`
	Better   string         `json:"better"` // "lower" or "higher"
	Estimate stats.Estimate `json:"estimate"`
	stats.Judgement
}

// keptOutput keeps the ends of a run's output streams, for its metrics.
type keptOutput struct{ stdout, stderr *outputEnd }

// keep returns the command with the streams kept that its metrics read.
func (c Command) keep() (Command, keptOutput) {
	var kept keptOutput
	for _, m := range c.Metrics {
		switch {
		case m.Read == nil:
		case m.FromStderr && kept.stderr == nil:
			kept.stderr = &outputEnd{}
			c.Stderr = teeTo(c.Stderr, kept.stderr)
		case !m.FromStderr && kept.stdout == nil:
			kept.stdout = &outputEnd{}
			c.Stdout = teeTo(c.Stdout, kept.stdout)
		}
	}
	return c, kept
}

func teeTo(w io.Writer, kept *outputEnd) io.Writer {
	if w == nil {
		return kept
	}
	return io.MultiWriter(w, kept)
}

// reading is a metric that a run wrote, or the reason why there is none.
type reading struct {
	value   float64
	missing error
}

// read reads the metrics that the run wrote. It returns one reading for each metric.
func (k keptOutput) read(metrics []Metric) (all []reading) {
	for _, m := range metrics {
		var r reading
		switch {
		case m.Read == nil:
		case m.FromStderr:
			r.value, r.missing = m.Read(k.stderr.output())
		default:
			r.value, r.missing = m.Read(k.stdout.output())
		}
		if r.missing != nil {
			r.value = math.NaN()
		}
		all = append(all, r)
	}
	return all
}

// outputEnd keeps the last OutputKept bytes of what is written to it.
type outputEnd struct {
	text  []byte
	isCut bool
}

func (o *outputEnd) Write(text []byte) (int, error) {
	o.text = append(o.text, text...)
	if len(o.text) > 2*OutputKept { // only then, so that each byte is copied a few times at most
		o.text = append(o.text[:0], o.text[len(o.text)-OutputKept:]...)
		o.isCut = true
	}
	return len(text), nil
}

func (o *outputEnd) output() Output {
	from := max(0, len(o.text)-OutputKept)
	return Output{o.text[from:], o.isCut || from > 0}
}

// metricIn returns the i-th metric of a run, NaN if it is missing. counts reports whether the run counts for it.
func metricIn(c Command, run *Run, i int) (value float64, counts bool) {
	m := c.Metrics[i]
	switch {
	case m.traced:
		return m.of(run), run.Untraced == nil
	case m.Read == nil:
		return m.of(run), !run.Rejected
	case i >= len(run.read):
		return math.NaN(), false
	}
	return run.read[i].value, !run.Rejected
}

// MetricsOf returns the results of the command's metrics; nil if it has none.
func MetricsOf(r *Result) map[string]MetricSummary {
	if len(r.Command.Metrics) == 0 {
		return nil
	}
	all := map[string]MetricSummary{}
	for i, m := range r.Command.Metrics {
		all[m.Name] = r.metric(i, m)
	}
	return all
}

// fewestForMedian is the least number of runs that bound a median.
var fewestForMedian = stats.SamplesForMedian((1-stats.Confidence)/2, 0)

// mostWaited is the largest share of its time that a program may wait for a CPU before metrics that include times
// become suspect.
const mostWaited = 0.01

// failuresCount is the reason why figures are suspect that hold runs which failed. failures returns how many did.
const failuresCount = "%d of %d runs failed, and count because failures are ignored"

func failures(runs []*Run) (n int) {
	for _, r := range runs {
		if r.Failure() != nil {
			n++
		}
	}
	return n
}

func (r *Result) metric(i int, m Metric) MetricSummary {
	var values []float64
	var used []*Run
	lacking, why := 0, "it is not known here"
	for k := range r.Runs {
		value, counts := metricIn(r.Command, &r.Runs[k], i)
		switch {
		case !counts:
		case stats.IsFinite(value):
			values, used = append(values, value), append(used, &r.Runs[k])
		default:
			if lacking++; m.Read != nil && lacking == 1 {
				why = r.Runs[k].read[i].missing.Error()
			}
		}
	}
	s := MetricSummary{Source: m.Source, Better: "lower", Estimate: stats.MedianOrRange(values, m.Unit), Judgement: stats.NewJudgement()}
	s.Estimate.Discarded = lacking
	if stats.IsRate(m.Name) {
		s.Better = "higher"
	}
	switch {
	case len(values) == 0 && lacking == 0:
		s.Lower(stats.Unusable, "no run counts for it")
	case len(values) == 0:
		s.Lower(stats.Unusable, "no run has it: %s", why)
	case lacking > 0:
		s.Lower(stats.Suspect, "%d of %d runs don't have it: %s", lacking, lacking+len(values), why)
	}
	if failed := failures(used); failed > 0 && r.Failure == nil {
		s.Lower(stats.Suspect, failuresCount, failed, len(used))
	}
	if n := len(values); n > 0 && n < fewestForMedian {
		s.Lower(stats.Suspect, "of %d runs that a 95 %% interval needs, there %s", fewestForMedian, map[bool]string{true: "is 1", false: fmt.Sprintf("are %d", n)}[n == 1])
	}
	holdsTimes := m.Read != nil || m.Unit == "ns" // the program may have timed itself
	switch share := r.RunqueueWaitNs.Value() / r.Wall.Value; {
	case !holdsTimes || len(values) == 0:
	case share > mostWaited:
		s.Lower(stats.Suspect, "it waited for a CPU for %s of its time, and nothing is taken off of what that does to this figure", stats.Percent(share))
	case r.Verdict == stats.Unusable:
		s.Lower(stats.Suspect, "its time is unusable, and nothing is taken off of what disturbed that")
	}
	return s
}

// CompareMetric compares the i-th metric of B with that of A, by pairs of runs of the same round. The ratio of a rate
// is inverted ([stats.RatiosOfMetric]). Both results must have the same metrics. If a command failed, nothing is compared.
// Pairs with a value below 0, which has no ratio, are left out.
func CompareMetric(a, b *Result, i int, tolerance float64, seed uint64) Comparison {
	c := Comparison{A: a, B: b, Metric: a.Command.Metrics[i].Name}
	if a.Failure != nil || b.Failure != nil {
		c.decide(tolerance, seed)
		return c
	}
	of := map[int]float64{}
	for k, round := range a.rounds {
		if value, counts := metricIn(a.Command, &a.Runs[k], i); counts && stats.IsFinite(value) {
			of[round] = value
		}
	}
	var first, second []float64
	for k, round := range b.rounds {
		value, counts := metricIn(b.Command, &b.Runs[k], i)
		switch before, both := of[round]; {
		case !both || !counts || !stats.IsFinite(value):
		case before < 0 || value < 0:
			c.belowZero = true
		default:
			first, second = append(first, before), append(second, value)
		}
	}
	c.pairs, _ = stats.RatiosOfMetric(first, second, stats.IsRate(c.Metric), a.Command.Metrics[i].least)
	c.decide(tolerance, seed)
	return c
}

// BelowZero says why a comparison is undecided that leaves out pairs with values below 0.
const BelowZero = "values below 0 have no ratio"

// tooFew says why a comparison with this number of pairs is undecided.
func tooFew(pairs int) string {
	return fmt.Sprintf("only %s of runs have it on both sides", stats.Count(pairs, "pair"))
}
