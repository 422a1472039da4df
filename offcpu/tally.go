package offcpu

import (
	"cmp"
	"maps"
	"slices"
)

// tally is what was counted of a stretch of the recording that began at startNs.
type tally struct {
	startNs     int64
	parts, wall counts
	livesNs     int64 // the time that own threads existed
	wallNs      int64 // the time in which there was any
	ranOnNs     map[int32]int64
	busyNs      map[int32]int64 // by CPU, all threads
	events      int64
	lost        int64
	missed      int64    // switches
	periods     []Period // StartNs is a time of events
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

// counts are parts by what they are put down to.
type counts map[key]*Part

// add adds ns to a part; the wait that they belong to is counted times times, and lasted wholeNs.
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

// list are the parts as shares of a time, the largest first.
func (c counts) list(ofNs int64) []Part {
	all := make([]Part, 0, len(c))
	for _, p := range c {
		p.Share = float64(p.TotalNs) / float64(max(1, ofNs))
		all = append(all, *p)
	}
	order(all)
	return all
}

// order sorts parts, the largest first.
func order(parts []Part) {
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Who.Name, b.Who.Name),
			cmp.Compare(a.Who.Process, b.Who.Process), cmp.Compare(a.Who.Thread, b.Who.Thread))
	})
}

// keep keeps a period, as long as it is among the longest.
func (t *tally) keep(p Period) {
	if t.periods = append(t.periods, p); len(t.periods) >= 2*mostPeriods {
		t.prune()
	}
}

// prune leaves the longest periods, in order of their lengths.
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

// join adds what was counted later.
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

// takeOff takes from the time that threads ran what the host had of it: of what it took of each CPU the
// share that they had of that CPU. Of the time in which any thread ran it takes the same share.
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

// spread gives each tally its part of the time from startNs to endNs: the last of them counts whatever
// ends in it once.
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

// count adds to a cause the ns that follow startNs.
func (a *Analyser) count(k key, startNs, ns int64) {
	a.spread(startNs, startNs+ns, func(t *tally, part, times int64) { t.parts.add(k, part, times, ns) })
}

// countWall does the same for the time of the target as a whole.
func (a *Analyser) countWall(k key, startNs, ns int64) {
	a.spread(startNs, startNs+ns, func(t *tally, part, times int64) {
		t.wall.add(k, part, times, ns)
		t.wallNs += part
	})
}

// live adds to the time that own threads existed.
func (a *Analyser) live(startNs, endNs int64) {
	a.spread(startNs, endNs, func(t *tally, ns, _ int64) { t.livesNs += ns })
}

// tally is the one that counts now.
func (a *Analyser) tally() *tally { return a.tallies[len(a.tallies)-1] }

// Turn begins to count anew, and forgets what was counted before the last turn: from then on a result is
// of the time since that.
func (a *Analyser) Turn() {
	a.tallies = append(a.tallies[max(0, len(a.tallies)-1):], newTally(a.lastNs))
}
