package bytecode

import (
	"math"

	"chronoscope/stats"
)

// fewestGroups is how many groups it takes to tell what readings cost the counter.
const fewestGroups = 5

// correctRates gives each stretch the rate that the counter has while nobody reads it.
//
// A reading takes the count away from the core that keeps it, and the counting thread has
// to wait until it has it back. How long that takes depends on where the two cores are. So
// the counter is the slower the shorter the trials are, while it is not within a long
// sequence. Each trial costs as many counts: of the empty sequence and of ldiv, which are
// timed in each group, the counts and the time of a trial are known, and the line through
// both has the undisturbed rate as its slope.
func (s *Series) correctRates() {
	for i := range s.Starts {
		lost := s.Starts[i].lostCounts()
		for j := range s.Starts[i].Stretches {
			x := &s.Starts[i].Stretches[j]
			x.rate = x.CountsAMilli
			if x.SteadyMillis > 0 {
				x.rate += lost * float64(x.Kept[Counter].Trials) / x.SteadyMillis
			}
		}
	}
}

// lostCounts are what a trial costs the counter, as the median of the groups; 0 where there
// are too few of them.
func (s *Start) lostCounts() float64 {
	empty, divide := map[int]*Stretch{}, map[int]*Stretch{}
	for j := range s.Stretches {
		x := &s.Stretches[j]
		switch {
		case x.SteadyMillis <= 0 || x.Kept[Counter].Trials == 0:
		case x.Sequence == emptyName:
			empty[x.Group] = x
		case x.Sequence == slowSentinel:
			divide[x.Group] = x
		}
	}
	var lost []float64
	for group, short := range empty {
		long := divide[group]
		if long == nil {
			continue
		}
		shortMs := short.SteadyMillis / float64(short.Kept[Counter].Trials)
		longMs := long.SteadyMillis / float64(long.Kept[Counter].Trials)
		if longMs > 2*shortMs {
			lost = append(lost, shortMs*longMs*(long.CountsAMilli-short.CountsAMilli)/(longMs-shortMs))
		}
	}
	if len(lost) < fewestGroups {
		return 0
	}
	return math.Max(0, stats.Median(lost))
}
