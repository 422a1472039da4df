package offcpu

import (
	"cmp"
	"maps"
	"slices"
)

// tally holds the sums of one part of the recording, which begins at startNs.
type tally struct {
	startNs     int64
	parts, wall counts
	livesNs     int64 // sum of the lifetimes of the target's threads
	wallNs      int64 // time during which the target had any thread
	ranOnNs     map[int32]int64
	busyNs      map[int32]int64 // time of all threads by CPU
	events      int64
	lost        int64
	missed      int64    // switches that the kernel left out
	missedIdle  int64    // those of them that followed an idle time of the CPU
	periods     []Period // StartNs is in the time of events
	leftOut     int64
	leftOutNs   int64
}

func newTally(startNs int64) *tally {
	return &tally{startNs: startNs, parts: counts{}, wall: counts{}, ranOnNs: map[int32]int64{}, busyNs: map[int32]int64{}}
}

type key struct {
	cause Cause
	who   Who
}

// counts holds parts by cause and originator.
type counts map[key]*Part

// add adds ns to a part, and times to its number of waits. wholeNs is the length of the whole
// wait.
func (c counts) add(k key, ns, times, wholeNs int64) {
	p := c[k]
	if p == nil {
		p = &Part{Cause: k.cause, Who: k.who}
		c[k] = p
	}
	p.Count += times
	p.TotalNs += ns
	p.MaxNs = max(p.MaxNs, wholeNs)
}

// list returns the parts with their shares of ofNs, the largest first.
func (c counts) list(ofNs int64) []Part {
	all := make([]Part, 0, len(c))
	for _, p := range c {
		p.Share = float64(p.TotalNs) / float64(max(1, ofNs))
		all = append(all, *p)
	}
	order(all)
	return all
}

func order(parts []Part) {
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Who.Name, b.Who.Name),
			cmp.Compare(a.Who.Process, b.Who.Process), cmp.Compare(a.Who.Thread, b.Who.Thread))
	})
}

// keep keeps a period unless prune drops it for longer ones.
func (t *tally) keep(p Period) {
	if t.periods = append(t.periods, p); len(t.periods) >= 2*mostPeriods {
		t.prune()
	}
}

// prune drops all but the mostPeriods longest periods, and sorts them by length, the longest first.
func (t *tally) prune() {
	slices.SortStableFunc(t.periods, func(a, b Period) int {
		return cmp.Or(cmp.Compare(b.DurationNs, a.DurationNs), cmp.Compare(a.StartNs, b.StartNs), cmp.Compare(a.Thread, b.Thread))
	})
	if n := len(t.periods) - mostPeriods; n > 0 {
		t.leftOut += int64(n)
		t.leftOutNs = max(t.leftOutNs, t.periods[mostPeriods].DurationNs)
		t.periods = t.periods[:mostPeriods]
	}
}

func (t *tally) join(later *tally) {
	for k, p := range later.parts {
		t.parts.add(k, p.TotalNs, p.Count, p.MaxNs)
	}
	for k, p := range later.wall {
		t.wall.add(k, p.TotalNs, p.Count, p.MaxNs)
	}
	addAll(t.ranOnNs, later.ranOnNs)
	addAll(t.busyNs, later.busyNs)
	t.livesNs += later.livesNs
	t.wallNs += later.wallNs
	t.events += later.events
	t.lost += later.lost
	t.missed += later.missed
	t.missedIdle += later.missedIdle
	t.periods = append(t.periods, later.periods...)
	t.leftOut += later.leftOut
	t.leftOutNs = max(t.leftOutNs, later.leftOutNs)
	t.prune()
}

func addAll(to, from map[int32]int64) {
	for cpu, ns := range maps.All(from) {
		to[cpu] += ns
	}
}

// takeOff moves steal time from the running time of threads to the cause Hypervisor. The target
// bears the part of each CPU's steal time that corresponds to its share of that CPU's busy time.
// The running time of the target as a whole is reduced by the same factor.
func (t *tally) takeOff(stolenNs map[int32]int64) {
	ran := t.parts[key{Ran, Who{}}]
	if ran == nil {
		return
	}
	var total int64
	for cpu, stolen := range stolenNs {
		if busy := t.busyNs[cpu]; busy > 0 {
			total += int64(float64(stolen) * float64(t.ranOnNs[cpu]) / float64(busy))
		}
	}
	share := min(1, float64(total)/float64(max(1, ran.TotalNs)))
	for _, c := range []counts{t.parts, t.wall} {
		if ran := c[key{Ran, Who{}}]; ran != nil {
			if taken := int64(share * float64(ran.TotalNs)); taken > 0 {
				ran.TotalNs -= taken
				c.add(key{Hypervisor, Who{}}, taken, 1, 0)
			}
		}
	}
}

// spread splits the time from startNs to endNs among the tallies, and calls give with each tally and its part. times
// is 1 for the tally in which the time ends, and 0 for the others.
func (a *Analyser) spread(startNs, endNs int64, give func(t *tally, ns, times int64)) {
	untilNs := endNs
	for i := len(a.tallies) - 1; i >= 0 && untilNs > startNs; i-- {
		t := a.tallies[i]
		if from := max(startNs, t.startNs); untilNs > from {
			give(t, untilNs-from, map[bool]int64{true: 1}[untilNs == endNs])
			untilNs = from
		}
	}
}

// count adds ns, from startNs on, to a cause of the threads' time.
func (a *Analyser) count(k key, startNs, ns int64) {
	whole := min(ns, startNs+ns-a.listedNs)
	a.spread(startNs, startNs+ns, func(t *tally, part, times int64) { t.parts.add(k, part, times, whole) })
}

// countWall adds ns, from startNs on, to a cause of the time of the target as a whole.
func (a *Analyser) countWall(k key, startNs, ns int64) {
	a.spread(startNs, startNs+ns, func(t *tally, part, times int64) {
		t.wall.add(k, part, times, ns)
		t.wallNs += part
	})
}

// live adds the time from startNs to endNs to the lifetimes of the target's threads.
func (a *Analyser) live(startNs, endNs int64) {
	a.spread(startNs, endNs, func(t *tally, ns, _ int64) { t.livesNs += ns })
}

func (a *Analyser) tally() *tally { return a.tallies[len(a.tallies)-1] }

// Turn starts a new tally and drops all but the last one. A result then covers the time since the
// last but one call.
func (a *Analyser) Turn() {
	a.tallies = append(a.tallies[max(0, len(a.tallies)-1):], newTally(a.lastNs))
}
