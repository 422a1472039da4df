package slowclock

import (
	"context"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Counter times the event by a counter of unknown rate, such as [Counting] is, and
// finds the rate between edges of the slow clock. When ctx ends, the result so far
// comes with its error.
//
// Rounds of a quiet stretch for the rate, of trials and of empty trials take turns.
// Whoever is preempted, the rate of a round tells: rounds in which the counter did not
// keep its usual rate are left out. What the measuring thread loses is in its event,
// as it is for every other clock.
func (l Lab) Counter(ctx context.Context, counter *clock.Clock, plan Plan) (Result, error) {
	lab, release := l.open()
	defer release()
	c := &counting{laboratory: lab, counter: counter}
	err := c.rounds(ctx, plan)
	r := c.result()
	r.cutShort(err)
	return r, err
}

// counting is one call of Counter.
type counting struct {
	*laboratory
	counter *clock.Clock
	all     []round
	ticks   int64 // that went by
}

// round is a quiet stretch, and what followed it.
type round struct {
	// quiet is the counter's rate in the quiet stretch, in counts a tick.
	quiet float64
	// trials and empty are what was done then.
	trials, empty stretch
}

// stretch is a number of trials: the counts within them, and how far the counter and
// the clock went from the first to the last.
type stretch struct {
	trials, within, fine int64
	counts, ticks        int64
	backward             bool
}

// What a round takes, in shares of its quiet stretch.
const (
	trialsPerQuiet = 2
	emptyPerQuiet  = 0.5
	roundPerQuiet  = 1 + trialsPerQuiet + emptyPerQuiet
	// usualQuietTicks keeps a round short, so that little happens in it, and
	// leastQuietNs long beside the reading of an edge.
	usualQuietTicks, leastQuietNs = 8, 2e6
	// fewestRounds is how many an interval takes, enoughRounds how many a plan has.
	fewestRounds, enoughRounds = 3, 12
	// trialsAStretch is how many trials there are at least.
	trialsAStretch = 4
)

// rounds takes them until the plan is done.
func (c *counting) rounds(ctx context.Context, plan Plan) error {
	budget, trials := plan.ticks(c.Clock), plan.trials()
	quiet := math.Max(usualQuietTicks, math.Ceil(leastQuietNs/c.Clock.TickNs))
	quiet = math.Max(1, math.Min(quiet, math.Floor(float64(budget)/enoughRounds/roundPerQuiet)))
	done, last := int64(0), c.Clock.Read()
	for c.ticks < budget && done < trials {
		var r round
		var err error
		if r.quiet, err = c.quiet(ctx, int64(quiet)); err != nil {
			return err
		}
		if r.trials, err = c.stretch(ctx, c.Event, int64(quiet*trialsPerQuiet)); err != nil {
			return err
		}
		if r.empty, err = c.stretch(ctx, nothing, int64(math.Ceil(quiet*emptyPerQuiet))); err != nil {
			return err
		}
		c.all = append(c.all, r)
		now := c.Clock.Read()
		c.ticks += max(0, c.Clock.ticks(now-last))
		last = now
		done += r.trials.trials
		c.Progress(float64(c.ticks)/float64(budget), string(CounterClock))
		if n := len(c.all); plan.Precision > 0 && n >= enoughRounds && n%fewestRounds == 0 && c.result().Estimate.RelativeHalfWidth() <= plan.Precision {
			break
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
	var apart [readingsKept]int64
	last, before := c.Clock.Read(), c.counter.Read()
	for n := 0; ; n++ {
		now, count := c.Clock.Read(), c.counter.Read()
		apart[n%readingsKept] = count - before
		ticks := c.Clock.ticks(now - last)
		if ticks == 1 && n >= readingsKept && count-before <= wellPlaced*usually(apart) {
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

// usually is what nine in ten are no farther apart than, and 1 at least.
func usually(apart [readingsKept]int64) int64 {
	slices.Sort(apart[:])
	return max(1, apart[readingsKept*9/10])
}

// quiet is the counter's rate over so many ticks, in counts a tick; NaN where the
// clock went backwards.
func (c *counting) quiet(ctx context.Context, ticks int64) (float64, error) {
	first, err := c.edge(ctx)
	if err != nil {
		return 0, err
	}
	for now := first.reading; c.Clock.ticks(now-first.reading) < ticks-1; {
		last := now
		if now = c.Clock.Read(); now < last {
			return math.NaN(), nil // it may take hours to be where it was
		}
		if c.ended(ctx, now != last) {
			return 0, ctx.Err()
		}
	}
	last, err := c.edge(ctx)
	if err != nil {
		return 0, err
	}
	passed := c.Clock.ticks(last.reading - first.reading)
	if passed <= 0 {
		return math.NaN(), nil
	}
	return (last.middle() - first.middle()) / float64(passed), nil
}

// apart keeps the two readings of a trial some 200 ns apart, in empty trials as well:
// a reading takes the count from the cache of another core, and one that follows too
// closely finds it in its own, so that it takes less than within a trial.
const apart = 200

// stretch is trials of the event for so many ticks.
func (c *counting) stretch(ctx context.Context, event func(), ticks int64) (stretch, error) {
	var s stretch
	begun, count := c.Clock.Read(), c.counter.Read()
	last := begun
	for s.trials < trialsAStretch || c.Clock.ticks(last-begun) < ticks {
		start := c.counter.Start()
		clock.Spin(apart)
		if c.Fine == nil {
			event()
		} else {
			fine := c.Fine.Start()
			event()
			s.fine += c.Fine.End() - fine
		}
		s.within += c.counter.End() - start
		s.trials++
		now := c.Clock.Read()
		if now < last {
			s.backward = true
			break
		}
		ticked := now != last
		last = now
		if c.ended(ctx, ticked) {
			return s, ctx.Err()
		}
	}
	s.counts, s.ticks = c.counter.Read()-count, c.Clock.ticks(last-begun)
	return s, nil
}

// A counter keeps its usual rate where a stretch is no slower, nor faster, than this
// share of it.
const usualShare = 0.9

// usual is the rate that the counter has where nothing disturbs it: the upper
// quartile of the rounds.
func (c *counting) usual() float64 {
	var rates []float64
	for _, r := range c.all {
		if r.quiet > 0 && !math.IsInf(r.quiet, 0) {
			rates = append(rates, r.quiet)
		}
	}
	slices.Sort(rates)
	return stats.Quantile(rates, 0.75)
}

// steady reports that the counter ran at that rate throughout a round. A stretch's
// ticks are known but for one at its ends.
func (r round) steady(rate float64) bool {
	for _, s := range []stretch{r.trials, r.empty} {
		if s.backward || float64(s.counts) < usualShare*rate*float64(s.ticks-1) || float64(s.counts)*usualShare > rate*float64(s.ticks+1) {
			return false
		}
	}
	return r.quiet >= usualShare*rate && r.quiet*usualShare <= rate
}

// result judges the rounds.
func (c *counting) result() Result {
	r := c.newResult(CounterClock)
	r.ElapsedNs = float64(c.ticks) * c.Clock.TickNs
	usual := c.usual()
	var kept []round
	backward := 0
	for _, one := range c.all {
		if math.IsNaN(one.quiet) || one.trials.backward || one.empty.backward {
			backward++
		}
		if one.steady(usual) {
			kept = append(kept, one)
		}
	}
	c.meanOfRounds(&r, kept)
	r.Estimate.Discarded = len(c.all) - len(kept)
	switch {
	case len(kept) < fewestRounds:
		r.Lower(stats.Unusable, "%d of %d rounds can be used, %d are needed: let it run for longer, or leave two CPUs alone", len(kept), len(c.all), fewestRounds)
	case 2*len(kept) < len(c.all):
		r.Lower(stats.Suspect, "the counting thread kept its rate in %d of %d rounds: others want its CPU; leave two CPUs alone", len(kept), len(c.all))
	}
	if backward > 0 {
		r.Lower(stats.Suspect, "the clock went backwards in %d rounds, which are left out: it was set, or it wraps; take one that nobody sets, such as a monotonic one", backward)
	}
	return r
}

// meanOfRounds is the counts within trials, at the rate of their round, with an
// interval by the scatter of the rounds.
func (c *counting) meanOfRounds(r *Result, rounds []round) {
	var fine int64
	whole := roundSums{tickNs: c.Clock.TickNs}
	empty := roundSums{tickNs: c.Clock.TickNs}
	for _, one := range rounds {
		whole.add(one.trials, one.quiet)
		empty.add(one.empty, one.quiet)
		fine += one.trials.fine
		r.Trials += one.trials.trials
		r.Edges += one.trials.ticks
	}
	r.Overhead = empty.mean()
	r.Estimate = less(whole.mean(), r.Overhead)
	r.Truth = c.truth(fine, r.Trials)
}

// roundSums are the durations of the trials of each round, and how many they were.
type roundSums struct {
	tickNs     float64
	ns, trials []float64
}

func (s *roundSums) add(one stretch, rate float64) {
	s.ns = append(s.ns, float64(one.within)/rate*s.tickNs)
	s.trials = append(s.trials, float64(one.trials))
}

// mean is a ratio of sums, with its interval by Student's t of the rounds' distances
// from it (Cochran, Sampling Techniques, 3rd ed., section 6.3).
func (s *roundSums) mean() stats.Estimate {
	e := unknown()
	var ns, trials, squares float64
	for i := range s.ns {
		ns, trials = ns+s.ns[i], trials+s.trials[i]
	}
	if trials == 0 {
		return e
	}
	e.N, e.Value = int(trials), ns/trials
	rounds := float64(len(s.ns))
	if rounds < fewestRounds {
		return e
	}
	for i := range s.ns {
		off := s.ns[i] - e.Value*s.trials[i]
		squares += off * off
	}
	half := stats.StudentT(rounds-1) * math.Sqrt(squares*rounds/(rounds-1)) / trials
	e.Lo, e.Hi = e.Value-half, e.Value+half
	return e
}
