package offcpu

import (
	"cmp"
	"fmt"
	"slices"

	"chronoscope/remedy"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// mostPeriods and mostWorst bound the number of periods and of worst waits in a result.
const mostPeriods, mostWorst = 20_000, 10

// Result returns how the threads spent their time until endNs. stolenNs is the steal time of each
// CPU during the recording. Result may be called only once, because it ends the states of all
// threads.
func (a *Analyser) Result(endNs int64, stolenNs map[int32]int64) Result {
	a.lastNs = max(endNs, a.lastNs, a.listedNs)
	a.reach(a.lastNs)
	if a.WaitsIn != nil {
		a.look()
	}
	for _, t := range a.threads {
		a.ending(t)
	}
	a.endWhole(a.lastNs)
	a.settle(a.lastNs)
	all := a.tallies[0]
	for _, later := range a.tallies[1:] {
		all.join(later)
	}
	all.takeOff(stolenNs)
	r := Result{
		RecordedNs: a.lastNs - all.startNs, ThreadNs: all.livesNs, WallNs: all.wallNs, Threads: a.own, Events: all.events, Lost: all.lost, Missed: all.missed, MissedIdle: all.missedIdle,
		Parts: all.parts.list(all.livesNs), Wall: all.wall.list(all.wallNs),
	}
	all.show(&r)
	r.judge()
	return r
}

// look asks what the target's threads do at the end of the recording. If the kernel leaves out events, and a thread does
// something else than the events say, an event of it was left out: its state is unknown.
func (a *Analyser) look() {
	missing := slices.ContainsFunc(a.tallies, func(t *tally) bool { return t.missed > 0 })
	for _, t := range a.threads {
		if !t.ours || t.state == ended {
			continue
		}
		var waits bool
		t.waitsIn, waits = a.WaitsIn(t.process, t.id)
		if missing && t.state != unknown && waits != (t.state == blocked) {
			a.lose(t)
		}
	}
}

// ending closes the state of a thread at the end of the recording.
func (a *Analyser) ending(t *thread) {
	if t.state == unknown && t.sinceNs == a.startNs && t.blockedIn != tracepoint.Runnable {
		t.state = blocked // it has had no event since the start
	}
	if t.state == waiting {
		a.charge(t, a.lastNs)
	}
	in := Who{Name: t.waitsIn}
	if t.blockedIn == tracepoint.Stopped || t.blockedIn == tracepoint.Traced { // nobody let it go on
		in = Who{}
	}
	a.close(t, NotWoken, in, a.lastNs)
	t.state = ended
}

// settle splits each wait for a CPU that ended by untilNs among the quota and the threads that had the CPU. Throttled
// time, by the readings of the quota, goes to the longest waits first, and to those of which nothing is known last: they may
// hide that the thread ran or was blocked, and the others would be put down to who had the CPU.
func (a *Analyser) settle(untilNs int64) {
	var due, later []wait
	for _, w := range a.waits {
		if w.endNs() <= untilNs {
			due = append(due, w)
		} else {
			later = append(later, w)
		}
	}
	seen := func(w wait) int64 {
		return map[bool]int64{true: w.DurationNs}[len(w.had) != 1 || w.had[0].who != nobodyKnown]
	}
	slices.SortStableFunc(due, func(a, b wait) int {
		return cmp.Or(cmp.Compare(seen(b), seen(a)), cmp.Compare(b.DurationNs, a.DurationNs))
	})
	for _, w := range due {
		a.countParts(w, turns(w))
	}
	a.waits = later
}

// settleShort settles the waits that have just ended and were too short for a quota. They are by far the most.
func (a *Analyser) settleShort() {
	for n := len(a.waits); n > 0 && a.waits[n-1].DurationNs < leastStopNs; n-- {
		w := a.waits[n-1]
		a.waits = a.waits[:n-1]
		a.countParts(w, turns(w))
	}
}

// part is a part of a wait that has one cause.
type part struct {
	key
	ns int64
}

// turns splits a wait into parts in order of time. Throttled time comes first.
func turns(w wait) (all []part) {
	skipNs := throttledNs(w)
	if skipNs > 0 {
		all = append(all, part{key{cause: Throttled}, skipNs})
	}
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
		if turn.ns > skipped {
			all = append(all, part{k, turn.ns - skipped})
		}
	}
	return all
}

// countParts counts the parts of a wait. The part that is not throttled becomes one period, with the
// cause of its largest part.
func (a *Analyser) countParts(w wait, turns []part) {
	rest, most := w.Period, int64(0)
	atNs := w.StartNs
	for _, p := range merged(turns) {
		a.count(p.key, atNs, p.ns)
		if atNs += p.ns; p.cause == Throttled {
			stopped := w.Period
			stopped.DurationNs, stopped.Cause = p.ns, Throttled
			a.tally().keep(stopped)
			rest.StartNs, rest.DurationNs = rest.StartNs+p.ns, rest.DurationNs-p.ns
		} else if p.ns > most {
			most, rest.Cause, rest.Who = p.ns, p.cause, p.who
		}
	}
	if rest.DurationNs > 0 {
		a.tally().keep(rest)
	}
	if w.wholeNs > 0 && len(turns) > 0 {
		a.countWholeTarget(w, turns)
	}
}

