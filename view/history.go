package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(105, "history", history,
	listing(func(d record.History) []record.HistorySeries { return d.Series }, "topic name quantity unit better tier cpu system kernel hypervisor clocksource arch go began noise unusable tip.points tip.change tip.p_value tip.outcome newest"), nil)

// history shows series of figures, and where they changed.
func history(d record.History) *Sheet {
	s := sheet("History", d.Header)
	s.WithoutHead = true
	if err := d.CheckPlaces(); err != nil {
		s.add(Section{Lines: []Line{say("%v", err)}})
		return s
	}
	if len(d.Series) == 0 {
		s.add(Section{Lines: []Line{say("No figures were found in %s.", d.Store)}}, unreadable(d))
		return s
	}
	s.Facts = []string{d.Store, stats.Count(len(d.Records), "record"), fmt.Sprintf("%d series", len(d.Series))}
	changes := allChanges(d)
	there := 0
	for _, c := range changes {
		if c.change.MendedBy == nil && isWorse(c.change.Outcome) {
			there++
		}
	}
	s.Tiles = []Tile{
		{Topic: "Changes", Figure: fmt.Sprint(len(changes)), Sentence: fmt.Sprintf("in %d series of %s", len(d.Series), stats.Count(len(d.Records), "record"))},
		{Topic: "For the worse, and still there", Figure: fmt.Sprint(there), Sentence: "Each is named below, with the commits between which it came."},
	}
	s.add(changeTable(d, changes), seriesTable(d), trendSection(d), unreadable(d))
	return s
}

type seriesChange struct {
	series record.HistorySeries
	change record.HistoryChange
	place  int // index among the changes of the series
}

// allChanges returns the changes of all series, the newest first.
func allChanges(d record.History) (all []seriesChange) {
	for _, s := range d.Series {
		for i, c := range s.Changes {
			all = append(all, seriesChange{s, c, i})
		}
	}
	slices.SortStableFunc(all, func(a, b seriesChange) int {
		return b.series.Points[b.change.At].Record - a.series.Points[a.change.At].Record
	})
	return all
}

func isWorse(outcome string) bool { return outcome == "slower" || outcome == "worse" }

func changeTable(d record.History, all []seriesChange) Section {
	section := Section{Title: "Changes", Lead: "With a probability of 95 % a change came with one of the commits of its range. Chance is the probability that noise alone, without a change anywhere in the series, would look like it."}
	if len(all) == 0 {
		section.Lines = []Line{say("No series changed beyond chance.")}
		return section
	}
	t := table(words("since", "figure", "what", "outcome"), numbers("by", "95 % interval", "chance"), words("commits", "page:at", "still there?"))
	for _, c := range all {
		t.row(when(d.Records[c.series.Points[c.change.At].Record]), figureName(c.series), c.series.Quantity, c.change.Outcome,
			changed(c.change.Change, c.change.Change.Value), changed(c.change.Change, c.change.Change.Lo)+" to "+changed(c.change.Change, c.change.Change.Hi),
			chance(c.change.PValue), commitRange(d, c), webLink{shortCommit(d, c.series.Points[c.change.At]), commitURL(d, c.series.Points[c.change.At])}, stillThere(d, c))
	}
	section.Table = t
	return section
}

func chance(p float64) string {
	if p < 1e-9 {
		return "< 1e-9"
	}
	return stats.Significant(p, 1)
}

// changed writes a ratio as a percentage, and a difference as it is.
func changed(e stats.Estimate, v float64) string {
	if e.Unit != "ratio" {
		return fmt.Sprintf("%+.4g %s", v, e.Unit)
	}
	if v >= 10 {
		return fmt.Sprintf("%.3g times", v)
	}
	return fmt.Sprintf("%+.3g %%", 100*(v-1))
}

// when returns the day of a record in a series.
func when(r record.HistoryRecord) string {
	if r.CommitTime != nil {
		return r.CommitTime.UTC().Format(time.DateOnly)
	}
	return r.Started.UTC().Format(time.DateOnly)
}

