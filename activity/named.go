package activity

import (
	"cmp"
	"fmt"
	"slices"

	"chronoscope/machine"
	"chronoscope/stats"
)

// Culprit is the thread or the interrupt that had a CPU. The zero value means that it is not known.
type Culprit struct {
	// Kind is "thread", "kernel-thread", "interrupt" (of a device, with its number), "vector" (of
	// the CPU itself, such as its timer's) or "softirq" (work that the kernel puts off after an
	// interrupt).
	Kind      string `json:"kind,omitempty"`
	Process   int32  `json:"process,omitempty"`
	Thread    int32  `json:"thread,omitempty"`
	Name      string `json:"name,omitempty"`
	CGroup    string `json:"cgroup,omitempty"`
	Interrupt int32  `json:"interrupt,omitempty"`
}

// Named says, by the kernel's events, which threads and interrupts made a thread inactive.
type Named struct {
	Parts []NamedPart `json:"parts"` // the largest first
	// Worst holds the longest gaps, with the threads and interrupts that had the CPU in each.
	Worst []Moment `json:"worst"`
	// Compared compares the causes that are found without the events with those found by them.
	Compared []Compared `json:"compared"`
	Events   int        `json:"events"`
	Lost     int64      `json:"lost"`
	// Pieces are the parts of all gaps, in order.
	Pieces []Piece `json:"-"`
}

// NamedPart is the time that one cause took, and the thread or interrupt behind it.
type NamedPart struct {
	Cause Cause   `json:"cause"`
	Who   Culprit `json:"who"`
	Share float64 `json:"share"` // of the trace
	Total
}

// Moment is a gap with the threads and interrupts that had the CPU in it, the longest first.
type Moment struct {
	StartNs    float64 `json:"start_ns"`
	DurationNs float64 `json:"duration_ns"`
	Cause      Cause   `json:"cause"`
	Ran        []Piece `json:"ran"`
}

// Piece is a part of a gap in which one thread or interrupt had the CPU.
type Piece struct {
	StartNs    float64 `json:"start_ns"`
	DurationNs float64 `json:"duration_ns"`
	Cause      Cause   `json:"cause"`
	Who        Culprit `json:"who"`
}

// Compared compares, for one cause, the gaps that have it without the kernel's events with those
// that have it by the events. Same is the number of gaps that have this cause both ways.
type Compared struct {
	Cause         Cause   `json:"cause"`
	Gaps          int     `json:"gaps"`
	TotalNs       float64 `json:"total_ns"`
	EventGaps     int     `json:"event_gaps"`
	EventsTotalNs float64 `json:"events_total_ns"`
	Same          int     `json:"same"`
	// ByEvents counts the gaps that have this cause without the events, by their cause by the
	// events.
	ByEvents map[Cause]int `json:"by_events,omitempty"`
}

// Name finds, by the kernel's events, which threads and interrupts made the trace's thread
// inactive. [Analyse] has to be called first to find the causes of the gaps. Name returns nil if
// the thread or its CPU is not known.
func (t *Trace) Name(k KernelEvents) *Named {
	if t.CPU < 0 || t.Thread == 0 || len(t.Anchors) < 2 || len(k.Events) == 0 {
		return nil
	}
	all, obscure := k.stretches(t.CPU, int32(t.Thread))
	n := &Named{Worst: []Moment{}, Compared: []Compared{}, Events: len(k.Events), Lost: k.Lost}
	books := newBooks()
	var compared [causes]Compared
	entryNs := t.entryNs(all)
	for _, g := range t.Gaps {
		m := t.moment(g, entryNs, &all, &obscure)
		var nameless [causes]float64
		for _, p := range m.Ran {
			if p.Who == (Culprit{}) { // of all such pieces of a cause, the gap counts once
				nameless[p.Cause] += p.DurationNs
			} else {
				books.add(NamedPart{Cause: p.Cause, Who: p.Who, Total: oneGap(p.DurationNs)})
			}
		}
		for cause, ns := range nameless {
			if ns > 0 {
				books.add(NamedPart{Cause: Cause(cause), Total: oneGap(ns)})
			}
		}
		n.add(m)
		c, e := &compared[g.Cause], &compared[m.Cause]
		if c.ByEvents == nil {
			c.ByEvents = map[Cause]int{}
		}
		c.ByEvents[m.Cause]++
		c.Gaps++
		c.TotalNs += m.DurationNs
		e.EventGaps++
		e.EventsTotalNs += m.DurationNs
		if g.Cause == m.Cause {
			c.Same++
		}
	}
	n.Parts = books.all
	for i := range n.Parts {
		n.Parts[i].Share = n.Parts[i].TotalNs / t.Ns(max(1, t.Length))
	}
	slices.SortFunc(n.Parts, func(a, b NamedPart) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Who.Name, b.Who.Name), cmp.Compare(a.Who.Thread, b.Who.Thread))
	})
	for _, cause := range Causes() {
		if c := compared[cause]; c.Gaps+c.EventGaps > 0 {
			c.Cause = cause
			n.Compared = append(n.Compared, c)
		}
	}
	return n
}

