package slowclock

import (
	"context"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Counter times the event by a counter of unknown rate, such as [Counting]. When ctx ends, Counter
// returns the result so far with ctx's error.
//
// The counter shows which share of its counts fell into events, and the slow clock, from edge to
// edge, how long the whole stretch took. So the counter's rate need not be known, and may change.
// If its thread is preempted, it misses events and the time between them alike. Time that the
// measuring thread loses during an event counts as part of the event, as with every other clock.
//
// The result is unusable if [Clock.CounterUnavailable] has a reason.
func (l Lab) Counter(ctx context.Context, counter *clock.Clock, plan Plan) (Result, error) {
	if missing := l.Clock.CounterUnavailable(); missing != nil {
		r := (&laboratory{Lab: l}).newResult(CounterClock)
		r.Lower(stats.Unusable, "%v", missing)
		return r, nil
	}
	lab, release := l.open()
	defer release()
	c := &counting{laboratory: lab, counter: counter}
	err := c.rounds(ctx, plan)
	r := c.result()
	r.finish(plan, err)
	return r, err
}

// CounterUnavailable returns why [Lab.Counter] can't be used with the slow clock; nil if it can. The clock has to
// count real time. A clock of the process's CPU time also counts that of the counting thread, and runs at twice its
// rate. A clock of a thread's CPU time stands still when that thread loses its CPU, while the counter continues.
func (c Clock) CounterUnavailable() *clock.Unavailable {
	if c.CountsSleep != clock.No {
		return nil
	}
	return &clock.Unavailable{
		Name: string(CounterClock), Reason: clock.NotSupportedHere,
		Detail: c.Name + " counts CPU time, and a thread that counts takes CPU time itself",
		Remedy: "take a slow clock that counts real time, or another method",
	}
}

// counting is the state of one call of [Lab.Counter].
type counting struct {
	*laboratory
	counter *clock.Clock
	all     []round
	ticks   int64 // in all rounds
	// backward is how many rounds were left out because the clock went backwards or jumped.
	backward int
	// apart holds the differences of counts between the last readings for an edge. looks is the
	// number of all such readings.
	apart [readingsKept]int64
	looks int
}

// round is a stretch of trials of the event, and a stretch of empty trials.
type round struct{ trials, empty stretch }

// stretch is a series of trials. trials is their number, and still the number of those during which
// the counter stood still. within is the sum of the counts in the trials, and fine the sum of their
// durations by the finer clock. counts and ticks say how far the counter and the clock went from
// the edge before the first trial to an edge after the last.
type stretch struct {
	trials, still, within, fine int64
	counts                      float64
	ticks                       int64
}

const (
	// A stretch of empty trials takes emptyTicks, and at least leastEmptyNs; a stretch of trials
	// takes trialsPerEmpty times as long. That is long compared with the reading of an edge, and so
	// short that disturbances are rare in it.
	emptyTicks, leastEmptyNs = 4, 1e6
	trialsPerEmpty           = 4
	// fewestRounds is the number of rounds that an interval needs, enoughRounds the number that a
	// plan has.
	fewestRounds, enoughRounds = 3, 12
	// trialsAStretch is the least number of trials in a stretch.
	trialsAStretch = 4
)

func (c *counting) rounds(ctx context.Context, plan Plan) error {
	budget, trials := plan.ticks(c.Clock), plan.trials()
	empty := math.Max(emptyTicks, math.Ceil(leastEmptyNs/c.Clock.TickNs))
	empty = math.Max(1, math.Min(empty, math.Floor(float64(budget)/enoughRounds/(1+trialsPerEmpty))))
	done, look, last := int64(0), enoughRounds, c.Clock.Read()
	for c.ticks < budget && done < trials {
		var r round
		var steady, also bool
		var err error
		if r.trials, steady, err = c.stretch(ctx, c.Event, int64(empty*trialsPerEmpty)); err != nil {
			return err
		}
		if r.empty, also, err = c.stretch(ctx, nothing, int64(empty)); err != nil {
			return err
		}
		if steady && also {
			c.all = append(c.all, r)
		} else {
			c.backward++
		}
		now := c.Clock.Read()
		c.ticks += max(1, c.Clock.ticks(now-last))
		last = now
		done += r.trials.trials
		c.Progress(float64(c.ticks)/float64(budget), string(CounterClock))
		if n := len(c.all); plan.Precision > 0 && n >= look {
			if c.result().Estimate.RelativeHalfWidth() <= plan.Precision {
				break
			}
			look = n * 5 / 4
		}
	}
	return nil
}

// edge is a moment at which the clock ticked: its new reading, and the counts before and after.
type edge struct {
	reading  int64
	from, to int64
}

// middle is the best estimate of the count at the edge.
func (e edge) middle() float64 { return float64(e.from) + float64(e.to-e.from)/2 }

// An edge is well placed if the counts around it are at most wellPlaced times as far apart as they
// usually are, by the last readings. Otherwise one of the threads had lost its CPU.
const (
	wellPlaced   = 2
	readingsKept = 64
)

// edge waits for an edge that is well placed.
func (c *counting) edge(ctx context.Context) (edge, error) {
	last, before := c.Clock.Read(), c.counter.Read()
	for {
		now, count := c.Clock.Read(), c.counter.Read()
		if count != before { // otherwise the counter stood still, and its rate is not known
			c.apart[c.looks%readingsKept] = count - before
			c.looks++
		}
		ticks := c.Clock.ticks(now - last)
		if ticks == 1 && (count == before || c.looks >= readingsKept && count-before <= wellPlaced*usually(c.apart)) {
			c.skips = 0
			return edge{now, before, count}, nil
		}
		last, before = now, count
		if err := c.passedBy(ticks); err != nil {
			return edge{}, err
		}
		if c.ended(ctx, ticks != 0) {
			return edge{}, ctx.Err()
		}
	}
}

// usually returns the 90th percentile of the differences, but at least 1.
func usually(apart [readingsKept]int64) int64 {
	slices.Sort(apart[:])
	return max(1, apart[readingsKept*9/10])
}

// apart keeps the two readings of a trial some 200 ns apart, in empty trials as well: a reading
// fetches the count from the cache of another core. A second reading right after it would find the
// count in its own cache and take less time than in a trial.
const apart = 200

// stretch runs trials of the event for this number of ticks, from an edge to an edge. steady is
// false if the clock went backwards or jumped.
func (c *counting) stretch(ctx context.Context, event func(), ticks int64) (s stretch, steady bool, err error) {
	first, err := c.edge(ctx)
	if err != nil {
		return s, false, err
	}
	way, near := approach{mostTicks: 2 * ticks}, false
	for last := first.reading; s.trials < trialsAStretch || c.Clock.ticks(last-first.reading) < ticks-1 || !near; {
		start := c.counter.Start()
		clock.Spin(apart)
		if c.Fine == nil {
			event()
		} else {
			fine := c.Fine.Start()
			event()
			s.fine += c.Fine.End() - fine
		}
		within := c.counter.End() - start
		s.within += within
		if s.trials++; within == 0 {
			s.still++
		}
		now := c.Clock.Read()
		if now < last || c.Clock.ticks(now-last) > timesAJump*(ticks+fewestAJump) {
			return s, false, nil // don't wait for an edge: after a step back the clock may need hours to return
		}
		if c.ended(ctx, now != last) {
			return s, false, ctx.Err()
		}
		near = way.look(s.trials, c.Clock.ticks(now-first.reading))
		last = now
	}
	last, err := c.edge(ctx)
	s.counts, s.ticks = last.middle()-first.middle(), c.Clock.ticks(last.reading-first.reading)
	return s, s.ticks > 0, err
}

// approach predicts the next tick from the number of trials per tick. The wait for the last edge
// has to be short: the counter may stand still during it, and then trials seem to have had a larger
// share of the time. The prediction does not use the counter, since it would then depend on whether
// the counter stands still.
type approach struct {
	ticks, trials int64 // at the last tick of the clock
	// From mostTicks ticks on, look returns true at any place of a tick.
	mostTicks int64
}

// look records the number of trials and ticks so far, and reports whether fewer than two more
// trials fit before the next tick. Before the first tick it returns false.
func (a *approach) look(trials, ticks int64) (near bool) {
	if ticks != a.ticks {
		a.ticks, a.trials = ticks, trials
	}
	return ticks >= a.mostTicks || ticks > 0 && (trials-a.trials+2)*a.ticks >= a.trials
}

// evenShare is the least ratio of a counter's average rate to its greatest rate while no other
// program wants its CPU.
const evenShare = 0.8

func (c *counting) result() Result {
	r := c.newResult(CounterClock)
	r.ElapsedNs = float64(c.ticks) * c.Clock.TickNs
	whole, empty := shares{tickNs: c.Clock.TickNs}, shares{tickNs: c.Clock.TickNs}
	for _, one := range c.all {
		whole.add(one.trials)
		empty.add(one.empty)
	}
	r.Trials, r.Edges = whole.sum.trials, whole.sum.ticks
	r.Overhead = empty.mean()
	r.Estimate = whole.mean().Less(r.Overhead)
	unseenNs := r.Overhead.Value * math.Abs(whole.sum.unseen()-empty.sum.unseen())
	r.Estimate.Lo, r.Estimate.Hi = r.Estimate.Lo-unseenNs, r.Estimate.Hi+unseenNs
	r.Estimate.Discarded = c.backward
	r.Truth = c.truth(whole.sum.fine, r.Trials)
	if len(c.all) < fewestRounds {
		r.Lower(stats.Unusable, "%d of %d rounds can be used, %d are needed: let it run for longer, or leave two CPUs alone", len(c.all), len(c.all)+c.backward, fewestRounds)
	} else if math.IsNaN(r.Estimate.HalfWidth()) {
		r.Lower(stats.Unusable, "the counting thread did not run while it was needed: leave two CPUs alone, or let it run for longer")
	} else if kept := math.Min(whole.evenness(), empty.evenness()); !(kept >= evenShare) {
		r.Lower(stats.Suspect, "the counting thread counted at %.0f %% of its greatest rate on average: others want its CPU; leave two CPUs alone", 100*kept)
	}
	if c.backward > 0 {
		r.Lower(stats.Suspect, "the clock went backwards or jumped in %d rounds, which are left out: it was set, it wraps, or the machine stood still; take one that nobody sets, such as a monotonic one", c.backward)
	}
	return r
}

// shares collects stretches of trials. For each of them the counter shows which share of its time
// was within trials.
type shares struct {
	tickNs float64
	all    []stretch
	sum    stretch
}

func (s *shares) add(one stretch) {
	s.all = append(s.all, one)
	s.sum.trials += one.trials
	s.sum.still += one.still
	s.sum.within += one.within
	s.sum.fine += one.fine
	s.sum.counts += one.counts
	s.sum.ticks += one.ticks
}

// inTrials returns the number of ticks of the stretch that were within trials: the trials' share of
// its counts, times its ticks. It uses only the stretch's own counts. Otherwise a stretch in which
// the counter was starved would weigh less than its time, although the counter and the trials may
// lose their CPUs at different times. If the counter stood still throughout the stretch, the share
// of all stretches is used: without the stretch, the time that its trials lost would be missing.
func (s *shares) inTrials(one stretch) float64 {
	if !(one.counts > 0) {
		one.within, one.counts = s.sum.within, s.sum.counts
	}
	return one.share() * float64(one.ticks)
}

// share returns the share of the counts, and so of the time, that was within trials.
func (s stretch) share() float64 { return float64(s.within) / s.counts }

// unseen returns the share of trials during which the counter stood still, times the share of the
// time that trials take. A reading of a counter that stands still finds the count in its own cache,
// and takes between nothing and its usual time. So such trials and empty trials are shorter by at
// most the overhead, and the difference of both means by at most the overhead times the difference
// of these shares.
func (s stretch) unseen() float64 { return float64(s.still) / float64(s.trials) * s.share() }

// mean returns the mean duration of a trial, with an interval by Student's t from the residuals of
// the stretches (Cochran, Sampling Techniques, 3rd ed., section 6.3, for a ratio). Each stretch is
// part of the mean that it is compared with, which makes residuals too small by the factor (n-1)/n.
func (s *shares) mean() stats.Estimate {
	e := stats.NoEstimate("ns", "mean")
	n, trials := float64(len(s.all)), float64(s.sum.trials)
	if n == 0 || !(s.sum.counts > 0) {
		return e
	}
	var ticks float64
	for _, one := range s.all {
		ticks += s.inTrials(one)
	}
	e.N, e.Value = int(s.sum.trials), ticks/trials*s.tickNs
	if n < fewestRounds {
		return e
	}
	var squares float64
	for _, one := range s.all {
		off := s.inTrials(one)/ticks - float64(one.trials)/trials
		squares += off * off
	}
	half := e.Value * stats.StudentT(n-1) * math.Sqrt(squares) * n / (n - 1)
	e.Lo, e.Hi = e.Value-half, e.Value+half
	return e
}

// evenness returns the counter's average rate divided by its greatest rate in any stretch.
func (s *shares) evenness() float64 {
	greatest := 0.0
	for _, one := range s.all {
		greatest = math.Max(greatest, one.counts/float64(one.ticks))
	}
	return s.sum.counts / float64(s.sum.ticks) / greatest
}