// countWholeTarget counts the time, up to the end of a wait, during which no thread of the target had a CPU. If that
// time is longer than the wait, another thread had waited before for the same CPU.
func (a *Analyser) countWholeTarget(w wait, turns []part) {
	turns[0].ns += max(0, w.wholeNs-w.DurationNs)
	left, first := w.wholeNs, len(turns)
	for left > 0 && first > 0 {
		first--
		turns[first].ns = min(turns[first].ns, left)
		left -= turns[first].ns
	}
	atNs := w.endNs() - w.wholeNs
	for _, p := range merged(turns[first:]) {
		a.countWall(p.key, atNs, p.ns)
		atNs += p.ns
	}
}

// merged joins the parts with the same cause and thread.
func merged(turns []part) (all []part) {
	for _, p := range turns {
		if i := slices.IndexFunc(all, func(q part) bool { return q.key == p.key }); i >= 0 {
			all[i].ns += p.ns
		} else {
			all = append(all, p)
		}
	}
	return all
}

// expected lists the causes of waits that a thread asked for or that have no known originator.
var expected = []Cause{Timer, NotWoken, Unknown}

// show sets the longest periods of r in order of time, and its worst waits.
func (t *tally) show(r *Result) {
	t.prune()
	r.Worst, r.Periods, r.LeftOut, r.LeftOutNs = []Period{}, []Period{}, t.leftOut, t.leftOutNs
	for _, p := range t.periods {
		end := p.endNs() - t.startNs
		p.StartNs = max(0, p.StartNs-t.startNs) // it may have begun, or even ended, before the part that is kept
		if p.DurationNs = end - p.StartNs; p.DurationNs > 0 {
			r.Periods = append(r.Periods, p)
		}
	}
	slices.SortStableFunc(r.Periods, func(a, b Period) int { return cmp.Compare(b.DurationNs, a.DurationNs) })
	for _, p := range r.Periods {
		if len(r.Worst) < mostWorst && !slices.Contains(expected, p.Cause) {
			r.Worst = append(r.Worst, p)
		}
	}
	slices.SortStableFunc(r.Periods, func(a, b Period) int { return cmp.Compare(a.StartNs, b.StartNs) })
}

// suspectShare and unusableShare are the shares of unknown time above which the verdict is
// suspect or unusable.
const suspectShare, unusableShare = 0.01, 0.5

func (r *Result) judge() {
	r.Judgement = stats.NewJudgement()
	share, of, open := shareOf(r.Parts, Unknown), "time", shareOf(r.Wall, NotWoken)
	if wall := shareOf(r.Wall, Unknown); wall > share {
		share, of = wall, "wall time"
	}
	switch {
	case r.RecordedNs <= 0:
		r.Lower(stats.Unusable, "by the clock of the kernel's events no time passed: allow this command to read CLOCK_MONOTONIC (clock_gettime)")
	case r.ThreadNs <= 0:
		r.Lower(stats.Unusable, "no thread was seen: check that the process runs while it is recorded")
	case share > unusableShare:
		r.Lower(stats.Unusable, "where %s of the %s went is not known", stats.Share(share), of)
	case share > suspectShare:
		r.Lower(stats.Suspect, "where %s of the %s went is not known", stats.Share(share), of)
	}
	if open > suspectShare {
		r.Lower(stats.Suspect, "for %s of the time all threads waited for something that had not come when the recording ended: record for longer, to learn what", stats.Share(open))
	}
	if share > suspectShare && r.Missed > 0 {
		left := fmt.Sprintf("the kernel left out switches between threads %d times, and did not report it: who had a CPU then is counted as unknown", r.Missed)
		if 2*r.MissedIdle >= r.Missed {
			r.Lower(stats.Suspect, "%s; %d times the CPU had been idle: %s keeps the CPUs busy", left, r.MissedIdle, remedy.Of(remedy.KeepBusy))
		} else {
			r.Lower(stats.Suspect, "%s; %d times the CPU had been idle: the kernel may report nothing of what some threads do, as on some virtual machines", left, r.MissedIdle)
		}
	}
	if r.Lost > 0 {
		r.Lower(stats.Suspect, "%d of %d events were lost: what threads did around them is counted as unknown; record for a shorter time, or stop some of the other processes", r.Lost, r.Lost+r.Events)
	}
}

func shareOf(parts []Part, cause Cause) (share float64) {
	for _, p := range parts {
		if p.Cause == cause {
			share += p.Share
		}
	}
	return share
}
