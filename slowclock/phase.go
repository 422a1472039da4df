package slowclock

import (
	"math"
	"math/cmplx"
	"slices"
)

// The methods need readings that fall evenly over the tick. If a loop keeps step with the clock,
// its readings fall on the same few places of the tick, and an event that never meets an edge seems
// to take no time. Such a phase lock is visible in the outcomes (outcomesInStep) and in the phases
// of the edges (phasesInStep).

// longestPeriod is the longest period, in trials or ticks, of a pattern that counts as keeping
// step.
const longestPeriod = 4

// The series is judged in stretches of fewestInStep to longestStretch edges, since every
// interruption shifts the phase between loop and clock.
const (
	longestStretch = 256
	fewestInStep   = 20
)

// locked reports whether the trials kept step with the clock in most of the stretches that are long
// enough to judge. A loop that is interrupted every few edges can't keep step, unless its event
// waits for the clock.
func (l *laboratory) locked(t *tally) bool {
	if surely, _ := t.pauses.waits(); surely {
		return true
	}
	judged, inStep := 0, 0
	for _, edges := range stretches(t.edges) {
		judged += len(edges)
		if outcomesInStep(places(edges, edges[0].trial)) || l.phasesInStep(t, edges) {
			inStep += len(edges)
		}
	}
	return 2*inStep > judged
}

// pauseCounts counts the pauses before trials. Each trial follows a pause of up to a tick.
type pauseCounts struct {
	all, short float64
	// shortUnseen counts pauses shorter than shortPause during which the clock did not tick,
	// longUnseen those longer than longPause, and disturbed the pauses with several ticks, in which
	// other programs took the CPU.
	shortUnseen, longUnseen, disturbed float64
}

// These are lengths of pauses in ticks.
const shortPause, longPause = 0.5, 0.8

// with returns the counts with another pause, during which the clock ticked `seen` times.
func (p pauseCounts) with(pauseTicks float64, seen int64) pauseCounts {
	p.all++
	if pauseTicks < shortPause {
		p.short++
	}
	switch {
	case seen > 1:
		p.disturbed++
	case seen == 0 && pauseTicks < shortPause:
		p.shortUnseen++
	case seen == 0 && pauseTicks > longPause:
		p.longUnseen++
	}
	return p
}

// waits reports whether events surely, or possibly, wait for an edge of the clock. If events wait, each pause begins
// right after an edge, and the clock does not tick during it, unless other programs take the CPU. If events don't
// wait, a pause begins anywhere in the tick, and the clock does not tick during a pause of u ticks with a probability
// of at most 1-u. Then at most three of four pauses below shortPause pass without a tick, and one of ten above
// longPause, on average. possibly is also true if the pauses don't decide the question.
func (p pauseCounts) waits() (surely, possibly bool) {
	const (
		evenly     = (1 - longPause) * (1 - longPause) / (1 - (1-shortPause)*(1-shortPause))
		afterEdges = 4 * evenly // a lower bound if other programs rarely take the CPU
		rarely     = 0.02
	)
	if p.all == 0 {
		return false, false
	}
	const ofShort, variance = 1 - shortPause/2, shortPause/2 - shortPause*shortPause/3
	surely = clearlyMore(p.longUnseen, evenly*p.shortUnseen, evenly*p.shortUnseen) || clearlyMore(p.shortUnseen, ofShort*p.short, variance*p.short)
	possibly = p.disturbed > rarely*p.all || p.longUnseen+2*math.Sqrt(p.longUnseen+1) > afterEdges*p.shortUnseen
	return surely, surely || possibly
}

// clearlyMore reports whether seen exceeds expected by more than chance explains.
func clearlyMore(seen, expected, variance float64) bool {
	const deviations = 4
	return seen > expected+deviations*math.Sqrt(variance+1)
}

// stretches divides edges into uninterrupted runs of fewestInStep to longestStretch edges.
func stretches(edges []tick) [][]tick {
	if len(edges) < fewestInStep {
		return nil
	}
	usual := usualStep(edges)
	var all [][]tick
	from := 0
	for i := 1; i <= len(edges); i++ {
		if i < len(edges) && i-from < longestStretch && edges[i].after(edges[i-1]).like(usual) {
			continue
		}
		if i-from >= fewestInStep {
			all = append(all, edges[from:i])
		}
		from = i
	}
	return all
}

// step is the number of trials and of ticks from one edge that was seen to the next.
type step struct{ trials, ticks int64 }

func (e tick) after(last tick) step { return step{e.trial - last.trial, e.before + e.within} }

