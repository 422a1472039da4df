package view

import (
	"fmt"
	"strings"

	"chronoscope/bisect"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(65, "bisect", bisectSheet,
	listing(func(d record.Bisect) []record.BisectCommit { return d.Commits }, "number hash subject ratio.value ratio.lo ratio.hi ratio.n skipped"), nil)

// bisectSheet shows which commits made something slower.
func bisectSheet(d record.Bisect) *Sheet {
	s := sheet("Bisect", d.Header)
	says := bisectSentence(d)
	s.Tiles = []Tile{{Topic: "Which commit made " + d.Subject + " slower", Figure: bisectFigure(d), Sentence: says}}
	lines := []Line{{Text: says}}
	for _, step := range d.Steps {
		lines = append(lines, Line{Text: stepSentence(step)})
	}
	s.add(Section{Lines: lines}, bisectedCommits(d))
	return s
}

// bisectFigure returns the commits that were found, or the outcome in a word.
func bisectFigure(d record.Bisect) string {
	var found []string
	for _, step := range d.Steps {
		if step.Found {
			found = append(found, candidates(step))
		}
	}
	switch {
	case len(found) > 0:
		return strings.Join(found, ", ")
	case d.Outcome == bisect.NoChange || d.Outcome == bisect.Opposite:
		return "none"
	}
	return stats.Unknown
}

// bisectSentence says how the search ended.
func bisectSentence(d record.Bisect) string {
	_, bounds := ratio(d.Change)
	whole := fmt.Sprintf("%s at %s takes %s times as long as at %s (%s); %s apart, %s built.",
		d.Subject, d.Bad, stats.Significant(d.Change.Value, 4), d.Good, bounds, stats.Count(d.Range, "commit"), stats.Count(d.Builds, "commit"))
	if d.Why != "" {
		whole += " " + capitalized(d.Why) + "."
	}
	switch d.Outcome {
	case bisect.NoChange, bisect.Opposite:
		return whole + " There is nothing to look for."
	case bisect.CantTell:
		return "Which commit it was can't be told. " + whole
	}
	return whole
}

// candidates names the commits of a step.
func candidates(step record.BisectStep) string {
	if len(step.Commits) == 0 {
		return stats.Unknown
	}
	first, last := step.Commits[0], step.Commits[len(step.Commits)-1]
	if step.First == step.Last {
		return abbreviated(first.Hash)
	}
	return fmt.Sprintf("%s to %s", abbreviated(first.Hash), abbreviated(last.Hash))
}

// stepSentence describes a step, and says how certain it is.
func stepSentence(step record.BisectStep) string {
	_, bounds := ratio(step.Ratio)
	what := fmt.Sprintf("times %s (%s), probability %s", stats.Significant(step.Ratio.Value, 4), bounds, percent(step.Probability))
	perhaps := ""
	if !step.Found {
		perhaps = "perhaps "
	}
	if step.First == step.Last && len(step.Commits) == 1 {
		return fmt.Sprintf("%s%s: %s: %s", perhaps, candidates(step), step.Commits[0].Subject, what)
	}
	return fmt.Sprintf("%sone of %s, %s: %s", perhaps, stats.Count(step.Last-step.First+1, "commit"), candidates(step), what)
}

// abbreviated returns a commit's short name.
func abbreviated(hash string) string { return hash[:min(len(hash), 10)] }

// bisectedCommits lists and draws the commits that were measured.
func bisectedCommits(d record.Bisect) Section {
	one := 1.
	chart := Chart{Label: "The time of each commit over that of the good end", Marker: &one}
	t := table(numbers("number"), words("commit"), numbers("times the good end", "95 % interval", "pairs"), words("message", "not measured because"))
	for _, c := range d.Commits {
		value, bounds := ratio(c.Ratio)
		t.row(c.Number, abbreviated(c.Hash), value, bounds, c.Ratio.N, Shortened(c.Subject, mostName), c.Skipped)
		if !stats.IsFinite(c.Ratio.Value) {
			continue
		}
		row := Row{Name: fmt.Sprintf("%d %s %s", c.Number, abbreviated(c.Hash), Shortened(c.Subject, mostName)), Figure: value}
		title := fmt.Sprintf("%s, 95 %% interval %s", value, bounds)
		if stats.IsFinite(c.Ratio.Lo) && stats.IsFinite(c.Ratio.Hi) {
			row.Spans = []Span{{c.Ratio.Lo, c.Ratio.Hi, "thick", title}}
		}
		row.Points = []Point{{At: c.Ratio.Value, Mark: "diamond", Look: "s2", Title: title}}
		chart.Rows = append(chart.Rows, row)
	}
	chart.X = linear("times the good end", Plain, chart.xs(one))
	return Section{
		Title: "The commits that were measured", Charts: []Chart{chart}, Table: t, Legend: intervalKeys("median of the pairs"),
		Lead: "Each commit was measured next to the good end, in pairs. The oldest comes first; the line is the good end.",
	}
}
