package env

import (
	"math/rand/v2"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// refill measures how much of the caches other threads take while they have the CPU. A chain of loads passes through
// machine.RefilledBytes in random order: right after a preemption, and once more when all of them are in the caches. On
// a KVM guest (Intel Xeon) beside endless loops the first pass takes 0 to 30 % longer than 16 µs, and 15 times as long
// beside programs that sweep 48 MB.
type refill struct {
	clock  clock.Rated
	next   []uint32 // the index of the next load
	sink   uint32   // the last load's result, so that the compiler keeps the loads
	tookNs []float64
}

// lineWords is the number of elements of a cache line.
const lineWords = 16

// usualRefill is the share of an undisturbed pass by which one after a preemption may take longer beside programs that
// leave the caches as they are.
const usualRefill = 0.5

func newRefill(c clock.Rated) *refill {
	const lines = machine.RefilledBytes / (4 * lineWords)
	r := &refill{clock: c, next: make([]uint32, lines*lineWords)}
	order := rand.Perm(lines)
	for i, line := range order {
		r.next[line*lineWords] = uint32(order[(i+1)%lines] * lineWords)
	}
	r.pass()
	return r
}

// pass returns the time of one pass.
func (r *refill) pass() (ns float64) {
	at, from := r.sink, r.clock.Read()
	for range len(r.next) / lineWords {
		at = r.next[at]
	}
	ns = r.clock.Ns(r.clock.Read() - from)
	r.sink = at
	return ns
}

// measure is called soon after a preemption.
func (r *refill) measure() {
	first := r.pass()
	r.tookNs = append(r.tookNs, max(0, first-(1+usualRefill)*r.pass()))
}

// ns returns what refilling took after a typical preemption; NaN if there was none.
func (r *refill) ns() float64 { return stats.Median(r.tookNs) }
