package history

import (
	"cmp"
	"math"
	"regexp"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"chronoscope/changepoint"
	"chronoscope/compare"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Filter selects figures. An empty field selects all.
type Filter struct {
	Since   time.Time
	Name    *regexp.Regexp
	Machine *regexp.Regexp
	// ByGo begins a new series for each version of Go.
	ByGo bool
	// Head is the commit that counts as the newest one if it was measured; if empty, the one with the latest time does.
	Head string
	// Ancestors are commits that Head follows. If enough of their records are known, only these are what Head is held against.
	Ancestors map[string]bool
	// LeftOut are commits whose records are left out.
	LeftOut map[string]bool
}

// passes reports whether the filter selects figures of a record.
func (f Filter) passes(r Record) bool {
	return !f.LeftOut[r.Source.Commit] && !r.Time().Before(f.Since) && (f.Machine == nil || f.Machine.MatchString(r.Tier.String()))
}

// goes returns the version of Go by which series are told apart; empty if they are not.
func (f Filter) goes(r Record) string {
	if f.ByGo {
		return r.Go
	}
	return ""
}

// seriesKey returns the key of the series to which a figure of a record belongs.
func (f Filter) seriesKey(k Key, r Record) seriesKey { return seriesKey{k, r.Tier, f.goes(r)} }

// Of makes series of the figures in an index, and looks for their changes.
func Of(h record.Header, x Index, f Filter) record.History {
	d := record.History{Header: h, Records: []record.HistoryRecord{}, Unreadable: []record.UnreadableRecord{}, Series: []record.HistorySeries{}}
	for _, r := range x.Records {
		if r.Err != "" {
			d.Unreadable = append(d.Unreadable, record.UnreadableRecord{Name: r.Name, Error: r.Err})
		}
	}
	newest := x.newest(f)
	d.NewestCommit = newest.commit
	all, unusable := x.series(f)
	stoodFor := map[seriesKey]bool{}
	for _, s := range all {
		stoodFor[standsFor(s.seriesKey, s.StandIn)] = true
	}
	for _, s := range unusable {
		if s.StandIn == "" && !stoodFor[standsFor(s.seriesKey, s.Quantity)] {
			d.Unusable = append(d.Unusable, record.UnusableFigure{
				Topic: s.Topic, Name: s.Name, Quantity: s.Quantity, Tier: s.tier.String(), Values: s.unusable,
				Newest: newest.best[s.seriesKey] > older && newest.known[s.FigureKey],
			})
		}
	}
	all = withoutStandIns(all)
	d.Records = x.number(all)
	found := inParallel(all, func(s *series) changepoint.Result {
		return changepoint.Find(s.points(s.figures), changepoint.FalseChanges)
	})
	limit := changepoint.Limit(found, changepoint.FalseDiscoveries)
	for i, s := range all {
		if slices.ContainsFunc(found[i].Changes, func(c changepoint.Change) bool { return c.PValue > limit }) {
			found[i] = changepoint.Find(s.points(s.figures), limit)
		}
	}
	d.Series = inParallel(all, func(s *series) record.HistorySeries { return s.document(found[s.place], newest, f) })
	return d
}

// inParallel calls a function for each series, in parallel, and returns the results.
func inParallel[T any](all []*series, of func(*series) T) []T {
	results := make([]T, len(all))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range all {
		s.place = i
		workers.Go(func() error {
			results[i] = of(s)
			return nil
		})
	}
	_ = workers.Wait() // none fails
	return results
}

// seriesKey is what the points of a series have in common.
type seriesKey struct {
	Key
	tier Tier
	goes string
}

// series is a list of positions among the figures of an index.
type series struct {
	seriesKey
	figures  []int
	values   columns // the figures of the index
	records  []Record
	unusable int
	began    string
	numbers  map[int32]int // the place of each record in the document
	place    int
}

// series returns the series of the figures that pass a filter, in the order of their topics and
// names, and those without a usable value. Series of the same figure are in the order in which they began.
func (x Index) series(f Filter) (all, unusable []*series) {
	place := map[seriesKey]*series{}
	c := x.figures
	for i, r := range c.Record {
		of, key := x.Records[r], c.Keys[c.Key[i]]
		if !f.passes(of) || f.Name != nil && !f.Name.MatchString(key.Name) {
			continue
		}
		k := f.seriesKey(key, of)
		s := place[k]
		if s == nil {
			s = &series{seriesKey: k, values: c, records: x.Records}
			place[k] = s
			all = append(all, s)
		}
		if verdicts[c.Verdict[i]] == stats.Unusable {
			s.unusable++
			continue
		}
		s.figures = append(s.figures, i)
	}
	all = slices.DeleteFunc(all, func(s *series) bool {
		if len(s.figures) == 0 {
			unusable = append(unusable, s)
		}
		return len(s.figures) == 0
	})
	for _, s := range all {
		slices.SortStableFunc(s.figures, func(a, b int) int { return inTime(s.of(a), s.of(b)) })
	}
	slices.SortStableFunc(all, func(a, b *series) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Quantity, b.Quantity), inTime(a.of(a.figures[0]), b.of(b.figures[0])))
	})
	for i, s := range all {
		if i > 0 && all[i-1].Key == s.Key {
			s.began = "new " + s.tier.unlike(all[i-1].tier)
			if s.tier == all[i-1].tier {
				s.began = "new Go " + s.goes
			}
		}
	}
	return all, unusable
}

