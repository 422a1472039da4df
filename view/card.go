package view

import (
	"fmt"
	"slices"
	"strings"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

var _ = register(0, "", card, nil, cardFigures)

// card shows the report card: first the most important results in a sentence each, then the
// details.
func card(d record.Card) *Sheet {
	s := sheet("Report card", d.Header)
	if c := clockNamed(d.Clocks, d.Best.Wall); c != nil {
		s.Tiles = append(s.Tiles, clockTile("Best clock", *c))
	}
	s.Tiles = append(s.Tiles, trustTiles(d.Trust)...)
	for _, t := range d.Traces {
		s.Tiles = append(s.Tiles, noiseTile(t))
	}
	for _, a := range d.Advice {
		if a.Purpose == "wall" {
			s.Tiles = append(s.Tiles, adviceTile(a))
		}
	}
	s.add(disturbances(where(d.Findings, func(f machine.Finding) bool { return f.Severity != machine.OK })))
	if len(d.Clocks) > 0 {
		s.add(clocksToUse(d.Ranking), advice(d.Advice))
	}
	s.add(qualities(d.Ranking), trustInCounters(d.Trust), noise(d.Traces), unavailableNames(d.Ranking))
	for _, details := range [][]Section{{costs(d.Ranking), rates(d.Ranking), unavailable(d.Ranking)}, trustSections(d.Trust), traceSections(d.Traces)} {
		for _, part := range details {
			part.In = OnPage // text is short, and names the command that says more
			s.add(part)
		}
	}
	return s
}

func adviceTile(a timermeter.Advice) Tile {
	return Tile{
		Topic: "Advice", Figure: duration(a.FromNs) + " and more",
		Sentence: fmt.Sprintf("What takes as long can be timed to %s with %s, by %s. Interrupts and preemption come on top.", stats.Share(a.ExpectedError), a.Clock, a.Method),
	}
}

// advice says from which durations on the chosen clocks are suitable.
func advice(all []timermeter.Advice) Section {
	t := table(words("to measure", "clock"), numbers("from", "to", "error"), words("how"))
	t.In = OnPage
	s := Section{Title: "What to measure with", Heading: "Good for", Lead: "The error is the most that the clock itself may be off by, at the shortest duration.", Table: t}
	for _, a := range all {
		to := "any length"
		if a.ToNs.Known() {
			to = duration(a.ToNs)
		}
		t.row(a.Purpose, a.Clock, duration(a.FromNs), to, stats.Share(a.ExpectedError), a.Method)
		s.Lines = append(s.Lines, Line{Label: a.Purpose, In: InText, Text: fmt.Sprintf("%s and longer within %s, with %s: %s", duration(a.FromNs), stats.Share(a.ExpectedError), a.Clock, a.Method)})
	}
	return s
}

// unavailableNames names the clocks that can't be read, in one line.
func unavailableNames(r timermeter.Ranking) Section {
	if len(r.Unavailable) == 0 {
		return Section{}
	}
	names := distinct(r.Unavailable, func(u timermeter.Unavailable) string { return u.Name })
	return Section{In: InText, Lines: []Line{{Strong: "Unavailable", Text: strings.Join(names, ", ")}, say("  why, and what helps: chronoscope clocks")}}
}

// negligible is the largest share of time that is left out.
const negligible = 1e-5

// noise says in a few lines how noisy the machine is.
func noise(traces []activity.Analysis) Section {
	s := Section{Heading: "How noisy is it?", In: InText}
	for _, t := range traces {
		text := fmt.Sprintf("%s ran %s of %s", place(t), percent(t.ActiveRatio), duration(t.DurationNs))
		var lost []string
		for _, c := range activity.Causes() {
			if total, seen := t.Causes[c]; seen && total.TotalNs > negligible*t.DurationNs {
				lost = append(lost, fmt.Sprintf("%s %s (%d, worst %s)", c, stats.Share(total.TotalNs/t.DurationNs), total.Count, duration(total.MaxNs)))
			}
		}
		if len(lost) > 0 {
			text += ", and lost to " + strings.Join(lost, ", ")
		}
		s.Lines = append(s.Lines, say("  %s", text))
		for _, u := range t.Undisturbed {
			if u.LengthNs == 1e6 {
				s.Lines = append(s.Lines, say("  work of %s runs undisturbed in %s of trials, and keeps its CPU in %s",
					duration(u.LengthNs), percent(u.Probability), percent(u.Unpreempted)))
			}
		}
	}
	if len(s.Lines) > 0 {
		s.Lines = append(s.Lines, say("  all of it: chronoscope activity"))
	}
	return s
}

// trustInCounters says in a few lines whether the counters can be trusted.
func trustInCounters(d record.Trust) Section {
	s := Section{Heading: "Can the counters be trusted?", In: InText}
	if len(d.Sandwiches) > 0 {
		worst, j := worstSandwich(d.Sandwiches)
		workloads := distinct(d.Sandwiches, func(s fidelity.Result) string { return s.Workload })
		s.Lines = append(s.Lines, say("  %s: %s beside %s is off by %s at most, where steps and pairing permit %s (%s)",
			j.Verdict, worst.Counter, worst.Reference, duration(worst.MaxErrorNs), duration(worst.PermittedNs), strings.Join(workloads, ", ")))
		s.Lines = append(s.Lines, indented(j.Reasons)...)
		if j.Verdict == stats.Trusted && worst.Meaning != "" {
			s.Lines = append(s.Lines, say("  %s", worst.Meaning))
		}
	}
	if len(d.Checks) > 0 {
		j := stats.NewJudgement()
		for _, f := range d.Checks {
			for _, reason := range f.Reasons {
				j.Lower(f.Verdict, "%s, %s: %s", f.Clock, f.Check, reason)
			}
			if e := f.Estimate; e != nil && f.Check == check.CPUOffset && f.Clock == d.Checks[0].Clock {
				s.Lines = append(s.Lines, say("  its readings on different CPUs are apart by %s", measured(*e)))
			}
		}
		s.Lines = append(s.Lines, say("  %s: %s of each clock by itself", j.Verdict, stats.Count(len(d.Checks), "check")))
		s.Lines = append(s.Lines, indented(j.Reasons)...)
	}
	if len(s.Lines) > 0 {
		s.Lines = append(s.Lines, say("  all of it: chronoscope fidelity"))
	}
	return s
}

func indented(reasons []string) (lines []Line) {
	for _, reason := range reasons {
		lines = append(lines, say("    %s", reason))
	}
	return lines
}

// cardFigures returns the figures of everything that the card shows.
func cardFigures(d record.Card) []Figure {
	return slices.Concat(bestFigures(d.Ranking), clockFigures(d.Ranking), counterFigures(d.Trust), noiseFigures(d.Traces))
}