// usualStep returns the usual step from one edge to the next: the median number of trials and the median number of
// ticks.
func usualStep(edges []tick) step {
	var trials, ticks []int64
	for i := range edges[1:] {
		s := edges[i+1].after(edges[i])
		trials, ticks = append(trials, s.trials), append(ticks, s.ticks)
	}
	slices.Sort(trials)
	slices.Sort(ticks)
	return step{trials[len(trials)/2], ticks[len(ticks)/2]}
}

// like reports whether a step was not interrupted. An interruption leads to fewer trials per tick,
// or more ticks per trial. Otherwise the number of trials per tick varies by one, and by more if
// there are many and events vary.
func (s step) like(usual step) bool {
	off := s.trials - usual.trials
	return max(off, -off) <= 1+usual.trials/16 && s.ticks <= usual.ticks+1+usual.ticks/16
}

// places returns where ticks fall relative to trials, as a sequence that repeats if the loop keeps step with the clock.
// With several trials per tick, a tick before trial k gives 2k, and one within trial k gives 2k+1. With several ticks
// per trial, each listed trial gives twice the number of ticks before it, plus the number of ticks within it.
func places(edges []tick, first int64) []int64 {
	var perTick, perTrial []int64
	passed := int64(0)
	for _, e := range edges {
		trial := e.trial - first
		for range min(e.before, longestStretch) {
			perTick = append(perTick, 2*trial)
		}
		for range min(e.within, longestStretch) {
			perTick = append(perTick, 2*trial+1)
		}
		perTrial = append(perTrial, 2*(passed+e.before)+e.within)
		passed += e.before + e.within
	}
	if trials := edges[len(edges)-1].trial - first + 1; int64(len(perTick)) <= trials {
		return perTick
	}
	return perTrial
}

// outcomesInStep reports whether a sequence of places repeats with a period of up to longestPeriod.
// Two of the places may vary, since an edge may fall on the start or the end of a trial. A loop
// that drifts relative to the clock soon meets other places.
func outcomesInStep(places []int64) bool {
	n := len(places)
	if n < fewestInStep {
		return false
	}
	for period := 1; period <= longestPeriod; period++ {
		repeats := (n - 1) / period * period
		advance := 2 * int64(math.Round(float64(places[repeats]-places[0])/2*float64(period)/float64(repeats)))
		seen := map[[2]int64]bool{}
		for i, place := range places {
			class := int64(i % period)
			seen[[2]int64{class, place - int64(i/period)*advance}] = true
		}
		if len(seen) <= period+2 && (period == 1 || n >= 6*fewestInStep) {
			return true
		}
	}
	return false
}

// phasesInStep reports whether the trials that saw the clock advance started at the same places of
// the tick, or of the loop if that is shorter, by the finer clock.
func (l *laboratory) phasesInStep(t *tally, edges []tick) bool {
	if l.Fine == nil {
		return false
	}
	// The loop's length is measured in ticks. Only trials that see a single tick count, because a trial
	// that was preempted sees several.
	loop := math.Min(1, float64(t.elapsed())/float64(t.trials))
	if loop < 1 {
		single := 0
		for _, e := range edges {
			if e.before+e.within == 1 {
				single++
			}
		}
		loop = float64(single) / float64(edges[len(edges)-1].trial-edges[0].trial+1)
	}
	if loop > 0.5 && loop < 1 {
		return false // a start can't be assigned to one edge
	}
	phases := make([]float64, 0, len(edges))
	for _, e := range edges {
		if loop < 1 && e.before+e.within > 1 {
			continue // the trial was preempted; schedulers preempt at ticks, so its place means nothing
		}
		ticks := l.Fine.Ns(e.fineStart-edges[0].fineStart) / l.Clock.TickNs
		phases = append(phases, (ticks-math.Round(ticks))/loop)
	}
	return PhaseLocked(phases)
}

// PhaseLocked reports whether phases, in turns, keep to a few places of the circle: to one place,
// or to up to four at even distances. It is a Rayleigh test (Mardia and Jupp, Directional
// Statistics, 2000, section 6.3.1) of the phases and their multiples, which requires a large effect
// in addition to significance: the mean of the unit vectors has to be at least half a unit long.
// Successive phases may be far from independent, and yet spread out in the end.
func PhaseLocked(phases []float64) bool {
	if len(phases) < fewestInStep {
		return false
	}
	n := float64(len(phases))
	least := math.Max(0.5, math.Sqrt(8/n))
	for multiple := 1.0; multiple <= longestPeriod; multiple++ {
		var sum complex128
		for _, phase := range phases {
			sum += cmplx.Rect(1, 2*math.Pi*multiple*phase)
		}
		if cmplx.Abs(sum)/n >= least {
			return true
		}
	}
	return false
}
