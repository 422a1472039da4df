package slowclock

import (
	"context"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Counter times the event by a counter of unknown rate, such as [Counting] is. When ctx
// ends, the result so far comes with its error.
//
// The counter tells which share of its counts fell into events, and the slow clock, from
// edge to edge, how long all of it took: the counter's rate need not be known, and may
// change. Where its thread is preempted it misses events and what is between them alike.
// What the measuring thread loses is in its event, as it is for every other clock.
func (l Lab) Counter(ctx context.Context, counter *clock.Clock, plan Plan) (Result, error) {
	lab, release := l.open()
	defer release()
	c := &counting{laboratory: lab, counter: counter}
	err := c.rounds(ctx, plan)
	r := c.result()
	r.finish(plan, err)
	return r, err
}

// counting is one call of Counter.
type counting struct {
	*laboratory
	counter *clock.Clock
	all     []round
	ticks   int64 // that went by
	// backward is how many rounds were left out, since the clock went backwards.
	backward int
	// apart are the differences of counts between the last readings for an edge, looks is the number of
	// all such readings.
	apart [readingsKept]int64
	looks int
}

// round are trials of the event, and empty ones.
type round struct{ trials, empty stretch }

// stretch is a number of trials: the counts within them, and how far the counter and
// the clock went from the edge before the first to an edge after the last. The counter stood still
// throughout some of the trials.
type stretch struct {
	trials, still, within, fine int64
	counts                      float64
	ticks                       int64
}

const (
	// A stretch of empty trials takes emptyTicks, and at least leastEmptyNs; a stretch of trials takes
	// trialsPerEmpty times that. It is long compared with the reading of an edge, and so short that
	// disturbances are rare in it.
	emptyTicks, leastEmptyNs = 4, 1e6
	trialsPerEmpty           = 4
	// fewestRounds is how many an interval takes, enoughRounds how many a plan has.
	fewestRounds, enoughRounds = 3, 12
	// trialsAStretch is how many trials there are at least.
	trialsAStretch = 4
)

// rounds takes them until the plan is done.
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

// edge is where the clock ticked: its reading, and the counts between which it did.
type edge struct {
	reading  int64
	from, to int64
}

// middle is the count at the edge, as well as it is known.
func (e edge) middle() float64 { return float64(e.from) + float64(e.to-e.from)/2 }

// An edge is well placed where the counts around it are no farther apart than
// wellPlaced times what they usually are, by the last readings: otherwise one of the
// threads was away.
const (
	wellPlaced   = 2
	readingsKept = 64
)

// edge waits for an edge that is well placed.
func (c *counting) edge(ctx context.Context) (edge, error) {
	last, before := c.Clock.Read(), c.counter.Read()
	for {
		now, count := c.Clock.Read(), c.counter.Read()
		if count != before { // else the counter stands still, and says nothing of how fast it goes
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

// usually is the 90th percentile of the differences, and 1 at least.
func usually(apart [readingsKept]int64) int64 {
	slices.Sort(apart[:])
	return max(1, apart[readingsKept*9/10])
}

// apart keeps the two readings of a trial some 200 ns apart, in empty trials as well:
// a reading takes the count from the cache of another core, and one that follows too
// closely finds it in its own, so that it takes less than within a trial.
const apart = 200

// stretch runs trials of the event for this number of ticks, from an edge to an edge. It is not
// steady if the clock went backwards or jumped.
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
			return s, false, nil // it may take hours to be where it was
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

// approach predicts the next tick from the number of trials per tick. The wait for the last edge has
// to be short: the counter may stand still during it, and then trials seem to have had a larger
// share of the time. The counter itself is not asked, since the prediction would then depend on
// whether it stands still.
type approach struct {
	ticks, trials int64 // that there had been when the clock was last seen to tick
	// After mostTicks any place is near enough.
	mostTicks int64
}

// look notes the number of trials and ticks so far, and reports whether fewer than two more trials
// fit before the next tick. Before the first tick that is unknown.
func (a *approach) look(trials, ticks int64) (near bool) {
	if ticks != a.ticks {
		a.ticks, a.trials = ticks, trials
	}
	return ticks >= a.mostTicks || ticks > 0 && (trials-a.trials+2)*a.ticks >= a.trials
}

// evenShare is the share of its greatest rate that a counter keeps on average where
// nobody wants its CPU.
const evenShare = 0.8

// result judges the rounds.
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

// shares collects stretches. For each of them the counter tells which share of its time was within
// trials.
type shares struct {
	tickNs float64
	all    []stretch
	sum    stretch
}

// add enters a stretch.
func (s *shares) add(one stretch) {
	s.all = append(s.all, one)
	s.sum.trials += one.trials
	s.sum.still += one.still
	s.sum.within += one.within
	s.sum.fine += one.fine
	s.sum.counts += one.counts
	s.sum.ticks += one.ticks
}

// inTrials is the number of ticks of the stretch that were within trials: their share of its counts,
// times its ticks. Only the stretch's own counts are used: otherwise a stretch in which the counter
// was starved would weigh less than its time, although the counter and the trials may lose their
// CPUs at different times. Where the counter stood still throughout, the share is that of all stretches:
// without its trials, what was taken from them would be missing.
func (s *shares) inTrials(one stretch) float64 {
	if !(one.counts > 0) {
		one.within, one.counts = s.sum.within, s.sum.counts
	}
	return one.share() * float64(one.ticks)
}

// share is the share of its counts, and so of its time, that were within trials.
func (s stretch) share() float64 { return float64(s.within) / s.counts }

// unseen is the share of trials throughout which the counter stood still, times the share of the time
// that trials take. A reading of a counter that stands still finds the count in its own cache, and
// takes between nothing and its usual time: such trials and empty trials are shorter by at most the
// overhead, and the difference of both means by at most the overhead times the difference of these
// shares.
func (s stretch) unseen() float64 { return float64(s.still) / float64(s.trials) * s.share() }

// mean is the mean duration of a trial, with an interval by Student's t from the residuals of the
// stretches (Cochran, Sampling Techniques, 3rd ed., section 6.3, for a ratio). Each stretch is part
// of the mean that it is compared with, which makes residuals too small by the factor (n-1)/n.
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

// evenness is the counter's average rate divided by its greatest rate in any stretch.
func (s *shares) evenness() float64 {
	greatest := 0.0
	for _, one := range s.all {
		greatest = math.Max(greatest, one.counts/float64(one.ticks))
	}
	return s.sum.counts / float64(s.sum.ticks) / greatest
}
