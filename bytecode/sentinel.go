package bytecode

import (
	"maps"
	"math"
	"slices"

	"chronoscope/stats"
)

// A group is slow if a sentinel takes longer than usual by any of these factors: slowInStart for nop among the
// groups of its start, slowNop for nop among all starts, whose code layouts differ, and slowDivide for ldiv
// among all starts.
const (
	slowInStart = 1.2
	slowNop     = 1.6
	slowDivide  = 1.15
)

// slowGroups returns, for each start, the groups that were timed while the machine was slow. A sentinel
// begins a group and ends the one before it, so both are marked. No group is marked in compiled modes,
// or beside competitors, which slow down all groups.
func (s *Series) slowGroups() []map[int]bool {
	slow := make([]map[int]bool, len(s.Starts))
	for i := range slow {
		slow[i] = map[int]bool{}
	}
	if s.Load > 0 || s.Mode != Interpreter {
		return slow
	}
	fast, divide := s.sentinelTimes(fastSentinel), s.sentinelTimes(slowSentinel)
	for i := range s.Starts {
		alone := s.Starts[i].Alone
		usualNop, usualDivide := s.usually(fast, alone), s.usually(divide, alone)
		usualHere := stats.QuantileOf(slices.Collect(maps.Values(fast[i])), 0.25)
		for group, ns := range fast[i] {
			if ns > slowInStart*usualHere || ns > slowNop*usualNop || divide[i][group] > slowDivide*usualDivide {
				slow[i][group], slow[i][group-1] = true, true
			}
		}
	}
	return slow
}

// sentinelTimes returns the times of a sentinel in each group of each start, in ns per trial including
// overhead, by the finest method of the start.
func (s *Series) sentinelTimes(name string) []map[int]float64 {
	times := make([]map[int]float64, len(s.Starts))
	for i := range s.Starts {
		start := &s.Starts[i]
		times[i] = map[int]float64{}
		at := slices.IndexFunc([]Method{Counter, TSC, Nano}, func(m Method) bool { return slices.Contains(start.Methods, m) })
		if at < 0 {
			continue
		}
		m := []Method{Counter, TSC, Nano}[at]
		from := fineSource(m, m, start.Alone)
		for j := range start.Stretches {
			if x := &start.Stretches[j]; x.Sequence == name {
				if ns := from.perTrial(s, x); !math.IsNaN(ns) {
					times[i][x.Group] = ns
				}
			}
		}
	}
	return times
}

// usually returns the undisturbed time of a sentinel: the lower quartile over all starts of the same
// sort (with the reference alone, or joint).
func (s *Series) usually(times []map[int]float64, alone bool) float64 {
	var all []float64
	for i := range times {
		if s.Starts[i].Alone == alone {
			all = slices.AppendSeq(all, maps.Values(times[i]))
		}
	}
	return stats.QuantileOf(all, 0.25)
}
