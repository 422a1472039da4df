package view

import (
	"maps"
	"slices"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// programFields returns a row for each command. Each metric that one of the commands has is a
// column.
func programFields(d record.Programs) Fields {
	f := fieldsOf(d.Results, "command estimate wall cpu runqueue_wait_ns blocked_ns max_rss_bytes method explanation failure verdict reasons")
	all := map[string]program.MetricSummary{}
	for _, p := range d.Results {
		for name := range p.Metrics {
			all[name] = program.MetricSummary{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.Columns = append(f.Columns, "metrics."+name+".estimate", "metrics."+name+".verdict")
	}
	if len(all) > 0 {
		f.Element = program.Report{Summary: program.Summary{Metrics: all}}
	}
	return f
}

// programMetrics shows the metrics of all commands; nothing if there are none.
func programMetrics(all []program.Report, unit stats.TimeUnit) Section {
	t := table(words("command", "metric"), numbers("median", "±", "page:95 % interval", "runs"), words("verdict", "reasons"))
	for _, p := range all {
		for _, name := range slices.Sorted(maps.Keys(p.Metrics)) {
			m := p.Metrics[name]
			t.row(p.Command, name, strong(metricValue(m.Estimate, m.Estimate.Value, unit)), plusMinus(m.Estimate), metricRange(m.Estimate, unit), m.Estimate.N, m.Verdict, joined(m.Reasons))
		}
	}
	return Section{Title: "Metrics", Lead: "Medians of single runs, as the programs or the system tell them, with 95 % intervals.", Table: t}
}

// metricValue writes a value of a metric in its unit, times in the given one.
func metricValue(e stats.Estimate, x float64, unit stats.TimeUnit) string {
	switch {
	case !stats.IsFinite(x):
		return stats.Unknown
	case e.Unit == "ns":
		return unit.Duration(x, 4)
	case e.Unit == "bytes":
		n := int64(x)
		return size(&n)
	}
	return stats.Significant(x, 4)
}

func metricRange(e stats.Estimate, unit stats.TimeUnit) string {
	if !stats.IsFinite(e.Lo) || !stats.IsFinite(e.Hi) {
		return stats.Unknown
	}
	return metricValue(e, e.Lo, unit) + " to " + metricValue(e, e.Hi, unit)
}

// metricFigures returns the metrics of one command.
func metricFigures(name string, p program.Report) (all []Figure) {
	for _, metric := range slices.Sorted(maps.Keys(p.Metrics)) {
		m := p.Metrics[metric]
		if m.Estimate.N == 0 {
			continue
		}
		f := newFigure(FigureKey{TopicProgram, name, metric}, betterOf(metric), m.Estimate, m.Verdict, m.Reasons)
		for _, r := range p.Runs {
			if x, counts := r.Metrics[metric]; counts && x.Known() {
				f.Samples = append(f.Samples, x.Value())
			}
		}
		all = append(all, f)
	}
	return all
}
