package program

import (
	"cmp"
	"slices"
)

// change is a thread that begins, or ends, a span.
type change struct {
	*line
	state
	atNs          float64
	begins        bool
	first, last   bool // span of the thread
	running, kept int  // by how much their numbers change
	cpu, next     int  // of the span
}

// changes are those of all threads, in order of time. What ends comes before what begins,
// so that what waits for it finds it.
func (s *schedule) changes() []change {
	var all []change
	for _, l := range s.order {
		for i, x := range l.spans {
			c := change{line: l, state: x.state, first: i == 0, last: i == len(l.spans)-1, cpu: x.cpu, next: x.next}
			switch x.state {
			case running:
				c.running = 1
			case kept:
				c.kept = 1
			}
			begin, end := c, c
			begin.atNs, begin.begins = x.from, true
			end.atNs, end.running, end.kept = x.to, -c.running, -c.kept
			all = append(all, begin, end)
		}
	}
	slices.SortStableFunc(all, func(a, b change) int {
		if n := cmp.Compare(a.atNs, b.atNs); n != 0 || a.begins == b.begins {
			return cmp.Or(n, cmp.Compare(a.rank(), b.rank()))
		}
		if a.begins {
			return 1
		}
		return -1
	})
	return all
}

// rank puts the ends of runs before those of blocks.
func (c change) rank() int {
	if !c.begins && c.state == blocked {
		return 1
	}
	return 0
}
