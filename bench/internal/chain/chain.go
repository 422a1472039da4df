// Package chain is work of known length: a chain of dependent multiplications,
// whose time goes with the core's rate and with nothing else.
package chain

import (
	"math"
	"runtime"
	"slices"
	"time"

	"chronoscope/stats"
)

// Work is a function of known length.
type Work struct {
	// Do runs the work. Each call's chain continues that of the previous one, so that a processor
	// can't work on two calls at once: else a call's time would depend on the code around it.
	Do     func()
	rounds int
}

var state uint64 = 3

// spin goes on with the chain.
//
//go:noinline
func spin(rounds int) {
	x := state
	for range rounds {
		x *= 6364136223846793005
	}
	state = x
}

func newWork(rounds int) Work { return Work{Do: func() { spin(rounds) }, rounds: rounds} }

// Reference is work of a known number of cycles (NaN if those of a round are unknown), long enough
// for the overhead of a call not to matter.
func Reference() (w Work, cycles float64) {
	w = newWork(batchRounds)
	if roundCycles() == 0 {
		return w, math.NaN()
	}
	return w, roundCycles() * batchRounds
}

// Of is work that takes about ns nanoseconds.
func Of(ns float64) Work { return newWork(max(1, int(ns/perRound(500)))) }

// roundCycles of the core are one round: the latency of imul r64, r64 on every Intel
// core since Nehalem and on every Zen core (uops.info). 0 where it is not known.
func roundCycles() float64 {
	if runtime.GOARCH == "amd64" {
		return 3
	}
	return 0
}

// batchNs is long beside a reading of the clock, and short enough that most batches
// escape every disturbance.
const (
	batchNs     = 25e3
	batchRounds = 30000
)

// Truth is how long a call takes now, in nanoseconds and in cycles of the core, by
// what very many short batches show over time d. Work longer than a batch is so many
// rounds of the chain. The cycles are NaN where a round's are not known; they hold
// at any rate of the core.
func (w Work) Truth(d time.Duration) (ns, cycles float64) {
	n := max(50, int(d/(6*batchNs)))
	round := perRound(n)
	ns = round * float64(w.rounds)
	if ns < batchNs {
		calls := max(1, int(batchNs/ns))
		// The rate of the core may change in between: the rounds of before and after.
		ns = fast(repeat(w.Do, calls), repeat(w.Do, 2*calls), n) / float64(calls)
		round = (round + perRound(n)) / 2
	}
	if roundCycles() == 0 {
		return ns, math.NaN()
	}
	return ns, ns / round * roundCycles()
}

func perRound(n int) float64 {
	return fast(func() { spin(batchRounds) }, func() { spin(2 * batchRounds) }, n) / batchRounds
}

func repeat(do func(), n int) func() {
	return func() {
		for range n {
			do()
		}
	}
}

// escaped is the share of batches that escape, with some to spare; a quantile stands
// up to a core that runs faster for a moment, as the least does not.
const escaped = 0.1

// fast is what the second function takes beyond the first, so that the clock's cost
// is left out (the fit of Bryant 2003, section 9.4.3, with two points).
func fast(one, two func(), n int) float64 {
	var ones, twos []float64
	for range n {
		start := time.Now()
		one()
		middle := time.Now()
		two()
		end := time.Now()
		ones = append(ones, float64(middle.Sub(start)))
		twos = append(twos, float64(end.Sub(middle)))
	}
	slices.Sort(ones)
	slices.Sort(twos)
	return stats.Quantile(twos, escaped) - stats.Quantile(ones, escaped)
}