// inTime orders records as their points are ordered in a series.
func inTime(a, b Record) int {
	return cmp.Or(a.Time().Compare(b.Time()), a.Started.Compare(b.Started), cmp.Compare(a.Name, b.Name))
}

func (s *series) of(figure int) Record { return s.records[s.values.Record[figure]] }

// withoutStandIns leaves out wall times if the time without other programs is known as often.
func withoutStandIns(all []*series) []*series {
	count := map[seriesKey]int{}
	for _, s := range all {
		count[standsFor(s.seriesKey, s.Quantity)] = len(s.figures)
	}
	return slices.DeleteFunc(all, func(s *series) bool {
		return s.StandIn != "" && count[standsFor(s.seriesKey, s.StandIn)] >= len(s.figures)
	})
}

// standsFor returns the part of k by which withoutStandIns finds the series of another quantity,
// with that quantity.
func standsFor(k seriesKey, quantity string) seriesKey {
	return seriesKey{Key{FigureKey: view.FigureKey{Topic: k.Topic, Name: k.Name, Quantity: quantity}}, k.tier, k.goes}
}

// number returns the records of all points in the order of time, and sets their numbers in all
// series.
func (x Index) number(all []*series) []record.HistoryRecord {
	used := map[int32]bool{}
	for _, s := range all {
		for _, f := range s.figures {
			used[s.values.Record[f]] = true
		}
	}
	var order []int32
	for r := range used {
		order = append(order, r)
	}
	slices.SortFunc(order, func(a, b int32) int { return inTime(x.Records[a], x.Records[b]) })
	records := []record.HistoryRecord{}
	numbers := map[int32]int{}
	for i, place := range order {
		numbers[place] = i
		r := x.Records[place]
		h := record.HistoryRecord{Name: r.Name, Started: r.Started, Commit: r.Source.Commit, Subject: r.Source.Subject, Modified: r.Source.Modified, Go: r.Go}
		if r.Source.Commit != "" {
			h.CommitTime = &r.Source.Time
		}
		records = append(records, h)
	}
	for _, s := range all {
		s.numbers = numbers
	}
	return records
}

// onLogScale reports whether the values of figures are all positive, so that changes are ratios.
func (s *series) onLogScale(figures []int) bool {
	return !slices.ContainsFunc(figures, func(f int) bool { return !(s.values.Value[f] > 0) })
}

// sdsInInterval is the number of standard errors between the ends of a 95 % interval.
const sdsInInterval = 2 * 1.959964

// points returns the values of figures for package changepoint: logarithms if all are positive.
func (s *series) points(figures []int) []changepoint.Point {
	logs := s.onLogScale(figures)
	points := make([]changepoint.Point, len(figures))
	for i, f := range figures {
		v, lo, hi := s.values.Value[f], s.values.Lo[f], s.values.Hi[f]
		if logs {
			v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
		}
		p := changepoint.Point{Value: v}
		if width := hi - lo; width > 0 && !math.IsInf(width, 0) {
			p.StandardError = width / sdsInInterval
		}
		points[i] = p
	}
	return points
}

