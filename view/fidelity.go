package view

import (
	"fmt"
	"math"
	"strings"

	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(20, "fidelity", fidelities, fidelityFields, trustFigures)

// fidelities shows whether counters can be trusted.
func fidelities(d record.Fidelity) *Sheet {
	s := sheet("Fidelity", d.Header)
	s.Tiles = trustTiles(d.Trust)
	s.add(trustSections(d.Trust)...)
	return s
}

func trustSections(d record.Trust) []Section {
	return []Section{counted(d.Sandwiches), differences(d.Sandwiches), checks(d.Checks)}
}

// worstSandwich returns the result with the largest error, and the joined judgement of all results.
func worstSandwich(all []fidelity.Result) (worst fidelity.Result, j stats.Judgement) {
	j, worst = stats.NewJudgement(), all[0]
	for _, one := range all {
		j.Join(one.Judgement)
		if orZero(one.MaxErrorNs) > orZero(worst.MaxErrorNs) {
			worst = one
		}
	}
	return worst, j
}

// trustTiles returns tiles that say whether the counters can be trusted.
func trustTiles(d record.Trust) (tiles []Tile) {
	if len(d.Sandwiches) > 0 {
		worst, j := worstSandwich(d.Sandwiches)
		tiles = append(tiles, Tile{
			Topic: "Trust in " + worst.Counter, Figure: "within " + duration(worst.MaxErrorNs), Verdict: j.Verdict,
			Sentence: fmt.Sprintf("Beside %s, in %s, it was off by %s at most; steps and pairing explain %s.",
				worst.Reference, stats.Count(len(d.Sandwiches), "workload"), duration(worst.MaxErrorNs), duration(worst.PermittedNs)),
		})
	}
	if len(d.Checks) > 0 {
		j, sentence := stats.NewJudgement(), "Each clock was asked whether it steps, drifts, or disagrees between CPUs."
		for _, f := range d.Checks {
			j.Join(f.Judgement)
		}
		if len(j.Reasons) > 0 {
			sentence = j.Reasons[0] + "."
		}
		tiles = append(tiles, Tile{Topic: "Each clock by itself", Figure: fmt.Sprintf("%d of %d checks passed", passed(d.Checks), len(d.Checks)), Verdict: j.Verdict, Sentence: sentence})
	}
	return tiles
}

// passed returns the number of checks that found no fault.
func passed(all []check.Finding) int {
	return len(where(all, func(f check.Finding) bool { return f.Verdict == stats.Trusted }))
}

// counted draws what the counter and the reference measured over the requested time, for the first
// workload (as Figure 1 of Kuperberg 2011b).
func counted(all []fidelity.Result) Section {
	if len(all) == 0 || len(all[0].Samples) == 0 {
		return Section{}
	}
	first := all[0]
	var requested, both []float64
	counter, reference := Series{Look: 1}, Series{Look: 0, Joined: true}
	t := table(numbers("requested", "by "+first.Reference, "by "+first.Counter, "ticks"))
	for _, p := range first.Samples {
		requested = append(requested, p.RequestedNs)
		both = append(both, p.ReferenceNs, orElse(p.CounterNs, p.ReferenceNs))
		reference.Points = append(reference.Points, XY{p.RequestedNs, p.ReferenceNs, ""})
		if p.CounterNs.Known() {
			counter.Points = append(counter.Points, XY{p.RequestedNs, p.CounterNs.Value(), fmt.Sprintf("asked for %s: %s by %s, %s by %s",
				duration(p.RequestedNs), durationTo(p.CounterNs, 7), first.Counter, durationTo(p.ReferenceNs, 7), first.Reference)})
		}
		t.row(duration(p.RequestedNs), durationTo(p.ReferenceNs, 9), durationTo(p.CounterNs, 9), p.CounterTicks)
	}
	return Section{
		Title: fmt.Sprintf("%s beside %s: %s", first.Counter, first.Reference, first.Workload), In: OnPage,
		Lead: "What both clocks measured, over what was asked for: a counter that stops or slows down falls below the line " +
			"(as in Figure 1 of Kuperberg and Reussner, ICPE 2011).",
		Legend: []Key{{Mark: SeriesMark(1), Look: "s1", Text: first.Counter}, seriesKey(0, first.Reference)},
		Charts: []Chart{{
			Label: "Counted over requested time", X: linear("requested", Time, requested), Y: linear("measured", Time, both), Series: []Series{reference, counter},
		}},
		Table: t,
	}
}

// differences shows for each workload how far the counter was from the reference.
func differences(all []fidelity.Result) Section {
	if len(all) == 0 {
		return Section{}
	}
	var values []float64
	for _, s := range all {
		values = append(values, orZero(s.PermittedNs), -orZero(s.PermittedNs), orZero(s.MaxErrorNs), -orZero(s.MaxErrorNs))
	}
	zero := 0.0
	chart := Chart{Label: "Counter less reference, by workload", Marker: &zero, X: linear("counter less reference", Time, values)}
	t := table(words("workload"), numbers("samples", "moved", "rate in MHz", "±", "worst error", "permitted", "worst share"), words("verdict", "page:reasons"))
	oscillators := "the same oscillator, as far as is known"
	if all[0].Independent {
		oscillators = "different oscillators"
	}
	section := Section{
		Title: "How far the counter was off",
		Lead: "Each dot is one run of a workload, read by both clocks. The grey bar is what the steps of the clocks, " +
			"and the time between reading one and the other, explain; a fault lies beyond it.",
		Legend: []Key{{Mark: "dot", Look: "s1", Text: "counter less reference"}, {Bar: true, Look: "permitted", Text: "explained"}},
		Lines:  []Line{{Strong: all[0].Counter, Text: fmt.Sprintf("beside %s, which rest on %s", all[0].Reference, oscillators)}},
		Table:  t,
	}
	means := map[string]bool{}
	for _, s := range all {
		chart.Rows = append(chart.Rows, differenceRow(s))
		t.row(s.Workload, s.Count, s.Migrations, megahertz(s.Rate.Value), farther(s.Rate),
			duration(s.MaxErrorNs), duration(s.PermittedNs), partsPerMillion(s.MaxErrorPPM), s.Verdict, joined(s.Reasons))
		for _, reason := range s.Reasons {
			section.Notes = append(section.Notes, Line{Verdict: s.Verdict, Strong: "beside " + s.Workload + ":", Text: reason})
		}
		if !means[s.Meaning] && s.Meaning != "" {
			means[s.Meaning] = true
			section.Notes = append(section.Notes, Line{Verdict: s.Verdict, Text: s.Meaning})
		}
	}
	section.Charts = []Chart{chart}
	return section
}

func partsPerMillion(v stats.Float) string {
	if !v.Known() {
		return stats.Unknown
	}
	return stats.Significant(v.Value(), 3) + " ppm"
}

func differenceRow(s fidelity.Result) Row {
	row := Row{Name: s.Workload, Figure: "at most " + duration(s.MaxErrorNs)}
	if permitted := s.PermittedNs.Value(); s.PermittedNs.Known() {
		row.Bars = []Span{{-permitted, permitted, "permitted", fmt.Sprintf("up to %s are explained", duration(s.PermittedNs))}}
	}
	for i, p := range s.Samples {
		off := float64(p.CounterTicks)/s.Rate.Value*1e9 - p.ReferenceNs
		row.Points = append(row.Points, Point{off, "dot", "s1", fmt.Sprintf("%s off in %s", stats.Duration(off, 3), duration(p.ReferenceNs)), scatter(i)})
	}
	return row
}

// worthTelling are the checks whose figure is shown even if nothing is wrong.
var worthTelling = map[check.Question]bool{check.CPUOffset: true, check.CPUSkew: true, check.Drift: true}

// checks says which checks were made of each clock: what was measured, and what is wrong.
func checks(all []check.Finding) Section {
	if len(all) == 0 {
		return Section{}
	}
	clocks := distinct(all, func(f check.Finding) string { return f.Clock })
	questions := distinct(all, func(f check.Finding) string { return string(f.Check) })
	t := table(words("clock", "question"), numbers("largest fault", "measured"), words("verdict", "reasons", "notes"))
	t.In = OnPage
	s := Section{Title: "Each clock by itself", Table: t}
	s.Lines = []Line{{Strong: "Each clock by itself:", Text: fmt.Sprintf("%s of %s, %d passed (%s)", stats.Count(len(all), "check"), stats.Count(len(clocks), "clock"), passed(all), strings.Join(questions, ", "))}}
	var measures []Line
	var notes folds
	for _, f := range all {
		found := ""
		if f.Estimate != nil {
			found = measured(*f.Estimate)
			if worthTelling[f.Check] && f.Clock == all[0].Clock {
				measures = append(measures, say("%s of %s: %s", f.Check, f.Clock, found))
			}
		}
		fault := ""
		if f.WorstNs.Known() {
			fault = duration(f.WorstNs)
		}
		for _, reason := range f.Reasons {
			s.Lines = append(s.Lines, Line{Verdict: f.Verdict, Strong: fmt.Sprintf("%s, %s:", f.Clock, f.Check), Text: reason})
		}
		for _, note := range f.Notes {
			notes.add(fold{mark: "note on", text: note}, f.Clock)
		}
		t.row(f.Clock, f.Check, fault, found, f.Verdict, joined(f.Reasons), joined(f.Notes))
	}
	s.Lines = append(s.Lines, measures...)
	for _, note := range notes.lines(-1, len(all)) {
		note.Text, note.Strong, note.In = note.Strong+" "+note.Text, "", InText
		s.Lines = append(s.Lines, note)
	}
	return s
}

// measured writes an estimate with its bounds, with as many digits as distinguish the bounds.
func measured(e stats.Estimate) string {
	digits := max(0, 2-int(math.Floor(math.Log10(e.Hi-e.Lo))))
	unit := math.Pow(10, float64(-digits))
	value := math.Round(e.Value/unit)*unit + 0 // turns -0 into 0
	return fmt.Sprintf("%.*f %s (%.*f to %.*f)", digits, value, e.Unit, digits, e.Lo, digits, e.Hi)
}

// fidelityFields returns a row for each sample.
func fidelityFields(d record.Fidelity) Fields {
	type row struct {
		Counter   string `json:"counter"`
		Reference string `json:"reference"`
		Workload  string `json:"workload"`
		fidelity.Sample
	}
	var rows []row
	for _, s := range d.Sandwiches {
		for _, p := range s.Samples {
			rows = append(rows, row{s.Counter, s.Reference, s.Workload, p})
		}
	}
	return fieldsOf(rows, "counter reference workload requested_ns reference_ns counter_ticks counter_ns")
}

// counterFigures returns the rates and errors of counters.
func counterFigures(t record.Trust) (all []Figure) {
	for _, s := range t.Sandwiches {
		name := s.Counter + " in " + s.Workload
		if stats.IsFinite(s.Rate.Value) {
			all = append(all, newFigure(FigureKey{TopicCounter, name, "rate"}, Neither, s.Rate, s.Verdict, s.Reasons))
		}
		all = append(all, bareFigure(FigureKey{TopicCounter, name, "largest error"}, Lower, "ppm", s.MaxErrorPPM, s.Verdict, s.Reasons)...)
	}
	return all
}

func trustFigures(d record.Fidelity) []Figure { return counterFigures(d.Trust) }
