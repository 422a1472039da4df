package offcpu

import (
	"cmp"
	"slices"

	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// How many periods and worst waits of a result are kept.
const mostPeriods, mostWorst = 20_000, 10

// Result is what the time of the threads went to until endNs. stolenNs is what the host took of each CPU
// in that time. It is asked for once: it ends what the threads do.
func (a *Analyser) Result(endNs int64, stolenNs map[int32]int64) Result {
	a.lastNs = max(endNs, a.lastNs)
	for _, t := range a.threads {
		a.ending(t)
	}
	a.settle()
	a.takeOff(stolenNs)
	r := Result{RecordedNs: a.lastNs - a.startNs, ThreadNs: a.lives, Threads: a.own, Events: a.events, Lost: a.lost, Parts: []Part{}}
	for _, p := range a.parts {
		p.Share = float64(p.TotalNs) / float64(max(1, a.lives))
		r.Parts = append(r.Parts, *p)
	}
	r.order()
	a.list(&r)
	r.judge()
	return r
}

// order sorts the parts, the largest first.
func (r *Result) order() {
	slices.SortFunc(r.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Who.Name, b.Who.Name),
			cmp.Compare(a.Who.Process, b.Who.Process), cmp.Compare(a.Who.Thread, b.Who.Thread))
	})
}

// ending ends what a thread does when the recording ends.
func (a *Analyser) ending(t *thread) {
	if t.state == unknown && t.sinceNs == a.startNs && t.blockedIn != tracepoint.Runnable {
		t.state = blocked // no event has come of it
	}
	if t.state == waiting {
		a.charge(t, a.lastNs)
	}
	a.close(t, NotWoken, Who{}, a.lastNs)
	t.state = ended
}

// settle puts the waits for a CPU down to the quota and to who had it: the longest first, as long as
// the readings of the quota allow for it.
func (a *Analyser) settle() {
	slices.SortStableFunc(a.waits, func(a, b wait) int { return cmp.Compare(b.DurationNs, a.DurationNs) })
	left := a.stops()
	for _, w := range a.waits {
		stopped := w
		stopped.DurationNs, stopped.Cause = a.throttledNs(w, left), Throttled
		if w.StartNs, w.DurationNs = w.StartNs+stopped.DurationNs, w.DurationNs-stopped.DurationNs; stopped.DurationNs > 0 {
			a.count(Throttled, Who{}, stopped.DurationNs)
			a.periods = append(a.periods, stopped.Period)
		}
		if w.DurationNs > 0 {
			a.blame(w, stopped.DurationNs)
		}
	}
	a.waits = nil
}

// stops are for how long the quota stopped the target between each reading and the one before.
func (a *Analyser) stops() []int64 {
	left := make([]int64, len(a.quotas))
	for i := 1; i < len(left); i++ {
		left[i] = max(0, a.quotas[i].StoppedNs-a.quotas[i-1].StoppedNs)
	}
	return left
}

// leastStopNs is how long the quota stops a group at least: it looks at its clock at each tick.
const leastStopNs = 1e6

// throttledNs is for how long the quota stopped a thread at the beginning of a wait: the kernel counts
// that when it lets the group go on, which is before the wait ends.
func (a *Analyser) throttledNs(w wait, left []int64) (ns int64) {
	if w.DurationNs < leastStopNs {
		return 0
	}
	startNs := a.startNs + w.StartNs
	i, _ := slices.BinarySearchFunc(a.quotas, startNs, func(q Quota, ns int64) int { return cmp.Compare(q.AtNs, ns) })
	for ; i < len(left) && ns < w.DurationNs; i++ {
		n := min(left[i], w.DurationNs-ns)
		left[i] -= n
		ns += n
		if a.quotas[i].AtNs >= startNs+w.DurationNs {
			break
		}
	}
	return ns
}

// blame puts a wait down to who had the CPU. Of them skipNs are left out.
func (a *Analyser) blame(w wait, skipNs int64) {
	totals := map[key]int64{}
	for _, turn := range w.had {
		skipped := min(skipNs, turn.ns)
		skipNs -= skipped
		k := key{RunqueueWait, turn.who}
		switch turn.who {
		case Who{}:
			k.cause = WakeupLatency
		case nobodyKnown:
			k = key{cause: Unknown}
		}
		if totals[k] += turn.ns - skipped; totals[k] > totals[key{w.Cause, w.Who}] {
			w.Cause, w.Who = k.cause, k.who
		}
	}
	for k, ns := range totals {
		a.count(k.cause, k.who, ns)
	}
	a.periods = append(a.periods, w.Period)
}

// takeOff takes from the time that threads ran what the host had of it: of what it took of each CPU the
// share that they had of that CPU.
func (a *Analyser) takeOff(stolenNs map[int32]int64) {
	ran := a.parts[key{Ran, Who{}}]
	if ran == nil {
		return
	}
	var total int64
	for cpu, stolen := range stolenNs {
		if busy := a.busy[cpu]; busy > 0 {
			total += int64(float64(stolen) * float64(a.ranOn[cpu]) / float64(busy))
		}
	}
	total = min(total, ran.TotalNs)
	ran.TotalNs -= total
	a.count(Hypervisor, Who{}, total)
}

// expected are causes of waits that a thread has asked for, or of which nobody is known to be to blame.
var expected = []Cause{Timer, NotWoken, Unknown}

// list sets the longest periods in order of time, and the worst of them apart.
func (a *Analyser) list(r *Result) {
	slices.SortStableFunc(a.periods, func(a, b Period) int {
		return cmp.Or(cmp.Compare(b.DurationNs, a.DurationNs), cmp.Compare(a.StartNs, b.StartNs), cmp.Compare(a.Thread, b.Thread))
	})
	r.Worst = []Period{}
	for _, p := range a.periods {
		if len(r.Worst) < mostWorst && !slices.Contains(expected, p.Cause) {
			r.Worst = append(r.Worst, p)
		}
	}
	if len(a.periods) > mostPeriods {
		r.LeftOut, r.LeftOutNs = int64(len(a.periods)-mostPeriods), a.periods[mostPeriods].DurationNs
		a.periods = a.periods[:mostPeriods]
	}
	r.Periods = append([]Period{}, a.periods...)
	slices.SortStableFunc(r.Periods, func(a, b Period) int { return cmp.Compare(a.StartNs, b.StartNs) })
}

// Of the time, this share may be unknown before the verdict is suspect, and before it is unusable.
const suspectShare, unusableShare = 0.01, 0.5

// judge says how far the result can be trusted.
func (r *Result) judge() {
	r.Judgement = stats.NewJudgement()
	var unknownNs int64
	for _, p := range r.Parts {
		if p.Cause == Unknown {
			unknownNs += p.TotalNs
		}
	}
	share := float64(unknownNs) / float64(max(1, r.ThreadNs))
	switch {
	case r.ThreadNs <= 0:
		r.Lower(stats.Unusable, "no thread was seen: check that the process runs while it is recorded")
	case share > unusableShare:
		r.Lower(stats.Unusable, "of %s of the time it is not known what it went to", stats.Share(share))
	case share > suspectShare:
		r.Lower(stats.Suspect, "of %s of the time it is not known what it went to", stats.Share(share))
	}
	if r.Lost > 0 {
		r.Lower(stats.Suspect, "%d of %d events were lost: what threads did around them is counted as unknown", r.Lost, r.Lost+r.Events)
	}
}
