package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chronoscope/offcpu"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(25, "why", why,
	listing(func(d record.Why) []offcpu.Part { return d.Parts }, "cause who.process who.thread who.name who.cgroup who.interrupt share count total_ns max_ns"), nil)

// why shows what threads spent their time on.
func why(d record.Why) *Sheet {
	s := sheet("Why "+d.Subject+" took its time", d.Header)
	groups := groupsOf(d.Parts)
	whole := groupsOf(d.Wall)
	lines := []Line{{Strong: d.Subject + ":", Verdict: d.Verdict, Text: fmt.Sprintf("%s in %s, %s of threads' time", stats.Count(d.Threads, "thread"), duration(d.RecordedNs), duration(d.ThreadNs))}}
	if sentence := wholeWords(d.Wall); sentence != "" {
		s.Tiles = append(s.Tiles, Tile{Topic: "Wall time", Figure: duration(d.WallNs), Sentence: "It " + sentence + ".", Verdict: d.Verdict})
		lines = append(lines, say("in %s it %s", duration(d.WallNs), sentence))
	}
	wait := Tile{Topic: "Most of the wait", Figure: "none", Sentence: "The threads never waited.", Verdict: d.Verdict}
	of := "the wall time"
	worst, ok := worstGroup(whole)
	if !ok || worst.Share < leastTold { // the threads rarely waited all at once
		of = "the threads' time"
		worst, ok = worstGroup(groups)
	}
	if ok {
		wait.Figure, wait.Sentence = stats.Share(worst.Share), fmt.Sprintf("for this share of %s %s.", of, worst.Cause.Meaning())
		if who := worst.who(); who != "" {
			wait.Sentence = who + ": " + wait.Sentence
		} else {
			wait.Sentence = capitalized(wait.Sentence)
		}
	}
	s.Tiles = append(s.Tiles, wait)
	s.add(Section{
		Title:  "What the time went to",
		Lead:   "The shares are of the time of all threads together.",
		Lines:  append(lines, reasonLines(d.Verdict, "", d.Reasons)...),
		Charts: whyChart(groups), Table: whyTable(groups), Notes: whyNotes(d, worst),
	}, worstWaits(d))
	s.add(whyLanes(d))
	return s
}

// group sums up the time of one cause for threads and processes of one name.
type group struct {
	offcpu.Part
	processes, threads map[int32]bool
	names              map[string]bool
	groups             int // number of groups that were folded into it
}

func newGroup(c offcpu.Cause, w offcpu.Who) *group {
	return &group{Part: offcpu.Part{Cause: c, Who: w}, processes: map[int32]bool{}, threads: map[int32]bool{}, names: map[string]bool{}}
}

// groupsOf joins the parts of one cause and name, the largest first.
func groupsOf(parts []offcpu.Part) (all []*group) {
	type label struct {
		cause     offcpu.Cause
		name      string
		interrupt int32
	}
	known := map[label]*group{}
	for _, p := range parts {
		k := label{p.Cause, p.Who.Name, p.Who.Interrupt}
		if p.Cause == offcpu.NotWoken { // the names are functions of the kernel
			k.name = ""
		}
		g := known[k]
		if g == nil {
			g = newGroup(p.Cause, p.Who)
			known[k], all = g, append(all, g)
		}
		g.add(p)
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(b.TotalNs, a.TotalNs) })
	return all
}

func (g *group) add(p offcpu.Part) {
	g.processes[p.Who.Process], g.threads[p.Who.Thread], g.names[p.Who.Name] = true, true, true
	g.Share += p.Share
	g.Count += p.Count
	g.TotalNs += p.TotalNs
	g.MaxNs = max(g.MaxNs, p.MaxNs)
}

// who names the threads of the group.
func (g *group) who() string {
	name := cmp.Or(g.Who.Name, "unknown")
	switch {
	case g.groups > 0:
		return fmt.Sprintf("%d more", g.groups)
	case g.Cause == offcpu.NotWoken && len(g.names) > 1:
		return fmt.Sprintf("in %s and %d more", name, len(g.names)-1)
	case g.Cause == offcpu.NotWoken && g.Who.Name != "":
		return "in " + name
	case len(g.processes) > 1:
		return fmt.Sprintf("%s (%d processes)", name, len(g.processes))
	case len(g.threads) > 1:
		return fmt.Sprintf("%s (%d threads)", name, len(g.threads))
	}
	return whoWords(g.Cause, g.Who)
}

