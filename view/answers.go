package view

import (
	"fmt"
	"strings"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// mostAdvised is how many findings [CardAnswers] names, each with what helps.
const mostAdvised = 2

// mostFailed is how many clocks [CardAnswers] names that failed a check.
const mostFailed = 3

// CardAnswers returns a report card that fits on a terminal of 80 by 24: whether this machine can
// measure, which clock to use for what, how noisy the machine is, and what to do. It gives only the
// number of further findings; all is the command that shows them.
func CardAnswers(d record.Card, all string) *Sheet {
	d = Shown(d)
	s := sheet("Report card", d.Header)
	s.Caveats = nil
	var answers Section
	answers.Lines = append(answers.Lines, labelled("measure", "%s", diagnosis(d.Findings)))
	answers.Lines = append(answers.Lines, clockAnswers(d.Ranking)...)
	answers.Lines = append(answers.Lines, counterAnswers(d.Trust)...)
	for _, t := range d.Traces {
		answers.Lines = append(answers.Lines, labelled("noise", "%s", noiseAnswer(t)))
	}
	s.add(answers, Section{Lines: toDo(d.Findings)}, Section{Lines: []Line{labelled("more", "%s", more(d.Header, all))}})
	return s
}

// clockAnswers returns a line for each purpose with the clock to use.
func clockAnswers(r timermeter.Ranking) (lines []Line) {
	for _, p := range purposes(r.Best) {
		if c := clockNamed(r.Clocks, p.name); c != nil {
			lines = append(lines, Line{
				Label: "clocks", Verdict: c.Verdict, Strong: c.Name,
				Text: fmt.Sprintf("(%s): steps of %s, %s a call", p.purpose, written(c.Accuracy), duration(c.Cost.MedianNs)),
			})
		}
	}
	return lines
}

// counterAnswers says whether the counters can be trusted.
func counterAnswers(t record.Trust) (lines []Line) {
	if len(t.Sandwiches) > 0 {
		worst, j := worstSandwich(t.Sandwiches)
		lines = append(lines, Line{
			Label: "counters", Verdict: j.Verdict, Strong: worst.Counter,
			Text: fmt.Sprintf("beside %s: off by %s at most", worst.Reference, duration(worst.MaxErrorNs)),
		})
	}
	if len(t.Checks) > 0 {
		text := fmt.Sprintf("%d of %d checks of single clocks passed", passed(t.Checks), len(t.Checks))
		failed := where(t.Checks, func(f check.Finding) bool { return f.Verdict != stats.Trusted })
		if names := distinct(failed, func(f check.Finding) string { return f.Clock }); len(names) > 0 {
			text += "; failed: " + strings.Join(names[:min(len(names), mostFailed)], ", ")
			if left := len(names) - mostFailed; left > 0 {
				text += fmt.Sprintf(" and %d more", left)
			}
		}
		lines = append(lines, labelled("counters", "%s", text))
	}
	return lines
}

// noiseAnswer says what share of its time a CPU lost, and what took most of it.
func noiseAnswer(t activity.Analysis) string {
	if !t.ActiveRatio.Known() {
		return fmt.Sprintf("%s: no activity was seen in %s", place(t), duration(t.DurationNs))
	}
	text := fmt.Sprintf("%s lost %s of %s", place(t), stats.Share(1-t.ActiveRatio.Value()), duration(t.DurationNs))
	if cause, total := worstCause(t); total > 0 {
		text += fmt.Sprintf(", %s to %s", stats.Share(total/t.DurationNs), cause)
	}
	for _, u := range t.Undisturbed {
		if u.LengthNs == 1e6 {
			text += fmt.Sprintf("; work of 1 ms is undisturbed in %s of trials", percent(u.Probability))
		}
	}
	return text
}

// toDo returns the worst findings, each with what helps.
func toDo(all []machine.Finding) (lines []Line) {
	disturbing := disturbances(where(all, func(f machine.Finding) bool { return f.Severity != machine.OK })).Findings
	for _, f := range disturbing[:min(len(disturbing), mostAdvised)] {
		lines = append(lines, labelled("to do", "%s: %s", f.Topic, f.Fix))
	}
	if left := len(disturbing) - mostAdvised; left > 0 {
		lines = append(lines, labelled("to do", "%s more: chronoscope doctor", stats.Count(left, "finding")))
	}
	return lines
}

// more names the commands that show what [CardAnswers] leaves out.
func more(h record.Header, all string) string {
	return fmt.Sprintf("%s (with %s), clocks, fidelity, activity, doctor", all, stats.Count(len(h.Caveats), "caveat"))
}