// commitRange names the commits that may have brought the change: those after the first, up to and
// including the last.
func commitRange(d record.History, c seriesChange) string {
	before, last := c.series.Points[c.change.First-1], c.series.Points[c.change.Last]
	from, to := d.Records[before.Record], d.Records[last.Record]
	if from.Commit != "" && from.Commit == to.Commit {
		return "within " + shortCommit(d, last)
	}
	return shortCommit(d, before) + ".." + shortCommit(d, last)
}

// shortCommit returns the abbreviated commit of a point, or, without one, when it was measured.
func shortCommit(d record.History, p record.HistoryPoint) string {
	r := d.Records[p.Record]
	if r.Commit == "" {
		return r.Started.UTC().Format("2006-01-02T15:04")
	}
	name := r.Commit[:min(8, len(r.Commit))]
	if r.Modified {
		name += "+"
	}
	return name
}

// commitURL returns the web page of a point's commit; empty if there is none.
func commitURL(d record.History, p record.HistoryPoint) string {
	commit := d.Records[p.Record].Commit
	if commit == "" || d.CommitURL == "" {
		return ""
	}
	return strings.ReplaceAll(d.CommitURL, "{commit}", commit)
}

// stillThere says whether a later change undid this one.
func stillThere(d record.History, c seriesChange) string {
	if c.change.MendedBy == nil {
		return "yes"
	}
	by := c.series.Changes[*c.change.MendedBy]
	return "taken back by " + shortCommit(d, c.series.Points[by.At])
}

func figureName(s record.HistorySeries) string {
	name := s.Name
	if name == "" {
		name = s.Topic
	}
	return Shortened(name, mostSubject)
}

// seriesTable has a row for each series, with a sparkline in text.
func seriesTable(d record.History) Section {
	t := table(words("machine", "figure", "what", "text:trend"), numbers("points", "now", "noise"), words("newest commit", "note"))
	t.Grouped = true
	for _, s := range d.Series {
		note := s.Began
		if s.Unusable > 0 {
			note = strings.Trim(note+fmt.Sprintf("; %d unusable left out", s.Unusable), "; ")
		}
		t.row(machineName(s), figureName(s), s.Quantity, sparkline(s, sparkWidth), len(s.Points), levelNow(s), noiseOf(s), tipInWords(s), note)
	}
	return Section{Title: "Series", Table: t, Notes: []Line{{In: InText, Text: "trend: ▁ is the least and █ the greatest value of the series, │ a change"}}}
}

func machineName(s record.HistorySeries) string { return strings.TrimSpace(s.Tier + " " + s.Go) }

// levelNow writes the level of the last regime.
func levelNow(s record.HistorySeries) string {
	if len(s.Regimes) == 0 {
		return ""
	}
	return quantityOf(s, s.Regimes[len(s.Regimes)-1].Level.Value)
}

// noiseOf writes the noise between the points; "?" for a single point, which shows none.
func noiseOf(s record.HistorySeries) string {
	if len(s.Points) < 2 {
		return stats.Unknown
	}
	return percent(s.Noise)
}

// quantityOf writes a value in the unit of its series.
func quantityOf(s record.HistorySeries, v float64) string {
	if s.Unit == "ns" {
		return stats.Duration(v, 4)
	}
	return strings.TrimSpace(stats.Significant(v, 4) + " " + s.Unit)
}

func tipInWords(s record.HistorySeries) string {
	switch {
	case s.Newest == record.NewestUnusable:
		return "unusable"
	case s.Newest == record.NewestMissing:
		return "not measured"
	case s.Newest == record.NewestNew:
		return "new"
	case s.Tip == nil:
		return "too few points before it"
	}
	outcome := s.Tip.Outcome
	if outcome == "undecided" {
		outcome = "within noise"
	}
	return fmt.Sprintf("%s (%s to %s)", outcome, changed(s.Tip.Change, s.Tip.Change.Lo), changed(s.Tip.Change, s.Tip.Change.Hi))
}

// sparkWidth is the length of a sparkline in letters, without its marks.
const sparkWidth = 40