// mostGroups is how many groups are shown; one more row sums up the rest, which JSON and CSV list.
const mostGroups = 10

// folded joins all groups after the largest ones. Running and unknown time are never joined.
func folded(groups []*group) (shown []*group) {
	rest := newGroup("the rest", offcpu.Who{})
	for i, g := range groups {
		if i < mostGroups || len(groups) == mostGroups+1 || g.Cause == offcpu.Ran || g.Cause == offcpu.Unknown {
			shown = append(shown, g)
			continue
		}
		rest.groups++
		rest.add(g.Part)
	}
	if rest.groups > 0 {
		shown = append(shown, rest)
	}
	return shown
}

// worstGroup returns the largest group that is a wait.
func worstGroup(groups []*group) (*group, bool) {
	i := slices.IndexFunc(groups, func(g *group) bool { return g.Cause != offcpu.Ran && g.Cause != offcpu.NotWoken })
	if i < 0 {
		return nil, false
	}
	return groups[i], true
}

// did has, for each cause, the words for what a program did. The threads of the program are taken
// together.
var did = map[offcpu.Cause]string{
	offcpu.Ran:           "ran",
	offcpu.RunqueueWait:  "waited for a CPU",
	offcpu.WakeupLatency: "waited for an idle CPU",
	offcpu.Throttled:     "was throttled by its quota",
	offcpu.Stopped:       "was stopped",
	offcpu.OwnThread:     "waited for its own threads",
	offcpu.OwnProcess:    "waited for its own processes",
	offcpu.OtherProcess:  "waited for other processes",
	offcpu.KernelThread:  "waited for threads of the kernel",
	offcpu.Timer:         "slept or waited for a time limit",
	offcpu.Device:        "waited for a device",
	offcpu.Network:       "waited for the network",
	offcpu.Interrupt:     "waited for an interrupt",
	offcpu.NotWoken:      "waited for something that had not come at the end",
	offcpu.Hypervisor:    "had its CPU taken away by the host",
	offcpu.Unknown:       "did something that was not seen",
}

// leastTold is the least share of the time that is put into words.
const leastTold = 0.01

// wholeWords says what the threads did as a whole, the largest share first; empty if that is not
// known.
func wholeWords(parts []offcpu.Part) string {
	shares := map[offcpu.Cause]float64{}
	for _, p := range parts {
		shares[p.Cause] += p.Share
	}
	causes := slices.SortedFunc(maps.Keys(shares), func(a, b offcpu.Cause) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	})
	groups := groupsOf(parts)
	var said []string
	for _, cause := range causes {
		if shares[cause] < leastTold {
			continue
		}
		words := fmt.Sprintf("%s %s", did[cause], stats.Share(shares[cause]))
		i := slices.IndexFunc(groups, func(g *group) bool { return g.Cause == cause })
		switch g := groups[i]; {
		case g.Who.Name == "":
		case g.Share > 0.99*shares[cause]:
			words += ", " + forWhom(cause, g.who())
		default:
			words += fmt.Sprintf(", mostly %s (%s)", forWhom(cause, g.who()), stats.Share(g.Share))
		}
		said = append(said, words)
	}
	return strings.Join(said, "; ")
}

// forWhom says what who had to do with a wait. A stopped thread does not wait for the thread that continues it.
func forWhom(c offcpu.Cause, who string) string {
	if c == offcpu.Stopped {
		return "until " + who + " let it go on"
	}
	return "for " + who
}

// whoWords names the thread or interrupt that made threads wait, or otherwise the cause.
func whoWords(c offcpu.Cause, w offcpu.Who) string {
	switch {
	case w.Interrupt > 0:
		return fmt.Sprintf("%s (interrupt %d)", w.Name, w.Interrupt)
	case w.Thread > 0:
		return fmt.Sprintf("%s (thread %d)", cmp.Or(w.Name, "unknown"), w.Thread)
	case w.Process > 0:
		return fmt.Sprintf("%s (pid %d)", cmp.Or(w.Name, "unknown"), w.Process)
	}
	return w.Name
}

