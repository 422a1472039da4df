// Package chain provides work of known length: a chain of dependent multiplications, whose time depends on the
// core's rate and on nothing else.
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

// spin continues the chain.
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

// Reference returns work and its number of cycles (NaN if those of a round are unknown). The work is long
// enough for the overhead of a call not to matter.
func Reference() (w Work, cycles float64) {
	w = newWork(batchRounds)
	if roundCycles() == 0 {
		return w, math.NaN()
	}
	return w, roundCycles() * batchRounds
}

// Of returns work that takes about ns nanoseconds.
func Of(ns float64) Work { return newWork(max(1, int(ns/perRound(500)))) }

// roundCycles returns the number of core cycles in a round: the latency of imul r64, r64 on every Intel core
// since Nehalem and on every Zen core (uops.info). It is 0 if unknown.
func roundCycles() float64 {
	if runtime.GOARCH == "amd64" {
		return 3
	}
	return 0
}

// batchNs is the length of a batch, in nanoseconds: long compared with a reading of the clock, and so short
// that most batches escape every disturbance. batchRounds is the number of rounds in a batch.
const (
	batchNs     = 25e3
	batchRounds = 30000
)

// Truth returns how long a call takes now, in nanoseconds and in cycles of the core, measured with many short
// batches over the time d. The time of work longer than a batch is that of a round times its number of rounds.
// The cycles hold at any rate of the core; they are NaN if those of a round are unknown.
func (w Work) Truth(d time.Duration) (ns, cycles float64) {
	n := max(50, int(d/(6*batchNs)))
	round := perRound(n)
	ns = round * float64(w.rounds)
	if ns < batchNs {
		calls := max(1, int(batchNs/ns))
		// The core's rate may change meanwhile, so that a round is timed before and after.
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

// escaped is the rank of the batch whose time counts: more than this share of the batches escapes all
// disturbances. Unlike the least, a quantile does not depend on a core that runs faster for a moment.
const escaped = 0.1

// fast returns what the second function takes beyond the first, in nanoseconds, so that the clock's cost
// cancels (the fit of Bryant 2003, section 9.4.3, with two points).
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
