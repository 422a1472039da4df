package kbest

import (
	"context"
	"math/rand/v2"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// EvictionCheck says whether a sweep really clears the caches, by experiment. A small set of lines is walked in
// random order, each load giving the address of the next: when the lines are warm, after a sweep, and after
// they were flushed one by one, which certainly leaves them in memory only. Times are nanoseconds a load.
type EvictionCheck struct {
	Warm, Swept stats.Estimate
	// Flushed is NaN if lines can't be flushed.
	Flushed stats.Estimate
	// Memory is the time of a load from anywhere in the swept memory, in random order. At least half of these
	// loads can't be in any cache, if the caches are as large as the system says. Large pages or not, its
	// addresses take longer to translate than those of a small set.
	Memory stats.Estimate
	// SweepNs is the time of a sweep.
	SweepNs stats.Estimate
	// Works says whether lines come from memory after a sweep.
	Works bool
	stats.Judgement
}

// The probe is the set of lines that are walked. It is spread over all sets of a first cache, and fits into it.
// No two of its lines are neighbours, which some processors fetch in pairs.
const (
	probeLines   = 96
	probeStride  = 5 * cacheLine
	memoryLoads  = 4096
	checkRounds  = 25
	fewestRounds = 6
	// A sweep works if a load after it takes at least this share of the time of a load from memory.
	enough = 0.5
	// A load from memory takes at least plainly times as long as a warm load, on any machine.
	plainly = 5
)

// Check makes the experiment, in about a second at most. The error is ctx's, or says that there is no clock.
// The result is there all the same, with what was measured so far.
func (e *Evictor) Check(ctx context.Context) (*EvictionCheck, error) {
	c := &EvictionCheck{Judgement: stats.NewJudgement()}
	r, err := rated(ctx)
	if err != nil {
		c.conclude(walks{})
		return c, err
	}
	defer r.Close()
	x := walks{clock: r, evictor: e, probe: newRing(probeLines, probeStride, rand.New(rand.NewPCG(1, 0xca)))}
	x.large = newSteps(len(e.memory)/cacheLine, rand.New(rand.NewPCG(2, 0xca)))
	for begun := time.Now(); len(x.warm) < checkRounds && ctx.Err() == nil; {
		x.round()
		if len(x.warm) >= fewestRounds && time.Since(begun) > time.Second {
			break
		}
	}
	c.conclude(x)
	return c, ctx.Err()
}

// walks are the samples of the experiment, in nanoseconds a load.
type walks struct {
	clock   clock.Rated
	evictor *Evictor
	probe   ring
	large   []int32

	warm, swept, flushed, memory, sweep []float64
}

func (x *walks) round() {
	x.probe.walk()
	x.probe.walk()
	x.warm = append(x.warm, x.perLoad())
	start := x.clock.Start()
	x.evictor.Evict()
	x.sweep = append(x.sweep, x.clock.Ns(x.clock.End()-start))
	x.swept = append(x.swept, x.perLoad())
	if Flush(x.probe.next) == nil {
		x.flushed = append(x.flushed, x.perLoad())
	}
	start = x.clock.Start()
	x.evictor.load(x.large)
	x.memory = append(x.memory, x.clock.Ns(x.clock.End()-start)/float64(len(x.large)))
}

func (x *walks) perLoad() float64 {
	start := x.clock.Start()
	x.probe.walk()
	return x.clock.Ns(x.clock.End()-start) / probeLines
}

// conclude judges the samples.
func (c *EvictionCheck) conclude(x walks) {
	c.Warm, c.Swept, c.Flushed = medianOf(x.warm), medianOf(x.swept), medianOf(x.flushed)
	c.Memory, c.SweepNs = medianOf(x.memory), medianOf(x.sweep)
	reference := c.Flushed.Value
	if len(x.flushed) == 0 {
		reference = c.Memory.Value
		c.Lower(stats.Suspect, "lines can't be flushed one by one here, so that only a random walk over %d MB says what memory takes: a cache larger than the system says would not show", len(x.large)*cacheLine>>20)
	}
	c.Works = c.Warm.Value > 0 && c.Swept.Value >= enough*reference && c.Swept.Value >= plainly*c.Warm.Value
	switch {
	case len(x.warm) < fewestRounds:
		c.Lower(stats.Unusable, "it was ended after %d rounds, %d are needed", len(x.warm), fewestRounds)
	case !(c.Warm.Value > 0):
		c.Lower(stats.Unusable, "a warm walk takes no time that the clock shows: a finer clock is needed")
	case !c.Works:
		c.Lower(stats.Unusable, "after a sweep a load takes %.3g ns, warm %.3g ns, from memory %.3g ns: the sweep leaves much in the caches; flush the subject's own data with Flush", c.Swept.Value, c.Warm.Value, reference)
	}
}

// medianOf returns the median of times in nanoseconds.
func medianOf(ns []float64) stats.Estimate { return stats.MedianInterval(ns, "ns") }

// ring is memory whose lines are walked in a closed ring.
type ring struct {
	next  []int32
	steps int
}

// newRing links the given number of lines, a stride apart, to a ring in random order.
func newRing(lines, stride int, rng *rand.Rand) ring {
	r := ring{next: make([]int32, lines*stride/4), steps: lines}
	order := rng.Perm(lines)
	for i, from := range order {
		r.next[from*stride/4] = int32(order[(i+1)%lines] * stride / 4)
	}
	return r
}

// walk loads each line once. It is never inlined, so that the compiler can't leave its loads out.
//
//go:noinline
func (r ring) walk() (at int32) {
	for range r.steps {
		at = r.next[at]
	}
	return at
}

// newSteps returns random numbers of lines.
func newSteps(lines int, rng *rand.Rand) []int32 {
	steps := make([]int32, memoryLoads)
	for i := range steps {
		steps[i] = int32(rng.IntN(max(1, lines)))
	}
	return steps
}

// load reads lines of the swept memory. Each load waits for the one before, whose value is part of its address
// but never changes it.
//
//go:noinline
func (e *Evictor) load(lines []int32) byte {
	var value byte
	for _, line := range lines {
		value = e.memory[int(line)*cacheLine+int(value&nothing)]
	}
	return value
}

// nothing is 0. It is a variable, so that neither compiler nor processor can know that.
var nothing byte