// document returns the series with the changes that were found.
func (s *series) document(found changepoint.Result, newest newest, f Filter) record.HistorySeries {
	logs := s.onLogScale(s.figures)
	d := record.HistorySeries{
		Topic: s.Topic, Name: s.Name, Quantity: s.Quantity, Unit: s.Unit, Better: s.Better,
		Tier: s.tier.String(), CPU: s.tier.CPU, System: s.tier.System, Kernel: s.tier.Kernel, Hypervisor: s.tier.Hypervisor,
		Clocksource: s.tier.Clocksource, Arch: s.tier.Arch, Go: s.goes, Began: s.began, Unusable: s.unusable, Newest: newest.of(s, f),
		Points: []record.HistoryPoint{}, Regimes: []record.HistoryRegime{}, Changes: []record.HistoryChange{},
	}
	for i, f := range s.figures {
		d.Points = append(d.Points, record.HistoryPoint{
			Record: s.numbers[s.values.Record[f]], Value: s.values.Value[f], Lo: stats.FloatOf(s.values.Lo[f]), Hi: stats.FloatOf(s.values.Hi[f]),
			Verdict: verdicts[s.values.Verdict[f]], Outlier: slices.Contains(found.Outliers, i),
		})
	}
	for _, r := range found.Regimes {
		half := sdsInInterval / 2 * r.StandardError
		level := stats.Estimate{Value: r.Level, Lo: r.Level - half, Hi: r.Level + half, Unit: s.Unit, Statistic: "level", N: r.End - r.Start}
		if logs {
			level.Value, level.Lo, level.Hi = math.Exp(level.Value), math.Exp(level.Lo), math.Exp(level.Hi)
		}
		d.Regimes = append(d.Regimes, record.HistoryRegime{First: r.Start, Last: r.End - 1, Level: level})
	}
	for i, c := range found.Changes {
		d.Changes = append(d.Changes, record.HistoryChange{
			At: c.At, First: c.First, Last: c.Last, Change: s.asChange(c.Shift, logs), PValue: c.PValue,
			Outcome: compare.Direction(s.Quantity, s.Better, int(math.Copysign(1, c.Shift.Value))), MendedBy: mendedBy(found, i),
		})
	}
	if logs && len(d.Points) > 1 {
		d.Noise = stats.FloatOf(found.Noise.StandardDeviation)
	}
	if tip, ratio, ok := s.tipOf(newest.compared(s)); ok {
		d.Tip = &record.HistoryTip{Points: tip.Newest, Change: s.asChange(tip.Shift, ratio), PValue: tip.PValue, Outcome: s.tipOutcome(tip)}
	}
	return d
}

// tipOf compares the newest figures with the regime before them. The shift is one of logarithms, and so a ratio, if the values
// of both are positive: a 0 before the regime counts for nothing.
func (s *series) tipOf(figures []int, newest int) (tip changepoint.Tip, ratio, ok bool) {
	tip, ok = changepoint.TipOf(s.points(figures), newest)
	ratio = s.onLogScale(figures)
	if regime := figures[tip.Regime.Start:]; ok && !ratio && s.onLogScale(regime) {
		if t, ok := changepoint.TipOf(s.points(regime), newest); ok {
			return t, true, true
		}
	}
	return tip, ratio, ok
}

// asChange converts a difference of levels to a ratio if the levels are logarithms.
func (s *series) asChange(shift stats.Estimate, logs bool) stats.Estimate {
	shift.Unit = s.Unit
	if logs {
		shift.Value, shift.Lo, shift.Hi, shift.Unit, shift.Statistic = math.Exp(shift.Value), math.Exp(shift.Lo), math.Exp(shift.Hi), "ratio", "ratio"
	}
	return shift
}

func (s *series) tipOutcome(tip changepoint.Tip) string {
	if tip.PValue < changepoint.FalseTips {
		return compare.Direction(s.Quantity, s.Better, int(math.Copysign(1, tip.Shift.Value)))
	}
	return compare.Undecided
}

// newest returns how many points at the end belong to the newest commit.
func (s *series) newest() int {
	last := s.of(s.figures[len(s.figures)-1]).Source.Commit
	n := 1
	for last != "" && n < len(s.figures) && s.of(s.figures[len(s.figures)-1-n]).Source.Commit == last {
		n++
	}
	return n
}

// mendedBy returns the index of the first later change after which less than half of change i is
// left; nil if there is none.
func mendedBy(found changepoint.Result, i int) *int {
	before, shift := found.Regimes[i].Level, found.Changes[i].Shift.Value
	for k := i + 1; k < len(found.Changes); k++ {
		if left := (found.Regimes[k+1].Level - before) / shift; left < 0.5 {
			return &k
		}
	}
	return nil
}
