package offcpu

import (
	"cmp"
	"slices"
)

// Group is a control group, with the quotas that limit its threads: its own and those of the groups around it.
type Group struct {
	Name   string
	Quotas []*Quota
}

// Quota is the account of the CPU quota of one control group.
type Quota struct {
	known           bool
	atNs, stoppedNs int64 // of the latest reading
	grewNs          int64 // time of the latest reading that was above the one before it
	stops           []stop
}

// stop is the time for which a quota stopped its group between two readings, summed over the CPUs.
type stop struct {
	fromNs, toNs int64 // times of the readings
	leftNs       int64 // what no wait has been given yet
	given        []stopped
}

// stopped is a time in which a quota stopped its group on one CPU.
type stopped struct {
	cpu          int32
	fromNs, toNs int64
}

// Add takes a reading of the total time for which the quota has stopped the group so far, summed over the CPUs. Readings
// come in order of time.
func (q *Quota) Add(atNs, stoppedNs int64) {
	if more := stoppedNs - q.stoppedNs; q.known && more > 0 {
		q.stops, q.grewNs = append(q.stops, stop{fromNs: q.atNs, toNs: atNs, leftNs: more}), atNs
	}
	q.known, q.atNs, q.stoppedNs = true, atNs, stoppedNs
}

// give returns the time for which the quota stopped a thread between fromNs and the end of its wait.
// The kernel counts that time when it resumes the group, which is before the wait ends.
func (q *Quota) give(w wait, fromNs int64) (ns int64) {
	i, _ := slices.BinarySearchFunc(q.stops, w.StartNs, func(s stop, ns int64) int { return cmp.Compare(s.toNs, ns) })
	for ; i < len(q.stops) && q.stops[i].fromNs < w.endNs() && fromNs+ns < w.endNs(); i++ {
		ns += q.stops[i].give(w, fromNs+ns)
	}
	return ns
}

// give is like [Quota.give]. A stop of a CPU stops all threads that wait there: it is counted for each of them, but only
// once against what is left.
func (s *stop) give(w wait, fromNs int64) (ns int64) {
	for _, g := range s.given {
		if g.cpu == w.cpu {
			ns += max(0, min(g.toNs, w.endNs())-max(g.fromNs, fromNs))
		}
	}
	if ns == 0 && s.leftNs > 0 {
		ns = min(s.leftNs, w.endNs()-fromNs)
		s.leftNs -= ns
		s.given = append(s.given, stopped{w.cpu, fromNs, fromNs + ns})
	}
	return ns
}

// forget drops what was read before a time.
func (q *Quota) forget(beforeNs int64) {
	q.stops = slices.DeleteFunc(q.stops, func(s stop) bool { return s.toNs < beforeNs })
}

// Regroup notes to which control groups the target's processes belong now. groupOf returns the group of a process, and
// false if that is not known.
func (a *Analyser) Regroup(groupOf func(process int32) (Group, bool)) {
	a.regroup(groupOf, func(int32) bool { return true })
	a.regroupedNs = a.lastNs
}

// RegroupNew is like [Analyser.Regroup], for the processes that have started, or become another program, since the last call
// of either.
func (a *Analyser) RegroupNew(groupOf func(process int32) (Group, bool)) {
	if len(a.fresh) > 0 {
		a.regroup(groupOf, func(process int32) bool { return a.fresh[process] })
	}
}

func (a *Analyser) regroup(groupOf func(process int32) (Group, bool), asks func(process int32) bool) {
	type answer struct {
		group Group
		ok    bool
	}
	now, moved := map[int32]answer{}, map[*thread]bool{}
	for _, t := range a.threads {
		if t.state == ended || !t.ours && t.id != a.target.Parent || !asks(t.process) {
			continue
		}
		n, asked := now[t.process]
		if !asked {
			n.group, n.ok = groupOf(t.process)
			now[t.process] = n
		}
		if n.ok {
			if t.cgroup != n.group.Name {
				moved[t] = true
			}
			t.cgroup, t.quotas = n.group.Name, n.group.Quotas
		}
	}
	clear(a.fresh)
	if len(moved) == 0 {
		return
	}
	// When a thread moved is not known: since the last time, the quotas of both groups may have stopped it.
	for i, w := range a.waits {
		if moved[w.of] && w.endNs() > a.regroupedNs {
			a.waits[i].quotas = union(w.quotas, w.of.quotas)
		}
	}
}

func union(a, b []*Quota) []*Quota {
	all := slices.Clone(a)
	for _, q := range b {
		if !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	return all
}

// forgetStops drops the stops that no wait can be given any more.
func (a *Analyser) forgetStops() {
	beforeNs := a.lastNs - settledNs
	for _, w := range a.waits {
		beforeNs = min(beforeNs, w.StartNs)
	}
	for _, t := range a.threads {
		if t.ours && t.state == waiting {
			beforeNs = min(beforeNs, t.sinceNs)
		}
	}
	for _, t := range a.threads {
		for _, q := range t.quotas {
			q.forget(beforeNs)
		}
	}
}

// leastStopNs is the shortest time for which a quota stops a group: the scheduler checks at each
// timer tick.
const leastStopNs = 1e6

// throttledNs returns the time for which the quotas of its groups stopped a thread at the beginning of a wait.
func throttledNs(w wait) (ns int64) {
	if w.DurationNs < leastStopNs {
		return 0
	}
	for _, q := range w.quotas {
		ns += q.give(w, w.StartNs+ns)
	}
	return ns
}
