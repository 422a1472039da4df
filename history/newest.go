package history

import (
	"slices"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// newest knows the records that a gate judges: those of the newest commit, and also the newest record of all if it has
// figures and no commit.
type newest struct {
	commit string // empty if no record has one
	judged []bool // for each record of the index
	// held are the figures of these records; unusable are the series whose value in them is unusable.
	held     map[view.FigureKey]bool
	unusable map[seriesKey]bool
	// before is the commit before the newest one, for each kind of measurement that there is of the newest.
	before map[measurement]string
}

// measurement is what records have in common that usually hold the same figures.
type measurement struct {
	command string
	tier    Tier
	goes    string
}

func (f Filter) measurement(r Record) measurement { return measurement{r.Command, r.Tier, f.goes(r)} }

// newest finds the newest records among those that pass a filter. The names of figures don't matter: a record from which
// a figure is missing is as new as one that has it.
func (x Index) newest(f Filter) newest {
	n := newest{judged: make([]bool, len(x.Records)), held: map[view.FigureKey]bool{}, unusable: map[seriesKey]bool{}, before: map[measurement]string{}}
	c := x.figures
	hasFigures := make([]bool, len(x.Records))
	for _, r := range c.Record {
		hasFigures[r] = true
	}
	var order []int
	for i, r := range x.Records {
		if r.Err == "" && f.passes(r) && (hasFigures[i] || r.Source.Commit != "") {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return n
	}
	slices.SortFunc(order, func(a, b int) int { return inTime(x.Records[a], x.Records[b]) })
	for _, i := range order {
		if commit := x.Records[i].Source.Commit; commit != "" {
			n.commit = commit
		}
	}
	before := map[measurement]string{}
	for _, i := range order {
		if r := x.Records[i]; r.Source.Commit == "" || r.Source.Commit == n.commit {
			n.judged[i] = r.Source.Commit != ""
		} else {
			before[f.measurement(r)] = r.Source.Commit
		}
	}
	for _, i := range order {
		if m := f.measurement(x.Records[i]); n.judged[i] {
			n.before[m] = before[m]
		}
	}
	n.judged[order[len(order)-1]] = true
	for i, r := range c.Record {
		if n.judged[r] {
			k := f.seriesKey(c.Keys[c.Key[i]], x.Records[r])
			n.held[k.FigureKey] = true
			n.unusable[k] = n.unusable[k] || verdicts[c.Verdict[i]] == stats.Unusable
		}
	}
	return n
}

// of says what the newest records hold of a series: one of the values of [record.HistorySeries].Newest.
func (n newest) of(s *series, f Filter) string {
	place := s.values.Record[s.figures[len(s.figures)-1]]
	last := s.records[place]
	switch {
	case n.judged[place] && n.before[f.measurement(last)] != "" && n.isNew(s):
		return record.NewestNew
	case n.judged[place]:
		return record.NewestUsable
	case n.unusable[s.seriesKey]:
		return record.NewestUnusable
	case !n.held[s.FigureKey] && last.Source.Commit != "" && last.Source.Commit == n.before[f.measurement(last)]:
		return record.NewestMissing
	}
	return ""
}

// isNew reports whether nothing was known of a figure before the newest records.
func (n newest) isNew(s *series) bool {
	return s.began == "" && s.unusable == 0 && !slices.ContainsFunc(s.figures, func(i int) bool { return !n.judged[s.values.Record[i]] })
}
