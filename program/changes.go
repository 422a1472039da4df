package program

import (
	"cmp"
	"slices"
)

// change is the begin or the end of a span of a thread, or a wake-up that the thread causes.
type change struct {
	*line
	atNs   float64
	span   int // index of the span
	begins bool
	// wakes is set if the thread wakes another one at that time; then no span begins or ends.
	wakes *wakeup
}

// of returns the span that begins or ends at the change.
func (c change) of() *span { return &c.spans[c.span] }

// first and last report whether the span is the first or the last one of its thread.
func (c change) first() bool { return c.span == 0 }
func (c change) last() bool  { return c.span == len(c.spans)-1 }

// changes returns the changes of all threads in order of time. Of several changes at one time, the ends of spans
// come before the begins. So if a thread waited for the end of another thread's span, that end comes before the span
// with which the waiting thread goes on.
func (s *schedule) changes() []change {
	n, lines := len(s.wakes), slices.Concat(s.order, s.foreign)
	for _, l := range lines {
		n += 2 * len(l.spans)
	}
	all := make([]change, 0, n)
	for _, l := range lines {
		for i, x := range l.spans {
			all = append(all, change{line: l, atNs: x.from, span: i, begins: true}, change{line: l, atNs: x.to, span: i})
		}
	}
	for _, k := range s.wakes {
		if k.by != nil {
			all = append(all, change{line: k.by, atNs: k.atNs, wakes: k})
		}
	}
	slices.SortFunc(all, compareChanges)
	return all
}

// compareChanges orders changes by time; at the same time by rank, thread and span, so that the order does not depend
// on the sorting algorithm.
func compareChanges(a, b change) int {
	switch {
	case a.atNs < b.atNs:
		return -1
	case a.atNs > b.atNs:
		return 1
	}
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.order, b.order), cmp.Compare(a.span, b.span))
}

// rank orders the changes at the same time: ends of runs, then wake-ups, which a thread may cause as it ends, then ends
// of blocks, then begins.
func (c change) rank() int {
	switch {
	case c.wakes != nil:
		return 1
	case c.begins:
		return 3
	case c.of().state == blocked:
		return 2
	}
	return 0
}
