package slowclock

import (
	"math"

	"chronoscope/stats"
)

// tally is what a series of trials with a slow clock has shown. It takes the same
// memory for any number of trials.
type tally struct {
	counts
	// edges are the first of the trials before or within which the clock ticked, in
	// their order; room for them is made before the first trial.
	edges []tick
	// blocks are sums over stretches of equally many trials, the last of which may
	// not be complete; blockTrials is how many a complete one has.
	blocks      []counts
	blockTrials int64
	// paused says that pauses of random length keep the edges' places in the loop apart.
	paused bool
	pauses pauseCounts
}

// counts are sums over trials.
type counts struct {
	trials int64
	// within are ticks in the timed regions, before those outside of them.
	within, before int64
	// ones is how many trials saw any tick, squares sums the squares of their ticks.
	ones    int64
	squares float64
	// most is the largest number of ticks that one trial saw, or that went by before
	// one.
	mostWithin, mostBefore int64
	// backward is how many trials were left out, since the clock went backwards.
	backward int64
	// fine is the sum of the durations that a finer clock saw, in its ticks.
	fine int64
}

// tick is a trial during or before which the clock ticked, with the number of ticks before it and
// within it.
type tick struct {
	trial          int64
	before, within int64
	fineStart      int64
}

const (
	mostBlocks = 128
	mostEdges  = 4096
)

func newTally() *tally {
	return &tally{edges: make([]tick, 0, mostEdges), blocks: append(make([]counts, 0, mostBlocks), counts{}), blockTrials: 1}
}

// add enters a trial.
func (t *tally) add(before, within, fineStart, fine int64) {
	if before < 0 || within < 0 {
		t.backward++
		return
	}
	if before|within != 0 && len(t.edges) < mostEdges {
		t.edges = append(t.edges, tick{t.trials, before, within, fineStart})
	}
	t.counts.add(before, within, fine)
	if t.blocks[len(t.blocks)-1].trials == t.blockTrials {
		t.openBlock()
	}
	t.blocks[len(t.blocks)-1].add(before, within, fine)
}

func (c *counts) add(before, within, fine int64) {
	c.trials++
	c.fine += fine
	if before|within == 0 {
		return
	}
	c.before += before
	c.within += within
	c.mostBefore = max(c.mostBefore, before)
	if within > 0 {
		c.ones++
		c.squares += float64(within) * float64(within)
		c.mostWithin = max(c.mostWithin, within)
	}
}

// A single step that holds this share of all ticks, and at least this number, is no usual disturbance: the
// clock was set, or the machine stood still.
const (
	mostOfAll   = 0.25
	fewestAJump = 10
)

// withoutJumps leaves out one trial, or the ticks between two trials, if it holds most of all ticks.
// It returns the number of ticks that were left out.
func (t *tally) withoutJumps() (left tally, jumped int64) {
	left = *t
	left.blocks = append([]counts(nil), t.blocks...)
	isJump := func(ticks int64) bool {
		return ticks >= fewestAJump && float64(ticks) > mostOfAll*float64(t.elapsed())
	}
	if within := t.mostWithin; isJump(within) {
		jumped += within
		left.take(func(c *counts) bool { return c.mostWithin == within }, func(c *counts) {
			c.trials, c.ones, c.within, c.squares = c.trials-1, c.ones-1, c.within-within, c.squares-float64(within)*float64(within)
			c.mostWithin = 0
		})
	}
	if before := t.mostBefore; isJump(before) {
		jumped += before
		left.take(func(c *counts) bool { return c.mostBefore == before }, func(c *counts) {
			c.before -= before
			c.mostBefore = 0
		})
	}
	return left, jumped
}

// take changes the sums, and those of the block that holds what is taken.
func (t *tally) take(holds func(*counts) bool, change func(*counts)) {
	change(&t.counts)
	for i := range t.blocks {
		if holds(&t.blocks[i]) {
			change(&t.blocks[i])
			return
		}
	}
}

// openBlock begins another block. If there is no room, pairs of blocks are joined first.
func (t *tally) openBlock() {
	if len(t.blocks) == mostBlocks {
		for i := range mostBlocks / 2 {
			t.blocks[i] = t.blocks[2*i].plus(t.blocks[2*i+1])
		}
		t.blocks = t.blocks[:mostBlocks/2]
		t.blockTrials *= 2
	}
	t.blocks = append(t.blocks, counts{})
}

