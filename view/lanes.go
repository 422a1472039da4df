package view

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/activity"
)

// Lanes are the gaps of a trace by their cause, each cause in a lane of its own. A page's script
// reads them as JSON. Times are whole nanoseconds.
type Lanes struct {
	Name   string   `json:"name"`
	EndNs  int64    `json:"end_ns"`
	Causes []string `json:"causes"`
	// Gaps holds three numbers for each gap: the time from the end of the previous gap to its
	// start, its length, and the index of its cause in Causes.
	Gaps []int64 `json:"gaps"`
	// Hidden is the number of gaps that were left out. These are the shortest; none is longer than
	// HiddenNs.
	Hidden   int   `json:"hidden"`
	HiddenNs int64 `json:"hidden_ns"`
	// Ticks are the times of the kernel's timer interrupts, each relative to the previous one.
	Ticks []int64 `json:"ticks,omitempty"`
}

// Gap is a stretch of time that is lost to a cause.
type Gap struct {
	StartNs, EndNs int64
	Cause          int // index in Causes
}

// Each yields the gaps in the order of time.
func (l *Lanes) Each(yield func(Gap) bool) {
	at := int64(0)
	for i := 0; i+2 < len(l.Gaps); i += 3 {
		g := Gap{at + l.Gaps[i], at + l.Gaps[i] + l.Gaps[i+1], int(l.Gaps[i+2])}
		at = g.EndNs
		if !yield(g) {
			return
		}
	}
}

// mostGaps is how many gaps a page shows; each takes some 13 bytes.
const mostGaps = 100_000

// A trace with mostTicks timer ticks or more shows none.
const mostTicks = 20_000

// longestListed is how many of the longest gaps of a trace the table below its lanes lists.
const longestListed = 20

// traceLanes shows the traces whose periods are known.
func traceLanes(traces []activity.Analysis) Section {
	t := table(words("where", "period", "cause"), numbers("start", "duration"))
	s := Section{
		Title: "When the thread ran, and what kept it from running", In: OnPage,
		Lead:  "A lane for each cause. A column is as high as the share of its time that was lost, on a logarithmic scale from 0.01 % to all of it.",
		Table: t,
	}
	recorded := where(traces, func(t activity.Analysis) bool { return len(t.Periods) > 0 })
	for _, trace := range recorded {
		lanes := lanesOf(trace, max(1, mostGaps/len(recorded)))
		s.Charts = append(s.Charts, Chart{Title: lanes.Name, Label: "Gaps by cause over time", Lanes: lanes})
		if len(lanes.Ticks) > 0 && len(s.Legend) == 0 {
			s.Legend = []Key{{Mark: "triangle", Look: "faint", Text: "timer interrupt, where there is room"}}
		}
		if lanes.Hidden > 0 {
			longest := float64(lanes.HiddenNs)
			s.Notes = append(s.Notes, say("%s: %d gaps are not drawn, none of them longer than %s. They are in the totals below.", lanes.Name, lanes.Hidden, duration(longest)))
		}
		for _, p := range longestGaps(trace.Periods, longestListed) {
			t.row(place(trace), p.Label, causeName(p), durationTo(p.StartNs, 7), durationTo(p.DurationNs, 4))
		}
	}
	return s
}

// causeName returns the cause of a period of inactivity; empty if the record has none.
func causeName(p activity.TimedPeriod) string {
	if p.Cause == nil {
		return ""
	}
	return p.Cause.String()
}

// gapsOf returns the inactive periods.
func gapsOf(periods []activity.TimedPeriod) []activity.TimedPeriod {
	return where(periods, func(p activity.TimedPeriod) bool { return p.State == "inactive" })
}

// longestGaps returns the longest inactive periods, the longest first; most limits their number.
func longestGaps(periods []activity.TimedPeriod, most int) []activity.TimedPeriod {
	gaps := gapsOf(periods)
	slices.SortStableFunc(gaps, func(a, b activity.TimedPeriod) int { return cmp.Compare(b.DurationNs, a.DurationNs) })
	return gaps[:min(len(gaps), most)]
}

// lanesOf returns the gaps of a trace; if there are more than most, the longest of them. What a record says beyond the
// end of its trace is cut off, so that every gap can be drawn.
func lanesOf(t activity.Analysis, most int) *Lanes {
	l := &Lanes{Name: capitalized(place(t)), EndNs: int64(math.Round(t.DurationNs)), Causes: []string{}, Gaps: []int64{}}
	if t.Dropped > 0 {
		last := t.Periods[len(t.Periods)-1]
		l.EndNs = int64(math.Round(last.StartNs + last.DurationNs))
	}
	l.EndNs = max(l.EndNs, 0)
	for _, c := range activity.Causes() {
		if _, seen := t.Causes[c]; seen {
			l.Causes = append(l.Causes, c.String())
		}
	}
	gaps := gapsOf(t.Periods)
	threshold := lengthOfLongest(gaps, most)
	l.Ticks = timerTicks(t, gaps)
	before := int64(0)
	for _, p := range gaps {
		start := min(max(int64(math.Round(p.StartNs)), before), l.EndNs)
		end := min(max(int64(math.Round(p.StartNs+p.DurationNs)), start), l.EndNs)
		if p.DurationNs < threshold {
			l.Hidden++
			l.HiddenNs = max(l.HiddenNs, end-start)
			continue
		}
		l.Gaps = append(l.Gaps, start-before, end-start, l.lane(causeName(p)))
		before = end
	}
	return l
}

// timerTicks returns when the kernel's timer interrupts came, in nanoseconds, each relative to the
// previous one and the first to the start of the trace (Bryant 2003, Figures 9.4 and 9.6). An
// interrupt that began a gap counts at the start of the gap. One that fell into a gap counts at the
// time that the comb's period gives. A multiple of the period at which there is no gap is left out.
func timerTicks(t activity.Analysis, gaps []activity.TimedPeriod) (ticks []int64) {
	i := slices.IndexFunc(t.Combs, func(c activity.Comb) bool { return c.Source == activity.TimerTick })
	if i < 0 {
		return nil
	}
	phase, period := t.Combs[i].PhaseNs, t.Combs[i].PeriodNs
	if !(period > 0) || !(t.DurationNs/period < mostTicks) || !(math.Abs(phase) < t.DurationNs) {
		return nil
	}
	before, near := int64(0), period/100 // a gap begins with the interrupt, or a little later
	for at := phase; at < t.DurationNs; at += period {
		for len(gaps) > 0 && gaps[0].StartNs+gaps[0].DurationNs <= at {
			gaps = gaps[1:]
		}
		if len(gaps) == 0 || gaps[0].StartNs > at+near {
			continue
		}
		tick := int64(math.Round(math.Max(at, gaps[0].StartNs)))
		ticks, before = append(ticks, tick-before), tick
	}
	return ticks
}

// lane returns the index of a cause's lane, which it adds if there is none.
func (l *Lanes) lane(cause string) int64 {
	if i := slices.Index(l.Causes, cause); i >= 0 {
		return int64(i)
	}
	l.Causes = append(l.Causes, cause)
	return int64(len(l.Causes) - 1)
}

// lengthOfLongest returns the length of the most-th longest gap; 0 if there are fewer gaps.
func lengthOfLongest(gaps []activity.TimedPeriod, most int) float64 {
	if len(gaps) <= most {
		return 0
	}
	lengths := make([]float64, len(gaps))
	for i, p := range gaps {
		lengths[i] = p.DurationNs
	}
	slices.Sort(lengths)
	return lengths[len(lengths)-most]
}
