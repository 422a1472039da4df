package view

import (
	"fmt"
	"slices"

	"chronoscope/offcpu"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(25, "why", why, whyFields, nil)

// leastShare of the time is shown: what takes less stands in JSON and CSV.
const leastShare = 0.001

// why shows what the time of threads went to.
func why(d record.Why) *Sheet {
	s := sheet("Why "+d.Subject+" took its time", d.Header)
	s.Tiles = []Tile{{Topic: "Most of the wait", Figure: "none", Sentence: "The threads never waited.", Verdict: d.Verdict}}
	if worst, ok := worstPart(d.Parts); ok {
		s.Tiles[0].Figure, s.Tiles[0].Sentence = stats.Share(worst.Share), fmt.Sprintf("%s: %s.", whoWords(worst.Cause, worst.Who), worst.Cause.Meaning())
	}
	s.add(Section{
		Title: "What the time went to",
		Lines: append([]Line{{Strong: d.Subject, Verdict: d.Verdict, Text: fmt.Sprintf("%s in %s, %s of threads' time", stats.Count(d.Threads, "thread"), duration(d.RecordedNs), duration(d.ThreadNs))}},
			reasonLines(d.Verdict, "", d.Reasons)...),
		Charts: whyChart(d.Parts), Table: whyTable(d.Parts), Notes: whyNotes(d),
	}, worstWaits(d.Worst))
	s.add(whyLanes(d))
	return s
}

// worstPart is the largest part that is a wait.
func worstPart(parts []offcpu.Part) (offcpu.Part, bool) {
	i := slices.IndexFunc(parts, func(p offcpu.Part) bool { return p.Cause != offcpu.Ran && p.Cause != offcpu.NotWoken })
	if i < 0 {
		return offcpu.Part{}, false
	}
	return parts[i], true
}

// whoWords names who made threads wait, or the cause where nobody did.
func whoWords(c offcpu.Cause, w offcpu.Who) string {
	switch {
	case w.Interrupt > 0:
		return fmt.Sprintf("%s (interrupt %d)", w.Name, w.Interrupt)
	case w.Thread > 0:
		return fmt.Sprintf("%s (thread %d)", or(w.Name, "unknown"), w.Thread)
	case w.Process > 0:
		return fmt.Sprintf("%s (pid %d)", or(w.Name, "unknown"), w.Process)
	}
	return w.Name
}

func whyTable(parts []offcpu.Part) *Table {
	t := table(words("cause", "who"), numbers("share", "times", "total", "worst"), words("what it is", "page:what would help"))
	explained := map[offcpu.Cause]bool{}
	for _, p := range where(parts, func(p offcpu.Part) bool { return p.Share >= leastShare }) {
		worst, meaning, help := "", p.Cause.Meaning(), p.Cause.Help()
		if explained[p.Cause] {
			meaning, help = "", ""
		}
		explained[p.Cause] = true
		if p.MaxNs > 0 {
			worst = duration(p.MaxNs)
		}
		t.row(string(p.Cause), whoWords(p.Cause, p.Who), percent(p.Share), p.Count, duration(p.TotalNs), worst, meaning, help)
	}
	return t
}

func whyChart(parts []offcpu.Part) []Chart {
	shown := where(parts, func(p offcpu.Part) bool { return p.Share >= leastShare })
	if len(shown) == 0 {
		return nil
	}
	chart := Chart{Label: "Share of the threads' time by cause", X: Axis{Title: "share of the threads' time", Lo: 0, Hi: 1, Unit: Shares}}
	for _, p := range shown {
		chart.Rows = append(chart.Rows, Row{
			Name: string(p.Cause), Figure: fmt.Sprintf("%s %s", stats.Share(p.Share), whoWords(p.Cause, p.Who)),
			Bars: []Span{{0, min(1, p.Share), "cause " + string(p.Cause), p.Cause.Meaning()}},
		})
	}
	return []Chart{chart}
}

// whyNotes say what would help, and what limits the result.
func whyNotes(d record.Why) (notes []Line) {
	if worst, ok := worstPart(d.Parts); ok && worst.Cause.Help() != "" {
		notes = append(notes, labelled("what would help", "%s", worst.Cause.Help()))
	}
	if d.LateNs != nil {
		notes = append(notes, say("A thread was kept from running for %s: the recording ended then.", duration(*d.LateNs)))
	}
	return notes
}

// worstWaits lists the longest waits that nobody asked for.
func worstWaits(worst []offcpu.Period) Section {
	t := table(numbers("at"), words("thread"), numbers("waited"), words("cause", "who"))
	for _, p := range worst {
		t.row(durationTo(p.StartNs, 7), fmt.Sprintf("%s (%d)", p.Name, p.Thread), duration(p.DurationNs), string(p.Cause), whoWords(p.Cause, p.Who))
	}
	return Section{Title: "The longest waits", Heading: "The longest waits:", Table: t}
}

// mostThreads of a page have a time line.
const mostThreads = 8

// whyLanes shows the time lines of the threads that waited most often.
func whyLanes(d record.Why) Section {
	s := Section{Title: "When each thread waited", In: OnPage, Lead: "A lane for each cause. A column is as high as the share of its time in which the thread did not run, on a logarithmic scale."}
	byThread := map[int32][]offcpu.Period{}
	for _, p := range d.Periods {
		byThread[p.Thread] = append(byThread[p.Thread], p)
	}
	threads := make([]int32, 0, len(byThread))
	for id := range byThread {
		threads = append(threads, id)
	}
	slices.SortFunc(threads, func(a, b int32) int {
		if n := len(byThread[b]) - len(byThread[a]); n != 0 {
			return n
		}
		return int(a - b)
	})
	for _, id := range threads[:min(len(threads), mostThreads)] {
		l := threadLanes(byThread[id], d.RecordedNs)
		s.Charts = append(s.Charts, Chart{Title: l.Name, Label: "Waits by cause over time", Lanes: l})
	}
	return s
}

// threadLanes are the waits of one thread.
func threadLanes(periods []offcpu.Period, endNs int64) *Lanes {
	last := periods[len(periods)-1]
	l := &Lanes{Name: fmt.Sprintf("%s (thread %d)", last.Name, last.Thread), EndNs: endNs, Causes: []string{}, Gaps: []int64{}}
	before := int64(0)
	for _, p := range periods {
		start := min(max(p.StartNs, before), endNs)
		end := min(max(p.StartNs+p.DurationNs, start), endNs)
		l.Gaps = append(l.Gaps, start-before, end-start, l.lane(string(p.Cause)))
		before = end
	}
	return l
}

// whyFields are a row a cause.
func whyFields(d record.Why) Fields {
	return fieldsOf(d.Parts, "cause who.process who.thread who.name who.cgroup who.interrupt share count total_ns max_ns")
}
