package bytecode

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// A group is slow where a sentinel takes so many times what it usually takes: nop beside
// the other groups of the same virtual machine, and beside all of them, between which
// it differs with the layout of the code; ldiv beside all.
const (
	slowInStart = 1.2
	slowNop     = 1.6
	slowDivide  = 1.15
)

// slowGroups are, by start, the groups that were timed while the machine was slow. The
// sentinels stand at the beginning of each group, and so at the end of the one before it.
// Beside competitors all of it is slow, and nothing is left out.
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
		usualHere := lowerQuartile(fast[i])
		for group, ns := range fast[i] {
			if ns > slowInStart*usualHere || ns > slowNop*usualNop || divide[i][group] > slowDivide*usualDivide {
				slow[i][group], slow[i][group-1] = true, true
			}
		}
	}
	return slow
}

// sentinelTimes are what a sentinel took in each group of each start, in ns a trial with
// the overhead, by the finest method that the start has.
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

// usually is what a sentinel takes in all starts of a sort, where nothing slows it down.
func (s *Series) usually(times []map[int]float64, alone bool) float64 {
	all := map[int]float64{}
	for i := range times {
		if s.Starts[i].Alone == alone {
			for _, ns := range times[i] {
				all[len(all)] = ns
			}
		}
	}
	return lowerQuartile(all)
}

func lowerQuartile(times map[int]float64) float64 {
	var values []float64
	for _, ns := range times {
		values = append(values, ns)
	}
	slices.Sort(values)
	return stats.Quantile(values, 0.25)
}
