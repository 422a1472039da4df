package check

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

const (
	gameTurns   = 64 // turns of each of the two threads in one game
	gameLimit   = 20 * time.Millisecond
	gamesOfPair = 8 // games of each pair in one pass, if there is time
	// fewestHandOvers is the least number of hand-overs by which a clock's order across CPUs can
	// be judged.
	fewestHandOvers = 100
)

// across gathers the readings that threads on different CPUs took of one clock in turn.
type across struct {
	rounds       [][][2]int // the pairs of CPUs that play games in each round, in this order
	fenced, bare BackSteps
	worst        [2]int // the indices of the CPUs between which the clock stepped back the most: from, to
	wraps        BackSteps
	pairs        map[[2]int]*limits
	roundTripNs  float64
}

func newAcross() *across { return &across{pairs: map[[2]int]*limits{}, roundTripNs: math.Inf(1)} }

// pass lets all pairs of the crew play games, round by round of a tournament, as often as budget
// allows, but always at least one round. If the budget is too small for all pairs, the played
// rounds still link every CPU to every other one through a few CPUs, because the order of the
// rounds is random. The order is the same in each pass, because a pair's offset at a time is
// found from a game before that time and one after it.
func (a *across) pass(ctx context.Context, s *subject, c crew, budget time.Duration, nowNs func() float64, rng *rand.Rand) {
	if a.rounds == nil {
		a.rounds = tournament(len(c.cpus()))
		rng.Shuffle(len(a.rounds), func(i, j int) { a.rounds[i], a.rounds[j] = a.rounds[j], a.rounds[i] })
	}
	end := nowNs() + float64(budget)
	for repetition := range gamesOfPair {
		for _, round := range a.rounds {
			for _, g := range c.play(ctx, round, s.fenced, gameTurns, gameLimit) {
				a.note(g, s)
			}
			if s.bare != nil && repetition == 0 {
				for _, g := range c.play(ctx, round, s.bare, gameTurns, gameLimit) {
					a.noteBare(g)
				}
			}
			if ctx.Err() != nil || nowNs() > end {
				return
			}
		}
	}
}

// note adds a game: fenced readings that two threads on different CPUs took in turn. If the counter wrapped, the game
// tells nothing about limits and round trips, and note keeps only the wrap and the other pairs of readings.
func (a *across) note(g game, s *subject) {
	wrapped := false
	for i := 1; i < len(g.handed); i++ {
		before, after := g.handed[i-1], g.handed[i]
		if wrappedAt(before.Ticks, after.Ticks) > 0 {
			a.wraps.compare(before.Ticks, after.Ticks)
			wrapped = true
			continue
		}
		if before.Ticks-after.Ticks > a.fenced.Worst {
			a.worst = [2]int{g.pair[before.Thread], g.pair[after.Thread]}
		}
		a.fenced.compare(before.Ticks, after.Ticks)
	}
	if wrapped || s.Kind != clock.KindCounter || !s.keepsTime || !s.measurable() {
		return
	}
	l, roundTripNs := limitsOf(g, s.tickNs(), s.accuracyNs())
	if a.pairs[g.pair] == nil {
		a.pairs[g.pair] = &limits{}
	}
	a.pairs[g.pair].add(l)
	a.roundTripNs = math.Min(a.roundTripNs, roundTripNs)
}

func (a *across) noteBare(g game) {
	for i := 1; i < len(g.handed); i++ {
		if before, after := g.handed[i-1].Ticks, g.handed[i].Ticks; wrappedAt(before, after) == 0 {
			a.bare.compare(before, after)
		}
	}
}

// judgeAcross judges whether the clock steps back from CPU to CPU. If readings without a fence
// step back and fenced ones do not, the processor took them before their turn: that is
// reordering, not a fault of the clock.
func (r *Report) judgeAcross(s *subject, cpus []int) {
	a := s.across
	if a.fenced.Readings < fewestHandOvers && a.fenced.Count == 0 {
		r.skip(OrderAcross, s.Name, "threads handed over %d readings only; %d would do, on a machine that is less busy or in more time", a.fenced.Readings, fewestHandOvers)
		return
	}
	f := newFinding(s.Name, OrderAcross)
	f.worst(float64(a.fenced.Worst) * s.tickNs())
	if b := a.fenced; b.Count > 0 {
		f.Lower(stats.Unusable, "%d of %d readings that one CPU handed to another step back, by up to %s, from CPU %d to CPU %d",
			b.Count, b.Readings, s.length(b.Worst), cpus[a.worst[0]], cpus[a.worst[1]])
	} else if b := a.bare; b.Count > 0 {
		f.note("read without a fence, %d of %d readings seem to step back from one CPU to another, by up to %s: the processor takes them early; read with a fence there",
			b.Count, b.Readings, s.length(b.Worst))
	}
	r.add(f)
}