func (c counts) plus(o counts) counts {
	return counts{
		trials: c.trials + o.trials, within: c.within + o.within, before: c.before + o.before,
		ones: c.ones + o.ones, squares: c.squares + o.squares, backward: c.backward + o.backward,
		mostWithin: max(c.mostWithin, o.mostWithin), mostBefore: max(c.mostBefore, o.mostBefore),
		fine: c.fine + o.fine,
	}
}

// elapsed is how many ticks went by in all.
func (c counts) elapsed() int64 { return c.within + c.before }

// complete are the blocks of full length.
func (t *tally) complete() []counts {
	if n := len(t.blocks); t.blocks[n-1].trials < t.blockTrials {
		return t.blocks[:n-1]
	}
	return t.blocks
}

// expectedDispersion is the dispersion that is assumed before the data show it. Without pauses the
// loop may drift slowly against the clock, so that up to four neighbouring edges in a row meet the
// same place of the loop and count as one. The more edges are seen, the less that matters, since the
// loop's own variation separates them.
func (t *tally) expectedDispersion() float64 {
	const alike, few = 4, 2
	if t.paused {
		return 1
	}
	return 1 + (alike-1)*math.Min(1, math.Pow(few/math.Max(1, float64(t.within)), 2))
}

// estimate is the mean number of ticks of a trial with its interval, for an outcome.
//
// Trials within one tick are not independent, since only one of them can see the next edge. The
// independent events are edges, where trials are shorter than a tick, and trials where they are
// longer; the number of chances is the smaller of both numbers. The sums over blocks of the series
// show how much more, or less, than independent chances they scatter: neighbouring edges may fall on
// similar places of the loop, or on complementary ones.
func (t *tally) estimate(outcome outcome) stats.Estimate {
	sum, squares := outcome(t.counts)
	n := float64(t.trials)
	nan := math.NaN()
	e := stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ticks", Statistic: "mean", N: int(t.trials), Discarded: int(t.backward)}
	if t.trials == 0 {
		return e
	}
	e.Value = sum / n
	units := math.Max(1, math.Min(n, float64(t.elapsed())))
	perUnit := sum / units
	f := perUnit - math.Floor(perUnit)
	s := stats.Scatter{Units: units, Dispersion: t.expectedDispersion()}
	s.Extra = math.Max(0, squares/units-perUnit*perUnit-f*(1-f))
	t.disperse(&s, outcome, f*(1-f)+s.Extra)
	lo, hi := stats.ScoreInterval(perUnit, s)
	e.Lo, e.Hi = lo*units/n, hi*units/n
	return e
}

// disperse compares the scatter of the blocks' sums with that of independent chances, where variance
// is that of one chance.
func (t *tally) disperse(s *stats.Scatter, outcome outcome, variance float64) {
	blocks := t.complete()
	sum, _ := outcome(t.counts)
	// Fewer blocks, so that each holds some ticks.
	for len(blocks) > 8 && sum < 4*float64(len(blocks)) {
		joined := make([]counts, 0, len(blocks)/2)
		for i := 0; i+1 < len(blocks); i += 2 {
			joined = append(joined, blocks[i].plus(blocks[i+1]))
		}
		blocks = joined
	}
	if len(blocks) < 2 || variance <= 0 {
		return
	}
	perBlock := variance * s.Units * float64(blocks[0].trials) / float64(t.trials)
	var sums []float64
	for _, b := range blocks {
		sum, _ := outcome(b)
		sums = append(sums, sum)
	}
	_, squares := meanAndSquares(sums)
	s.Observe(squares/perBlock, float64(len(blocks)-1), variance)
}

// meanAndSquares are the mean of values and the sum of the squares of their
// distances from it.
func meanAndSquares(values []float64) (mean, squares float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}

// outcome is what a trial counts: the sum over trials, and that of the squares.
type outcome func(counts) (sum, squares float64)

// oneOrNone is the outcome of Lambert 2008, section 2.1.
func oneOrNone(c counts) (sum, squares float64) { return float64(c.ones), float64(c.ones) }

// allTicks is the outcome that Falco 2009 adds up.
func allTicks(c counts) (sum, squares float64) { return float64(c.within), c.squares }
