package validate

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/activity"
	"chronoscope/stats"
)

// Losses are the times that interrupts took from a thread, as a trace of the CPU shows them:
// interrupts of this kernel and of its host. Time in which other threads had the CPU is left out.
// All times are nanoseconds.
type Losses struct {
	WatchedNs float64 `json:"watched_ns"`
	All       []Loss  `json:"all"` // in order
}

// Loss is one interrupt. AtNs is when it began, counted from the start of the trace without the time of
// other threads; SumNs is the time that the thread had lost when it ended.
type Loss struct {
	AtNs  float64 `json:"at_ns"`
	SumNs float64 `json:"sum_ns"`
}

// shortestInterruptNs is less than any interrupt takes. A shorter gap is a stall of the core, which slows short batches
// and long runs by the same share.
const shortestInterruptNs = 1e3

// lossesOf returns the losses in an analysed trace, without what the recording itself took.
func lossesOf(t *activity.Trace) Losses {
	l := Losses{WatchedNs: t.Ns(t.Length)}
	var awayNs, sumNs float64
	for _, g := range t.Gaps {
		ns := t.Ns(g.Ticks)
		switch {
		case g.Cause.LostCPU():
			awayNs += ns
		case !g.Own && ns >= shortestInterruptNs:
			sumNs += ns
			l.All = append(l.All, Loss{t.Ns(g.Start) - awayNs, sumNs})
		}
	}
	l.WatchedNs -= awayNs
	return l
}

// then appends the losses of a later trace.
func (l Losses) then(next Losses) Losses {
	joined := Losses{l.WatchedNs + next.WatchedNs, slices.Clone(l.All)}
	sumNs := l.until(l.WatchedNs)
	for _, x := range next.All {
		joined.All = append(joined.All, Loss{l.WatchedNs + x.AtNs, sumNs + x.SumNs})
	}
	return joined
}

// stretches is the number of stretches of a trace whose losses leastOf compares. At least fewestStretches must fit into
// the trace without overlap.
const (
	stretches       = 256
	fewestStretches = 8
)

// golden is the golden ratio less 1. The fractional parts of its multiples are spread evenly, and are
// not in step with any timer.
const golden = 0.6180339887498949

// leastOf estimates what interrupts took from a run of lengthNs which is the rank-th shortest of n
// runs. It cuts the trace into stretches as long as the run, and returns the quantile rank/(n+1) of
// their losses. If too few stretches fit into the trace it uses shorter ones and adds them up, as
// if they were independent.
//
// The source subtracts the least cost of one interrupt times the number of interrupts (Bryant 2003, section
// 9.4.3). If costs are skewed, as on a virtual machine, this product is a third of what a long run loses,
// since most interrupts of such a run cost more than the cheapest one.
func (l Losses) leastOf(rank, n int, lengthNs float64) float64 {
	if !(lengthNs > 0) || !(l.WatchedNs > 0) {
		return 0
	}
	pieces := math.Ceil(lengthNs * fewestStretches / l.WatchedNs)
	piece := lengthNs / pieces
	lost := make([]float64, stretches)
	for i := range lost {
		_, share := math.Modf(golden * float64(i))
		from := share * (l.WatchedNs - piece)
		lost[i] = l.until(from+piece) - l.until(from)
	}
	slices.Sort(lost)
	middle := stats.Quantile(lost, 0.5) // a mean would include bursts of other disturbances
	return pieces*middle + math.Sqrt(pieces)*(stats.Quantile(lost, float64(rank)/float64(n+1))-middle)
}

// without subtracts ns that were spent waiting for other threads. It takes them from the longest
// losses, since another thread's turn is longer than an interrupt.
func (l Losses) without(ns float64) Losses {
	if !(ns > 0) {
		return l
	}
	each := make([]float64, len(l.All))
	order := make([]int, len(l.All))
	before := 0.0
	for i, x := range l.All {
		each[i], order[i] = x.SumNs-before, i
		before = x.SumNs
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(each[b], each[a]) })
	for _, i := range order {
		off := math.Min(ns, each[i])
		each[i] -= off
		ns -= off
	}
	rest, sumNs := Losses{WatchedNs: l.WatchedNs}, 0.0
	for i, x := range l.All {
		sumNs += each[i]
		rest.All = append(rest.All, Loss{x.AtNs, sumNs})
	}
	return rest
}

// until returns the time, in nanoseconds, that was lost up to the moment ns.
func (l Losses) until(ns float64) float64 {
	i, _ := slices.BinarySearchFunc(l.All, ns, func(x Loss, ns float64) int { return cmp.Compare(x.AtNs, ns) })
	if i == 0 {
		return 0
	}
	return l.All[i-1].SumNs
}
