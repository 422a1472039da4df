package bytecode

import (
	"math"

	"chronoscope/stats"
)

// fewestGroups is the least number of groups from which lostCounts can be estimated.
const fewestGroups = 5

// correctRates sets the rate of each stretch to the rate that the counter has while nobody reads it.
//
// A reading moves the cache line of the count to another core, and the counting thread waits to get it
// back, for a time that depends on where the two cores are. So the counter is slower while trials are
// short. Each trial costs the counter the same number of counts. The empty sequence and ldiv are timed
// in every group, and the slope of the line through their counts and times is the undisturbed rate.
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

// lostCounts returns the number of counts that a trial costs the counter: the median over the groups, 0
// if there are too few groups.
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