// part identifies pieces that are added up: those of one cause and culprit.
type part struct {
	cause Cause
	who   Culprit
}

// books are sums of parts by cause and culprit, in the order in which these came.
type books struct {
	all []NamedPart
	at  map[part]int // index in all
}

func newBooks() *books { return &books{[]NamedPart{}, map[part]int{}} }

func (b *books) add(p NamedPart) {
	i, known := b.at[part{p.Cause, p.Who}]
	if !known {
		b.at[part{p.Cause, p.Who}] = len(b.all)
		b.all = append(b.all, p)
		return
	}
	b.all[i].Share += p.Share
	b.all[i].Total.add(p.Total)
}

// mostMoments is how many of the longest gaps are listed.
const mostMoments = 10

// add adds the pieces of a gap to n.Pieces. It also adds the gap to n.Worst if it is among the mostMoments longest so
// far.
func (n *Named) add(m Moment) {
	n.Pieces = append(n.Pieces, m.Ran...)
	m.Ran = merged(m.Ran)
	slices.SortStableFunc(m.Ran, func(a, b Piece) int { return cmp.Compare(b.DurationNs, a.DurationNs) })
	i, _ := slices.BinarySearchFunc(n.Worst, m, func(a, b Moment) int { return cmp.Compare(b.DurationNs, a.DurationNs) })
	if i < mostMoments {
		n.Worst = slices.Insert(n.Worst, i, m)
		n.Worst = n.Worst[:min(len(n.Worst), mostMoments)]
	}
}

// entryNs returns the longest time that is allowed between the start of a gap and the first event
// of its interrupt, together with the way back: three times what it usually takes, including what a
// hypervisor adds to deliver the interrupt, but at least leastEntryNs.
func (t *Trace) entryNs(all []stretch) float64 {
	var restsNs []float64
	for _, g := range t.Gaps {
		fromNs, toNs := t.timeNs(g.Start), t.timeNs(g.End())
		restNs, interrupts := t.Ns(g.Ticks), false
		for _, s := range within(&all, fromNs, toNs) {
			restNs -= float64(min(s.toNs, toNs) - max(s.fromNs, fromNs))
			if interrupts = s.cause != Preempted; !interrupts {
				break
			}
		}
		if interrupts {
			restsNs = append(restsNs, restNs)
		}
	}
	if len(restsNs) == 0 {
		return leastEntryNs
	}
	return max(leastEntryNs, 3*stats.Median(restsNs))
}

// merged joins the pieces of a gap that have the same cause and culprit. A joined piece begins
// where its first piece did.
func merged(pieces []Piece) (all []Piece) {
	at := map[part]int{}
	for _, p := range pieces {
		k := part{p.Cause, p.Who}
		if i, known := at[k]; known {
			all[i].DurationNs += p.DurationNs
			continue
		}
		at[k] = len(all)
		all = append(all, p)
	}
	return all
}

// moment returns the gap with its pieces. It drops stretches that end before the gap from all and
// obscure.
func (t *Trace) moment(g Gap, entryNs float64, all, obscure *[]stretch) Moment {
	fromNs, toNs := t.timeNs(g.Start), t.timeNs(g.End())
	m := Moment{StartNs: t.Ns(g.Start), DurationNs: t.Ns(g.Ticks)}
	at := func(ns int64) float64 {
		return m.StartNs + m.DurationNs*(float64(ns-fromNs)/float64(max(1, toNs-fromNs)))
	}
	restNs, reachedNs := m.DurationNs, m.StartNs
	var pieces []Piece
	add := func(p Piece, endNs float64) {
		if p.StartNs, p.DurationNs = reachedNs, endNs-reachedNs; p.DurationNs > 0 {
			pieces, reachedNs = append(pieces, p), endNs
		}
	}
	for _, s := range within(all, fromNs, toNs) {
		add(Piece{Cause: untold}, at(max(s.fromNs, fromNs)))
		p := Piece{Cause: s.cause, Who: s.who}
		switch {
		case s.cause == Preempted && s.who.Kind == "": // the CPU idled: the thread was not runnable
			p.Cause, p.Who = cmp.Or(notReady(g.Cause), Runtime), Culprit{}
		case g.Own && s.ours:
			p.Cause = Runtime
		}
		beganNs := reachedNs
		add(p, at(min(s.toNs, toNs)))
		restNs -= reachedNs - beganNs
	}
	add(Piece{Cause: untold}, m.StartNs+m.DurationNs)
	m.Ran = t.fill(pieces, g, restNs, entryNs, len(within(obscure, fromNs, toNs)) > 0)
	m.Cause = m.cause()
	return m
}

// cause returns the cause of the gap as a whole, which is that with the longest time. If another thread had the CPU, the
// interrupts of the gap count with it, since one of them led to the switch.
func (m *Moment) cause() (longest Cause) {
	var tookNs [causes]float64
	for _, p := range m.Ran {
		tookNs[p.Cause] += p.DurationNs
	}
	if tookNs[Preempted] > 0 {
		tookNs[Preempted] += tookNs[TimerTick] + tookNs[Interrupt]
	}
	for cause, ns := range tookNs {
		if ns > tookNs[longest] {
			longest = Cause(cause)
		}
	}
	return longest
}