var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a series as one line of letters, with a mark at each change. If the series is
// long, each letter is the median of several points.
func sparkline(s record.HistorySeries, width int) string {
	n := len(s.Points)
	if n == 0 {
		return ""
	}
	changes := map[int]bool{}
	for _, c := range s.Changes {
		changes[c.At] = true
	}
	per := (n + width - 1) / width
	var cells []float64
	marks := map[int]bool{}
	for start := 0; start < n; {
		var values []float64
		if changes[start] {
			marks[len(cells)] = true
		}
		end := start
		for ; end < n && end < start+per && (end == start || !changes[end]); end++ {
			values = append(values, s.Points[end].Value)
		}
		cells = append(cells, stats.Median(values))
		start = end
	}
	lo, hi := extremes(cells)
	var line strings.Builder
	for i, v := range cells {
		if marks[i] {
			line.WriteRune('│')
		}
		level := len(sparks) / 2
		if hi > lo {
			level = min(len(sparks)-1, int((v-lo)/(hi-lo)*float64(len(sparks))))
		}
		line.WriteRune(sparks[max(0, level)])
	}
	return line.String()
}

// trendSection has a small chart for each series.
func trendSection(d record.History) Section {
	t := &Trends{Places: []TrendPlace{}, Each: []Trend{}}
	for _, r := range d.Records {
		place := TrendPlace{When: when(r), Subject: r.Subject}
		if r.Commit != "" {
			place.Commit = r.Commit[:min(8, len(r.Commit))]
			if d.CommitURL != "" {
				place.URL = strings.ReplaceAll(d.CommitURL, "{commit}", r.Commit)
			}
		}
		t.Places = append(t.Places, place)
	}
	for _, s := range d.Series {
		t.Each = append(t.Each, newTrend(s))
	}
	return Section{
		Title:  "How the figures went",
		Lead:   "A dot is a record, the shaded band its 95 % interval, the line the level of a regime; a ring counts for nothing. A vertical line is a change: orange for the worse, blue otherwise. All charts share their horizontal axis.",
		Trends: t,
	}
}

// newTrend returns the chart of a series.
func newTrend(s record.HistorySeries) Trend {
	t := Trend{Name: figureName(s), What: strings.Join(nonEmpty(s.Quantity, machineName(s), s.Began), " · "), Unit: s.Unit, Points: []int{}, Regimes: []int{}, Changes: []TrendChange{}}
	values := make([]float64, 0, 3*len(s.Points))
	for _, p := range s.Points {
		values = append(values, p.Value)
	}
	lo, hi := extremes(values)
	margin := math.Max((hi-lo)/8, math.Abs(hi)/500)
	t.Lo, t.Hi = lo-margin, hi+margin
	if t.Hi <= t.Lo {
		t.Hi = t.Lo + 1
	}
	at := 0
	for _, p := range s.Points {
		v := t.packed(p.Value)
		below, above := 0, 0
		if p.Lo.Known() && p.Hi.Known() {
			below, above = max(0, v-t.packed(p.Lo.Value())), max(0, t.packed(p.Hi.Value())-v)
		}
		outlier := 0
		if p.Outlier {
			outlier = 1
		}
		t.Points = append(t.Points, p.Record-at, v, below, above, outlier)
		at = p.Record
	}
	for _, r := range s.Regimes {
		t.Regimes = append(t.Regimes, r.First, r.Last, t.packed(r.Level.Value))
	}
	for _, c := range s.Changes {
		t.Changes = append(t.Changes, TrendChange{At: c.At, First: c.First, Last: c.Last, Worse: isWorse(c.Outcome),
			Text: fmt.Sprintf("%s by %s (%s to %s)", c.Outcome, changed(c.Change, c.Change.Value), changed(c.Change, c.Change.Lo), changed(c.Change, c.Change.Hi))})
	}
	return t
}

func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(t string) bool { return t == "" })
}

// unreadable lists the records that could not be read, each with its reason.
func unreadable(d record.History) Section {
	section := Section{Title: "Not read", Heading: "Not read"}
	for i, u := range d.Unreadable {
		if i == mostUnreadable {
			section.Notes = append(section.Notes, say("and %d more", len(d.Unreadable)-i))
			break
		}
		section.Notes = append(section.Notes, Line{Strong: u.Name + ":", Text: u.Error})
	}
	return section
}

// mostUnreadable limits the number of unreadable records that are listed.
const mostUnreadable = 20
