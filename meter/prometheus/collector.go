// Package prometheus exports meters to Prometheus.
//
//	client.MustRegister(prometheus.NewCollector(encode, decode))
//
// where client is github.com/prometheus/client_golang/prometheus. All metrics bear
// the label meter, the meter's name; times are in seconds. The counters add up over
// processes and machines, and the mean of any stretch of time is
//
//	  (rate(chronoscope_meter_seconds_total[1h]) - rate(chronoscope_meter_clock_cost_seconds_total[1h]))
//	/ rate(chronoscope_meter_measured_calls_total[1h])
//
// with a 95 % interval of about ± 2 / sqrt(edges), as a share of the mean, if calls are much shorter than
// the tick. That interval does not include the bias that the tick may cause,
// chronoscope_meter_mean_tick_bias_seconds in either direction, which more edges or meters do not reduce.
// If meters measure different shares of their calls, weight the mean of each by
// chronoscope_meter_calls_total. The gauges of the mean cover the time since the process began.
//
// A meter with tails ([meter.WithTails]) has native histograms as well, with slow calls as exemplars. A
// server with scrape_native_histograms takes them:
//
//	histogram_quantile(0.99, rate(chronoscope_meter_timed_call_seconds[1h]))
//
// Its quantiles are those of all calls, since the timed ones are chosen at random.
package prometheus

import (
	"strings"
	"time"
	"unicode/utf8"

	client "github.com/prometheus/client_golang/prometheus"

	"chronoscope/meter"
	"chronoscope/stats"
)

// collector implements client.Collector. It reads the meters when it is scraped.
type collector struct{ meters []*meter.Meter }

// NewCollector makes the collector of some meters, whose names have to differ.
func NewCollector(meters ...*meter.Meter) client.Collector { return collector{meters} }

func describe(name, help string, labels ...string) *client.Desc {
	return client.NewDesc("chronoscope_meter_"+name, help, append([]string{"meter"}, labels...), nil)
}

// metric is one number of a meter.
type metric struct {
	kind  client.ValueType
	desc  *client.Desc
	value func(meter.Part, meter.Report) float64
}

var metrics = []metric{
	{client.CounterValue, describe("calls_total", "Calls of the measured code."),
		func(p meter.Part, _ meter.Report) float64 { return float64(p.Calls) }},
	{client.CounterValue, describe("measured_calls_total", "Calls that were measured; the others were left out by sampling."),
		func(p meter.Part, _ meter.Report) float64 { return float64(p.Measured) }},
	{client.CounterValue, describe("edges_total", "Measured calls that saw the clock move."),
		func(p meter.Part, _ meter.Report) float64 { return float64(p.Edges) }},
	{client.CounterValue, describe("seconds_total", "Time that the clock moved during measured calls, in seconds, the clock's own cost included."),
		func(p meter.Part, _ meter.Report) float64 { return float64(p.Ticks) * p.TickNs / 1e9 }},
	{client.CounterValue, describe("clock_cost_seconds_total", "The clock's own cost within measured calls, in seconds, to be taken off."),
		func(p meter.Part, _ meter.Report) float64 { return p.CostNs / 1e9 }},
	{client.GaugeValue, describe("tick_seconds", "Length of a tick of the clock, in seconds."),
		func(p meter.Part, _ meter.Report) float64 { return p.TickNs / 1e9 }},
	{client.GaugeValue, describe("mean_seconds", "Mean duration of a call, in seconds, less the clock's own cost."),
		func(_ meter.Part, r meter.Report) float64 { return r.Mean.Value / 1e9 }},
	{client.GaugeValue, describe("mean_lower_seconds", "Lower bound of the mean's 95 % interval, in seconds."),
		func(_ meter.Part, r meter.Report) float64 { return r.Mean.Lo / 1e9 }},
	{client.GaugeValue, describe("mean_upper_seconds", "Upper bound of the mean's 95 % interval, in seconds."),
		func(_ meter.Part, r meter.Report) float64 { return r.Mean.Hi / 1e9 }},
	{client.GaugeValue, describe("mean_tick_bias_seconds", "By how much the mean may be off either way beside its interval, in seconds, since the clock's tick itself sets work off."),
		func(_ meter.Part, r meter.Report) float64 { return r.TickBias.Hi / 1e9 }},
}