// notReady returns c if it is a cause for which a thread leaves its CPU idle, and otherwise
// Unexplained.
func notReady(c Cause) Cause {
	if c == Throttled || c == Stopped || c == Migrated || c == Runtime {
		return c
	}
	return Unexplained
}

// leastEntryNs is the least value of entryNs.
const leastEntryNs = 5e3

// untold stands for the cause of a piece in which no event shows what had the CPU.
const untold = causes

// fill returns the pieces of a gap with causes for the untold ones, which are restNs long together, and joins neighbours of
// one cause and culprit. A short rest is the way into an interrupt or another thread and back, and belongs to the piece
// that it follows, or at the beginning to that to which it leads. In a gap that the recording made, it is the recording's
// own. A longer one is the host's, unless the trace knows another cause.
func (t *Trace) fill(pieces []Piece, g Gap, restNs, entryNs float64, obscure bool) (joined []Piece) {
	rest, taken := g.Cause, entryNs
	if slices.ContainsFunc(pieces, func(p Piece) bool { return p.Cause == Preempted }) {
		taken += machine.UsualSwitchNs
	}
	told := slices.ContainsFunc(pieces, func(p Piece) bool { return p.Cause != untold })
	short := told && restNs <= taken && !obscure
	foreseen := g.Cause == TimerTick || g.Cause == Interrupt || g.Cause == Preempted
	switch {
	case short && g.Own:
		rest = Runtime
	case short:
		rest = untold
	case obscure:
	case t.Kernel.Virtual && (foreseen || g.Cause == Unexplained && restNs >= shortestInterruptNs):
		rest = Hypervisor
	case foreseen:
		rest = Unexplained
	}
	for i, p := range pieces {
		if p.Cause == untold {
			if p.Cause = rest; rest == untold {
				beside := pieces[cmp.Or(i, 2)-1]
				p.Cause, p.Who = beside.Cause, beside.Who
			}
		}
		if n := len(joined); n > 0 && joined[n-1].Cause == p.Cause && joined[n-1].Who == p.Who {
			joined[n-1].DurationNs += p.DurationNs
		} else {
			joined = append(joined, p)
		}
	}
	return joined
}

// within returns the stretches that overlap the time from fromNs to toNs. It drops those before
// from all.
func within(all *[]stretch, fromNs, toNs int64) []stretch {
	i := 0
	for i < len(*all) && (*all)[i].toNs <= fromNs {
		i++
	}
	*all = (*all)[i:]
	n := 0
	for n < len(*all) && (*all)[n].fromNs < toNs {
		n++
	}
	return (*all)[:n]
}

// Agreement returns the share of gaps that have the same cause with and without the events.
func (n *Named) Agreement() float64 {
	same, gaps := 0, 0
	for _, c := range n.Compared {
		same += c.Same
		gaps += c.Gaps
	}
	return float64(same) / float64(max(1, gaps))
}

// String returns the name of the thread or interrupt.
func (c Culprit) String() string {
	switch c.Kind {
	case "":
		return c.Name
	case "interrupt":
		return fmt.Sprintf("%s (interrupt %d)", c.Name, c.Interrupt)
	case "softirq", "vector":
		return fmt.Sprintf("%s (%s)", c.Name, c.Kind)
	case "kernel-thread":
		return fmt.Sprintf("%s (kernel thread %d)", c.Name, c.Thread)
	}
	name := cmp.Or(c.Name, "unknown")
	if c.Thread == 0 {
		return name + " (one or more threads)" // of one name, or without a number, as those outside of a container
	}
	if c.Thread != c.Process && c.Process != 0 {
		return fmt.Sprintf("%s (thread %d of %d)", name, c.Thread, c.Process)
	}
	return fmt.Sprintf("%s (pid %d)", name, c.Thread)
}

// By adds up the parts by "thread" (each apart), "name" (threads of one name), "cgroup" (threads of
// one control group) or "irq" (all threads together).
func (n *Named) By(what string) []NamedPart {
	books := newBooks()
	names := map[string]int{}
	for _, p := range n.Parts {
		names[p.Who.Name]++
	}
	for _, p := range n.Parts {
		if thread := p.Who.Kind == "thread" || p.Who.Kind == "kernel-thread"; thread && what == "cgroup" {
			p.Who = Culprit{Name: cmp.Or(p.Who.CGroup, "?"), CGroup: p.Who.CGroup}
		} else if thread && what == "name" && names[p.Who.Name] > 1 {
			p.Who = Culprit{Kind: p.Who.Kind, Name: p.Who.Name}
		} else if thread && what == "irq" {
			p.Who = Culprit{Name: "threads"}
		}
		books.add(p)
	}
	slices.SortStableFunc(books.all, func(a, b NamedPart) int { return cmp.Compare(b.TotalNs, a.TotalNs) })
	return books.all
}