func whyTable(groups []*group) *Table {
	t := table(words("cause", "who"), numbers("share", "times", "total", "worst"), words("what it is", "page:what would help"))
	explained := map[offcpu.Cause]bool{}
	for _, g := range folded(groups) {
		worst, meaning, help := "", g.Cause.Meaning(), g.Cause.Help()
		if explained[g.Cause] {
			meaning, help = "", ""
		}
		explained[g.Cause] = true
		if g.MaxNs > 0 {
			worst = duration(g.MaxNs)
		}
		t.row(string(g.Cause), g.who(), percent(g.Share), g.Count, duration(g.TotalNs), worst, meaning, help)
	}
	return t
}

func whyChart(groups []*group) []Chart {
	chart := Chart{Label: "Share of the threads' time by cause", X: Axis{Title: "share of the threads' time", Lo: 0, Hi: 1, Unit: Shares}}
	for _, g := range folded(groups) {
		chart.Rows = append(chart.Rows, Row{
			Name: string(g.Cause), Figure: fmt.Sprintf("%s %s", stats.Share(g.Share), g.who()),
			Bars: []Span{{0, min(1, g.Share), "cause " + string(g.Cause), g.Cause.Meaning()}},
		})
	}
	return []Chart{chart}
}

// whyNotes says what would help, and what limits the result.
func whyNotes(d record.Why, worst *group) (notes []Line) {
	if worst != nil && worst.Cause.Help() != "" {
		notes = append(notes, labelled("what would help", "%s", worst.Cause.Help()))
	}
	switch w := d.Late; {
	case w != nil:
		words := did[w.Cause]
		if who := whoWords(w.Cause, w.Who); who != "" {
			words += ", " + forWhom(w.Cause, who)
		}
		notes = append(notes, say("%s (%d) was kept from running for %s, %s after the beginning (it %s): the recording ended then.",
			w.Name, w.Thread, duration(w.DurationNs), durationTo(w.StartNs, 7), words))
	case d.LateNs != nil:
		notes = append(notes, say("A thread was kept from running for %s: the recording ended then.", duration(*d.LateNs)))
	}
	return notes
}

// worstWaits lists the longest waits, without those that a thread asked for. If one ended the recording, it comes first.
func worstWaits(d record.Why) Section {
	title, worst := "The longest waits", d.Worst
	if d.Late != nil {
		title = "The wait that ended the recording, and the longest"
		worst = append([]offcpu.Period{*d.Late}, slices.DeleteFunc(slices.Clone(worst), func(p offcpu.Period) bool {
			return p.Thread == d.Late.Thread && p.StartNs == d.Late.StartNs
		})...)
	}
	t := table(numbers("at"), words("thread"), numbers("waited"), words("cause", "who"))
	for _, p := range worst {
		t.row(durationTo(p.StartNs, 7), fmt.Sprintf("%s (%d)", p.Name, p.Thread), duration(p.DurationNs), string(p.Cause), whoWords(p.Cause, p.Who))
	}
	return Section{Title: title, Heading: title + ":", Table: t}
}

// mostThreads is how many threads have a time line on a page.
const mostThreads = 8

// whyLanes shows the time lines of the threads that waited most often.
func whyLanes(d record.Why) Section {
	s := Section{Title: "When each thread waited", In: OnPage, Lead: "A lane for each cause. A column is as high as the share of its time in which the thread did not run, on a logarithmic scale."}
	byThread := map[int32][]offcpu.Period{}
	for _, p := range d.Periods {
		byThread[p.Thread] = append(byThread[p.Thread], p)
	}
	threads := slices.SortedFunc(maps.Keys(byThread), func(a, b int32) int {
		return cmp.Or(len(byThread[b])-len(byThread[a]), cmp.Compare(a, b))
	})
	for _, id := range threads[:min(len(threads), mostThreads)] {
		l := threadLanes(byThread[id], d.RecordedNs)
		s.Charts = append(s.Charts, Chart{Title: l.Name, Label: "Waits by cause over time", Lanes: l})
	}
	return s
}

// threadLanes returns the waits of one thread as lanes.
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