// judgeOffsets judges how far the CPUs' readings are apart.
func (r *Report) judgeOffsets(s *subject, cpus []int) {
	if len(s.across.pairs) == 0 {
		return
	}
	o := newOffsets(s.Name, cpus, s.across.pairs, s.accuracyNs())
	o.RoundTripNs = s.across.roundTripNs
	r.Offsets = append(r.Offsets, o)
	if o.Contradictory {
		f := newFinding(s.Name, CPUOffset)
		f.Lower(stats.Unusable, "no constant offsets and rates of the CPUs explain the readings that they handed over: what some CPU shows jumps")
		r.add(f)
		return
	}
	r.judgePairs(o, CPUOffset, o.Offset, s.accuracyNs(), tellingNs, 1, func(e stats.Estimate) string {
		return fmt.Sprintf("is %s %s", stats.Duration(math.Abs(e.Value), 4), either(e.Value > 0, "ahead of", "behind"))
	})
	r.judgePairs(o, CPUSkew, o.Skew, 0, tellingPPM, o.spanNs*1e-6, func(e stats.Estimate) string {
		return fmt.Sprintf("runs %.4g ppm %s than", math.Abs(e.Value), either(e.Value > 0, "faster", "slower"))
	})
}

// mostNamed is the largest number of CPUs that a reason names.
const mostNamed = 4

// judgePairs looks for CPUs that differ from the others by more than tolerance. If there is none,
// but half of the widest interval exceeds telling, that proves nothing, and the question counts
// as not answered. scale is the number of nanoseconds in one unit of the difference.
func (r *Report) judgePairs(o *Offsets, q Question, between func(i, j int) stats.Estimate, tolerance, telling, scale float64, says func(stats.Estimate) string) {
	reference, odd, unknown := majority(o, between, tolerance)
	if unknown > 0 {
		r.skip(q, o.Clock, "%d of %d pairs of CPUs could not be linked by hand-overs before and after the middle of the time: a longer check, or a less busy machine", unknown, o.Pairs)
	}
	if w := widest(o, between); len(odd) == 0 && w > telling {
		r.skip(q, o.Clock, "the difference of two CPUs is known to ± %.4g %s only: a longer check, or a less busy machine", w, between(0, 1).Unit)
		return
	}
	f := newFinding(o.Clock, q)
	var named []string
	for _, j := range odd {
		if e := between(reference, j); len(named) < mostNamed {
			named = append(named, fmt.Sprintf("CPU %d %s CPU %d [%.4g, %.4g]", o.CPUs[j], says(e), o.CPUs[reference], e.Lo, e.Hi))
		}
	}
	if len(odd) > 0 {
		f.Lower(stats.Suspect, "%s%s: measure on one CPU", strings.Join(named, ", "), others(len(odd)-len(named)))
	}
	f.measured(o, between, reference, odd, scale)
	if f.Estimate != nil {
		f.note("%s; widest interval ± %.4g %s", o.coverage(), widest(o, between), f.Estimate.Unit)
		r.add(f)
	}
}

// coverage describes how many pairs of CPUs were measured directly and how many by way of others.
func (o *Offsets) coverage() string {
	if o.Direct == o.Pairs {
		if o.Pairs == 1 {
			return "both CPUs were asked directly"
		}
		return fmt.Sprintf("each of the %d pairs of CPUs was asked directly", o.Pairs)
	}
	return fmt.Sprintf("%d of %d pairs of CPUs were asked directly, the others are bounded by way of third CPUs", o.Direct, o.Pairs)
}

// measured sets the finding's estimate to the difference of the CPU that is off the most, or,
// if none is off, of the CPU that differs the most.
func (f *Finding) measured(o *Offsets, between func(i, j int) stats.Estimate, reference int, odd []int, scale float64) {
	candidates := odd
	if len(candidates) == 0 {
		candidates = indices(len(o.CPUs))
	}
	for _, j := range candidates {
		e := between(reference, j)
		if j == reference || math.IsNaN(e.Value) {
			continue
		}
		if f.Estimate == nil || math.Abs(e.Value) > math.Abs(f.Estimate.Value) {
			f.Estimate = &e
			f.worst(math.Abs(e.Value) * scale)
		}
	}
}

// majority returns the CPU that agrees with the most others as reference, the CPUs that are off
// from it as odd, and the number of pairs that can't be compared as unknown.
func majority(o *Offsets, between func(i, j int) stats.Estimate, tolerance float64) (reference int, odd []int, unknown int) {
	least := math.MaxInt
	for i := range o.CPUs {
		var off []int
		unlinked := 0
		for j := range o.CPUs {
			e := between(i, j)
			switch {
			case i == j:
			case math.IsNaN(e.Value):
				unlinked++
			case e.Lo > tolerance || e.Hi < -tolerance:
				off = append(off, j)
			}
		}
		unknown += unlinked
		if n := len(off) + unlinked; n < least { // a CPU that nothing links to others agrees with none
			reference, odd, least = i, off, n
		}
	}
	return reference, odd, unknown / 2
}

// widest returns half the width of the widest interval.
func widest(o *Offsets, between func(i, j int) stats.Estimate) float64 {
	most := 0.0
	for i := range o.CPUs {
		for j := range i {
			if w := between(i, j).HalfWidth(); w > most { // not of CPUs that nothing links
				most = w
			}
		}
	}
	return most
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more are off", n)
}

func either(yes bool, one, other string) string {
	if yes {
		return one
	}
	return other
}
