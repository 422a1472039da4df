package history

import (
	"slices"

	"chronoscope/changepoint"
	"chronoscope/record"
	"chronoscope/view"
)

// newest knows the records that a gate judges: those of the newest commit, and also the newest record of all if it has
// figures and no commit.
type newest struct {
	commit string // empty if no record has one
	ranks  []rank // of each record of the index
	// best is the highest rank of these records that hold a figure of a series; of each series, those of this rank are judged.
	best map[seriesKey]rank
	held map[view.FigureKey]bool // the figures of these records
	// known are the figures of the records before, on any kind of machine.
	known map[view.FigureKey]bool
	// before is the commit before the newest one, for each kind of measurement that there is of the newest.
	before    map[measurement]string
	ancestors map[string]bool // see [Filter]
}

// rank says how well a record stands for the newest commit.
type rank byte

const (
	neither  rank = iota // what the filter leaves out
	later                // without a commit, after the newest one: they may be of any code
	older                // of another commit, which the newest one is held against
	noCommit             // the newest of all; it may be of any code
	modified             // the code differed from the newest commit
	clean
)

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
	n := newest{ranks: make([]rank, len(x.Records)), best: map[seriesKey]rank{}, held: map[view.FigureKey]bool{}, known: map[view.FigureKey]bool{}, before: map[measurement]string{}, ancestors: f.Ancestors}
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
		if commit := x.Records[i].Source.Commit; commit != "" && (f.Head == "" || n.commit != f.Head) {
			n.commit = commit
		}
	}
	before := map[measurement]string{}
	reached := false
	for _, i := range order {
		switch r := x.Records[i]; {
		case r.Source.Commit == "":
			n.ranks[i] = older
			if reached {
				n.ranks[i] = later
			}
		case r.Source.Commit != n.commit:
			n.ranks[i] = older
			before[f.measurement(r)] = r.Source.Commit
		default:
			reached = true
			n.ranks[i] = clean
			if r.Source.Modified {
				n.ranks[i] = modified
			}
		}
	}
	for _, i := range order {
		if m := f.measurement(x.Records[i]); n.ranks[i] > older {
			n.before[m] = before[m]
		}
	}
	if last := order[len(order)-1]; x.Records[last].Source.Commit == "" {
		n.ranks[last] = noCommit
	}
	keyOf := func(i int) seriesKey { return f.seriesKey(c.Keys[c.Key[i]], x.Records[c.Record[i]]) }
	for i, r := range c.Record {
		if n.ranks[r] > older {
			k := keyOf(i)
			n.held[k.FigureKey] = true
			n.best[k] = max(n.best[k], n.ranks[r])
		}
	}
	known := make([]bool, len(c.Keys))
	for i, r := range c.Record {
		if n.ranks[r] == older || n.ranks[r] == later && n.best[keyOf(i)] == noCommit {
			known[c.Key[i]] = true
		}
	}
	for i, k := range c.Keys {
		if known[i] {
			n.known[k.FigureKey] = true
		}
	}
	return n
}

// of says what the newest records hold of a series: one of the values of [record.HistorySeries].Newest.
func (n newest) of(s *series, f Filter) string {
	last := s.of(s.figures[len(s.figures)-1])
	judged := slices.IndexFunc(s.figures, func(figure int) bool { return n.judges(s, figure) })
	switch {
	case judged >= 0 && n.before[f.measurement(s.of(s.figures[judged]))] != "" && !n.known[s.FigureKey]:
		return record.NewestNew
	case judged >= 0:
		return record.NewestUsable
	case n.best[s.seriesKey] > older:
		return record.NewestUnusable
	case !n.held[s.FigureKey] && last.Source.Commit != "" && last.Source.Commit == n.before[f.measurement(last)]:
		return record.NewestMissing
	}
	return ""
}

func (n newest) rank(s *series, figure int) rank { return n.ranks[s.values.Record[figure]] }

// judges reports whether a figure of a series is one of those that stand for the newest commit.
func (n newest) judges(s *series, figure int) bool {
	r := n.rank(s, figure)
	return r > older && r == n.best[s.seriesKey]
}

// compared returns the figures of a series that are judged, behind the older ones that they are held against, and the number
// of those judged. They are held against the history of their own code if enough is known of it: against records of Head's
// ancestors, and against those of unchanged code if the judged ones are.
func (n newest) compared(s *series) (figures []int, newest int) {
	best := n.best[s.seriesKey]
	var before, judged []int
	for _, figure := range s.figures {
		switch r := n.rank(s, figure); {
		case n.judges(s, figure):
			judged = append(judged, figure)
		case r == older, r == later && best == noCommit:
			before = append(before, figure)
		}
	}
	if len(judged) == 0 { // the series has ended
		return s.figures, s.newest()
	}
	for _, ownHistory := range []func(record.Source) bool{
		func(source record.Source) bool { return n.ancestors[source.Commit] },
		func(source record.Source) bool { return best == clean && !source.Modified },
	} {
		own := slices.DeleteFunc(slices.Clone(before), func(figure int) bool { return !ownHistory(s.of(figure).Source) })
		if len(own) >= changepoint.FewestBefore {
			before = own
		}
	}
	return append(before, judged...), len(judged)
}
