package view

import (
	"fmt"
	"slices"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// Kuperberg2011 is the name of the set of timers that Kuperberg, Krogmann and Reussner ranked on
// four machines (Metric-based Selection of Timer Methods for Accurate Measurements, ICPE 2011,
// section 5, Tables 1 and 2).
const Kuperberg2011 = "kuperberg2011"

// KuperbergTimers returns the names of the set's clocks.
func KuperbergTimers() (names []string) {
	for _, t := range record.PublishedTimers {
		names = append(names, t.Clock)
	}
	return names
}

// KuperbergClocks shows the set's ranking in the form of Tables 1 and 2, this machine next to those
// of the paper.
func KuperbergClocks(d record.Clocks) *Sheet {
	d = Shown(d)
	s := sheet("The clocks of Kuperberg 2011", d.Header)
	for machines := range slices.Chunk(record.PublishedMachines, 2) {
		title := fmt.Sprintf("This machine beside Table %d of Kuperberg, Krogmann, Reussner (ICPE 2011)", machines[0].Table)
		s.add(Section{Title: title, Heading: title, Table: kuperbergTable(d.Ranking, machines)})
	}
	names := Section{Lines: []Line{say("* printed so, though it does not follow from the row's own figures: these give 43.41 %% and 46.26 %%")}}
	for _, t := range record.PublishedTimers {
		names.Notes = append(names.Notes, labelled(t.Short, "%s", t.Clock))
	}
	s.add(names, Section{Lines: qualities(d.Ranking).Notes}, unavailable(d.Ranking), runtimes(d.Ranking))
	return s
}

// kuperbergTable has a row for each timer, this machine's columns first.
func kuperbergTable(r timermeter.Ranking, machines []record.PublishedMachine) *Table {
	t := table(words("timer"), numbers("accuracy here", "cost", "spread", "quality"))
	for _, m := range machines {
		t.Columns = append(t.Columns, numbers("accuracy "+m.Name, "cost", "spread", "quality")...)
	}
	for i, timer := range record.PublishedTimers {
		row := append([]any{timer.Short}, measuredHere(r, timer.Clock)...)
		for _, m := range machines {
			p := m.Rows[i]
			slip := ""
			if p.Implied != 0 {
				slip = "*"
			}
			row = append(row, stats.Duration(p.AccuracyNs, 4), stats.Duration(p.CostNs, 4), fmt.Sprintf("%.3f", p.Spread), fmt.Sprintf("%.2f %%%s", p.Quality, slip))
		}
		t.row(row...)
	}
	return t
}

// measuredHere returns this machine's columns of a clock.
func measuredHere(r timermeter.Ranking, name string) []any {
	c := clockNamed(r.Clocks, &name)
	if c == nil {
		return []any{"-", "-", "-", "-"}
	}
	quality := stats.Unknown
	if c.Quality.Known() {
		quality = fmt.Sprintf("%.2f %%", 100*c.Quality.Value())
	}
	return []any{written(c.Accuracy), duration(c.Cost.MedianNs), fixed(c.Spread, 3), quality}
}