// histogram exports one distribution of a meter with tails as a native histogram.
type histogram struct {
	desc *client.Desc
	of   func(*meter.TailCounts) meter.Histogram
	// intended says that its times are from when the calls should have begun. So are those of its exemplars.
	intended bool
}

var histograms = []histogram{
	{describe("timed_call_seconds", "Durations of the calls that were timed one by one, a random sample of all, without the clocks' own cost."),
		func(t *meter.TailCounts) meter.Histogram { return t.Calls }, false},
	{describe("timed_call_from_intended_seconds", "Durations from when calls should have begun, of the calls that say so."),
		func(t *meter.TailCounts) meter.Histogram { return t.FromIntended }, true},
}

// native returns the metric that holds the counts of a meter that was made at a time.
func (h histogram) native(name string, made time.Time, t *meter.TailCounts) client.Metric {
	counted := h.of(t)
	m, err := client.NewConstNativeHistogram(h.desc, counted.Count(), counted.SumNs/1e9, counted.Buckets(), nil, 0,
		meter.HistogramSchema, 0, made, name)
	if err != nil {
		return client.NewInvalidMetric(h.desc, err)
	}
	var exemplars []client.Exemplar
	for _, e := range t.Exemplars {
		if h.intended == e.FromIntended && e.Trace != "" && utf8.ValidString(e.Trace) && utf8.RuneCountInString(e.Trace) <= longestTrace {
			exemplars = append(exemplars, client.Exemplar{Value: e.Ns / 1e9, Labels: client.Labels{traceLabel: e.Trace}, Timestamp: e.At})
		}
	}
	if len(exemplars) == 0 {
		return m
	}
	with, err := client.NewMetricWithExemplars(m, exemplars...)
	if err != nil {
		return m
	}
	return with
}

// traceLabel is the label of an exemplar that holds its trace, and longestTrace the number of characters that are left
// for it.
const (
	traceLabel   = "trace_id"
	longestTrace = client.ExemplarMaxRunes - len(traceLabel)
)

var (
	verdict = describe("verdict", "1 for the present verdict on the mean, 0 for the others.", "verdict")
	faults  = describe("faults_total", "What went wrong with calls or clock.", "kind")
)

// Describe implements client.Collector.
func (c collector) Describe(descs chan<- *client.Desc) {
	for _, m := range metrics {
		descs <- m.desc
	}
	for _, h := range histograms {
		descs <- h.desc
	}
	descs <- verdict
	descs <- faults
}

// Collect implements client.Collector.
func (c collector) Collect(to chan<- client.Metric) {
	for _, m := range c.meters {
		s := m.Snapshot()
		report := s.Report()
		for _, part := range s.Parts { // a meter that was not merged has one
			send(to, strings.ToValidUTF8(s.Name, "\uFFFD"), m.Made(), part, report) // other labels would be refused
		}
	}
}

func send(to chan<- client.Metric, name string, made time.Time, part meter.Part, report meter.Report) {
	for _, m := range metrics {
		to <- client.MustNewConstMetric(m.desc, m.kind, m.value(part, report), name)
	}
	for _, h := range histograms {
		if part.Tails != nil && h.of(part.Tails).Count() > 0 {
			to <- h.native(name, made, part.Tails)
		}
	}
	for _, v := range []stats.Verdict{stats.Trusted, stats.Suspect, stats.Unusable} {
		var is float64
		if v == report.Verdict {
			is = 1
		}
		to <- client.MustNewConstMetric(verdict, client.GaugeValue, is, name, string(v))
	}
	f := part.Faults
	for kind, count := range map[string]uint64{
		"foreign": f.Foreign, "backward": f.Backward, "steps": f.Steps, "stepped": f.Stepped, "between": f.Between,
	} {
		to <- client.MustNewConstMetric(faults, client.CounterValue, float64(count), name, kind)
	}
}
