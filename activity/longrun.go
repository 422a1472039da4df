package activity

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// cyclesForInterval is the least number of cycles whose spread gives an interval of their mean.
const cyclesForInterval = 20

// LongRunInactive estimates the share of time, 0 to 1, that the thread can expect to be inactive
// over a longer time than the trace (Bryant 2003, practice problem 9.2). tick is the timer's comb;
// it may be nil.
//
// Processes alternate on the CPU. A short trace begins and ends within a turn, so that its own
// share depends on where it begins. Here only whole cycles count. A cycle lasts from the start of
// one loss of the CPU to the start of the next; if the CPU was not lost twice, from one tick to the
// next.
//
// The interval follows from how the cycles differ, by the jackknife of the logarithm of the odds
// (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 11) and Student's t. It holds if
// cycles are independent of one another and the load stays the same. With too few cycles the value
// is valid, the bounds are NaN, and the error is a *stats.TooFewError; without any cycle the value
// is NaN.
func (t *Trace) LongRunInactive(tick *Comb) (stats.Estimate, error) {
	cycles := t.cyclesFrom(t.losses(tick))
	if len(cycles) == 0 && tick != nil {
		cycles = t.cyclesFrom(tick.Gaps)
	}
	return inactiveShare(cycles)
}

// cycle is the length of one alternation, and the inactive time in it.
type cycle struct{ ns, inactiveNs float64 }

// losses returns the gaps in which the thread lost its CPU, except one that had begun before the
// trace did.
func (t *Trace) losses(tick *Comb) []int {
	var gaps []int
	for i := range t.Gaps {
		if t.Gaps[i].Start > 0 && t.lost(i, tick) {
			gaps = append(gaps, i)
		}
	}
	return gaps
}

func (t *Trace) cyclesFrom(gaps []int) []cycle {
	var cycles []cycle
	for n := 1; n < len(gaps); n++ {
		from, to := gaps[n-1], gaps[n]
		c := cycle{ns: t.Ns(t.Gaps[to].Start - t.Gaps[from].Start)}
		for _, g := range t.Gaps[from:to] {
			c.inactiveNs += t.Ns(g.Ticks)
		}
		cycles = append(cycles, c)
	}
	return cycles
}

func inactiveShare(cycles []cycle) (stats.Estimate, error) {
	var all cycle
	for _, c := range cycles {
		all.ns += c.ns
		all.inactiveNs += c.inactiveNs
	}
	e := stats.Estimate{Value: all.inactiveNs / all.ns, Lo: math.NaN(), Hi: math.NaN(), Statistic: "ratio", N: len(cycles)}
	if len(cycles) < cyclesForInterval {
		return e, &stats.TooFewError{Want: "a 95 % interval of the inactive share", Have: len(cycles), Need: cyclesForInterval}
	}
	e.Lo, e.Hi = jackknifed(all, cycles)
	return e, nil
}

// jackknifed returns the interval of the inactive share. It is computed on the scale of log-odds,
// so that no bound can lie outside 0 to 1. If the odds of some cycles are 0 or infinite, the
// interval is 0 to 1.
func jackknifed(all cycle, cycles []cycle) (lo, hi float64) {
	n := float64(len(cycles))
	pseudo := make([]float64, len(cycles))
	for i, c := range cycles {
		others := cycle{all.ns - c.ns, all.inactiveNs - c.inactiveNs}
		pseudo[i] = n*all.logOdds() - (n-1)*others.logOdds()
	}
	half := stats.StudentT(n-1) * stat.StdDev(pseudo, nil) / math.Sqrt(n)
	if math.IsNaN(half) || math.IsInf(half, 0) {
		return 0, 1
	}
	return share(all.logOdds() - half), share(all.logOdds() + half)
}

func (c cycle) logOdds() float64 { return math.Log(c.inactiveNs / (c.ns - c.inactiveNs)) }

func share(logOdds float64) float64 { return 1 / (1 + math.Exp(-logOdds)) }
