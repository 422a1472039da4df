package slowclock

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// tally sums up a series of trials with a slow clock. It takes the same memory for any number of
// trials.
type tally struct {
	counts
	// edges holds the first of the trials before or within which the clock ticked, in order. Its
	// memory is allocated before the first trial.
	edges []tick
	// blocks are sums over stretches with the same number of trials. The last block may be
	// incomplete; blockTrials is the number of trials in a complete one.
	blocks      []counts
	blockTrials int64
	// paused says that random pauses make the edges' places in the loop independent.
	paused bool
	pauses pauseCounts
}

// counts are sums over trials.
type counts struct {
	trials int64
	// within is the number of ticks in the timed regions, before the number of ticks outside of
	// them.
	within, before int64
	// ones is the number of trials that saw any tick, squares the sum of the squares of the trials'
	// ticks.
	ones    int64
	squares float64
	// mostWithin is the largest number of ticks within one trial, and mostBefore the largest number
	// between two trials.
	mostWithin, mostBefore int64
	// backward is the number of trials that were left out because the clock went backwards.
	backward int64
	// fine is the sum of the durations by a finer clock, in its ticks.
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

// A single step with this share of all ticks, and at least this number of ticks, is no ordinary
// disturbance: the clock was set, or the machine stood still.
const (
	mostOfAll   = 0.25
	fewestAJump = 10
)

// withoutJumps leaves out one trial, or the ticks between two trials, if it has most of all ticks.
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

// take changes the sums of the tally, and those of the first block for which holds is true.
func (t *tally) take(holds func(*counts) bool, change func(*counts)) {
	change(&t.counts)
	for i := range t.blocks {
		if holds(&t.blocks[i]) {
			change(&t.blocks[i])
			return
		}
	}
}

// openBlock begins another block. If there is no room, it first joins pairs of blocks.
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

// elapsed returns the number of ticks within and between the trials.
func (c counts) elapsed() int64 { return c.within + c.before }

// complete returns the blocks of full length.
func (t *tally) complete() []counts {
	if n := len(t.blocks); t.blocks[n-1].trials < t.blockTrials {
		return t.blocks[:n-1]
	}
	return t.blocks
}

// expectedDispersion returns the dispersion that is assumed before the data show it. Without pauses
// the loop may drift slowly relative to the clock, so that up to four successive edges meet the
// same place of the loop and count as one. With more edges that matters less, since the loop's own
// variation separates them.
func (t *tally) expectedDispersion() float64 {
	const alike, few = 4, 2
	if t.paused {
		return 1
	}
	return 1 + (alike-1)*math.Min(1, math.Pow(few/math.Max(1, float64(t.within)), 2))
}

// estimate returns the mean number of ticks of a trial with its interval, for an outcome.
//
// Trials within one tick are not independent, since only one of them can see the next edge. If
// trials are shorter than a tick, edges are the independent events, otherwise trials are; the
// number of independent events is the smaller of both numbers. The sums over blocks of the series
// show how much more, or less, they scatter than independent events: neighbouring edges may fall on
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

// disperse compares the scatter of the blocks' sums with that of independent events that each
// have the given variance.
func (t *tally) disperse(s *stats.Scatter, outcome outcome, variance float64) {
	blocks := t.complete()
	sum, _ := outcome(t.counts)
	// Fewer blocks, so that each contains some ticks.
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
	_, spread := stat.PopMeanVariance(sums, nil)
	s.Observe(float64(len(sums))*spread/perBlock, float64(len(blocks)-1), variance)
}

// outcome returns what trials count: the sum over trials, and the sum of the squares.
type outcome func(counts) (sum, squares float64)

// oneOrNone is the outcome of Lambert 2008, section 2.1: whether a trial saw a tick.
func oneOrNone(c counts) (sum, squares float64) { return float64(c.ones), float64(c.ones) }

// allTicks is the outcome of Falco 2009.
func allTicks(c counts) (sum, squares float64) { return float64(c.within), c.squares }
