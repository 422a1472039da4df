package report

import (
	"fmt"

	"chronoscope/activity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// cardSheet shows the report card: what matters in a sentence each, then the details.
func cardSheet(d record.Card) *sheet {
	s := sheetOf("Report card", d.Header)
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
	s.add(findingsSection(d.Findings), adviceSection(d.Advice))
	s.add(rankingSections(d.Ranking)...)
	s.add(trustSections(d.Trust)...)
	s.add(traceSections(d.Traces)...)
	return s
}

func adviceTile(a record.Advice) tile {
	return tile{
		Topic: "Advice", Figure: duration(a.FromNs) + " and more",
		Sentence: fmt.Sprintf("What takes as long can be timed to %s with %s, by %s. Interrupts and preemption come on top.", relative(a.ExpectedError), a.Clock, a.Method),
	}
}

// adviceSection says what to measure with.
func adviceSection(all []record.Advice) section {
	table := tableOf(words("to measure", "clock"), figuresOf("from", "to", "error"), words("how"))
	for _, a := range all {
		to := "any length"
		if a.ToNs != nil {
			to = duration(*a.ToNs)
		}
		table.row(a.Purpose, a.Clock, duration(a.FromNs), to, relative(a.ExpectedError), a.Method)
	}
	return section{Title: "What to measure with", Lead: "The error is the most that the clock itself may be off by, at the shortest duration.", Table: table}
}

// noiseTile says how noisy a CPU is.
func noiseTile(t record.Trace) tile {
	n := tile{Topic: "Noise on " + place(t), Figure: "unknown", Sentence: fmt.Sprintf("In %s no activity was seen.", duration(t.DurationNs))}
	if t.ActiveRatio == nil {
		return n
	}
	n.Figure = relative(1-*t.ActiveRatio) + " lost"
	n.Sentence = fmt.Sprintf("In %s a thread ran %s of the time", duration(t.DurationNs), percent(t.ActiveRatio))
	if cause, total := worstCause(t); total > 0 {
		n.Sentence += fmt.Sprintf(". Most of the rest, %s, is %s: %s", relative(total/t.DurationNs), cause, causeMeans[cause])
	}
	n.Sentence += "."
	for _, u := range t.Undisturbed {
		if u.LengthNs == 1e6 {
			n.Sentence += fmt.Sprintf(" Work of 1 ms is undisturbed in %s of trials.", percent(&u.Probability))
		}
	}
	return n
}

// worstCause is what took most.
func worstCause(t record.Trace) (worst activity.Cause, totalNs float64) {
	for _, c := range activity.Causes() {
		if total := t.Causes[c.String()].TotalNs; total > totalNs {
			worst, totalNs = c, total
		}
	}
	return worst, totalNs
}

// trustTiles say whether the counters can be trusted.
func trustTiles(d record.Trust) []tile {
	var tiles []tile
	if len(d.Sandwiches) > 0 {
		j := stats.NewJudgement()
		worst := d.Sandwiches[0]
		for _, one := range d.Sandwiches {
			j.Join(stats.Judgement{Verdict: one.Verdict, Reasons: one.Reasons})
			if orZero(one.MaxErrorNs) > orZero(worst.MaxErrorNs) {
				worst = one
			}
		}
		tiles = append(tiles, tile{
			Topic: "Trust in " + worst.Counter, Figure: "within " + ns(worst.MaxErrorNs), Verdict: j.Verdict,
			Sentence: fmt.Sprintf("Beside %s, in %s, it was off by %s at most; steps and pairing explain %s.",
				worst.Reference, numbered(len(d.Sandwiches), "workload"), ns(worst.MaxErrorNs), ns(worst.PermittedNs)),
		})
	}
	if len(d.Checks) > 0 {
		j, fine := stats.NewJudgement(), 0
		sentence := "Each clock was asked whether it steps, drifts, or disagrees between CPUs."
		for _, f := range d.Checks {
			j.Join(f.Judgement)
			if f.Verdict == stats.Trusted {
				fine++
			}
		}
		if len(j.Reasons) > 0 {
			sentence = j.Reasons[0] + "."
		}
		tiles = append(tiles, tile{Topic: "Each clock by itself", Figure: fmt.Sprintf("%d of %d checks passed", fine, len(d.Checks)), Verdict: j.Verdict, Sentence: sentence})
	}
	return tiles
}

// findingsSection lists what disturbs measurements, the worst first.
func findingsSection(all []machine.Finding) section {
	s := section{Title: "What disturbs measurements here"}
	table := tableOf(words("topic", "found to be", "seen"))
	for _, severity := range []machine.Severity{machine.Warning, machine.Note, machine.OK} {
		for _, f := range all {
			if f.Severity != severity {
				continue
			}
			if severity != machine.OK {
				s.Findings = append(s.Findings, f)
			} else {
				table.row(f.Topic, string(f.Severity), f.Seen)
			}
		}
	}
	if len(table.Rows) > 0 {
		s.Table = table
	}
	return s
}

// doctorSheet shows what disturbs measurements.
func doctorSheet(d record.Doctor) *sheet {
	s := sheetOf("Doctor", d.Header)
	topics := map[machine.Severity][]string{}
	for _, f := range d.Findings {
		topics[f.Severity] = append(topics[f.Severity], f.Topic)
	}
	s.Tiles = []tile{{
		Topic: "Diagnosis", Figure: numbered(len(topics[machine.Warning]), "warning"),
		Sentence: diagnosis(topics),
	}}
	s.add(findingsSection(d.Findings))
	return s
}
