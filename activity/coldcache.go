package activity

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// Pattern is the order in which a working set is walked. Each load needs the result of the previous
// one, so that no load can start early.
type Pattern string

// These are the patterns.
const (
	Sequential Pattern = "sequential" // address after address: a prefetcher helps
	Random     Pattern = "random"     // each line once in random order: no prefetcher helps
)

// ColdCache has the times of walks over a working set, one cache line per step: with the set warm,
// after a switch to a thread that does nothing and back, and after a switch to a thread that reads
// enough memory to fill the CPU's second cache. Times are those of a whole walk, in nanoseconds.
//
// The other thread evicts the working set from the first and the second cache, and part of the
// address translations. It reads in random order, since some processors don't let a sequential
// stream into the second cache. The working set stays in the last cache, unless the other thread is
// told to read more memory than fits there.
type ColdCache struct {
	Bytes           int            `json:"bytes"`
	Pattern         Pattern        `json:"pattern"`
	Warm            stats.Estimate `json:"warm"`
	AfterIdleSwitch stats.Estimate `json:"after_idle_switch"`
	AfterBusySwitch stats.Estimate `json:"after_busy_switch"`
	// Extra is the median, over repetitions, of how much longer the walk after the busy switch took
	// than the warm walk. With a prefetcher that keeps up it is near zero, and may be negative.
	Extra stats.Estimate `json:"extra"`
}

// lineBytes is the distance between two steps of a walk: a cache line on most processors. Where
// lines are longer, two steps share a line.
const lineBytes = 64

// line is one step of a walk.
type line struct {
	next int32
	_    [lineBytes - 4]byte
}

// workingSet is memory whose lines are linked so that they form a ring.
type workingSet struct {
	pattern Pattern
	lines   []line
}

func (s workingSet) bytes() int { return len(s.lines) * lineBytes }

// newWorkingSet links the lines so that they form one ring. It inserts each line behind one that
// is already in the ring: behind its neighbour, or, for the pattern Random, behind a random line,
// which makes every ring equally likely.
func newWorkingSet(bytes int, pattern Pattern, rng *rand.Rand) workingSet {
	lines := make([]line, max(1, bytes/lineBytes))
	for i := range lines {
		lines[i].next = int32(i)
	}
	for i := 1; i < len(lines); i++ {
		other := i - 1
		if pattern == Random {
			other = rng.IntN(i)
		}
		lines[i].next, lines[other].next = lines[other].next, lines[i].next
	}
	return workingSet{pattern, lines}
}

// walk follows the ring once, and ends where it began. It is never inlined, so that the compiler
// can't remove its loads.
//
//go:noinline
func (s workingSet) walk() (at int32) {
	for range s.lines {
		at = s.lines[at].next
	}
	return at
}

// cell is one working set with its samples.
type cell struct {
	set         workingSet
	repetitions []repetition
	spent       time.Duration // time spent on the repetitions
}

// repetition is one sample, in ticks: the same walk in three states.
type repetition struct{ warm, idle, busy int64 }

// These are the limits that a working set has to keep.
const (
	// leastRepetitions is the number of repetitions that the interval of a median needs.
	leastRepetitions = 6
	// slowerBeyond is how many times longer a step may take in a larger set, which may only fit
	// into the next cache.
	slowerBeyond = 3
)

// usualSets are the sizes that are always measured. On most processors the first set fits into
// the first cache and the second into the second cache; the third is about as large as the second
// cache.
var usualSets = []int{16 << 10, 256 << 10, 1 << 20}

// coldCaches walks working sets until the time is over.
func (e *experiment) coldCaches(ctx context.Context, until time.Time, lastCache int, rng *rand.Rand) error {
	duration := time.Until(until)
	for _, bytes := range usualSets {
		if bytes <= lastCache/2 || bytes == usualSets[0] {
			if err := e.addCells(ctx, bytes, rng); err != nil {
				return err
			}
		}
	}
	if bytes := e.largest(lastCache/2, duration); bytes > 0 {
		if err := e.addCells(ctx, bytes, rng); err != nil {
			return err
		}
	}
	for time.Now().Before(until) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.sample(slices.MinFunc(e.cells, fewer)); err != nil {
			return err
		}
	}
	return nil
}

// fewer orders cells by which one is next: first all working sets get the repetitions that an
// interval needs, then an equal share of the time. They always take turns, so that a slow spell of
// the machine affects all of them.
func fewer(a, b *cell) int {
	counted := func(c *cell) int { return min(len(c.repetitions), leastRepetitions) }
	return cmp.Or(cmp.Compare(counted(a), counted(b)), cmp.Compare(a.spent, b.spent))
}

// addCells makes a working set for each pattern, and takes a first repetition to learn how long one
// takes.
func (e *experiment) addCells(ctx context.Context, bytes int, rng *rand.Rand) error {
	for _, pattern := range []Pattern{Sequential, Random} {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &cell{set: newWorkingSet(bytes, pattern, rng)}
		if err := e.sample(c); err != nil {
			return err
		}
		e.cells = append(e.cells, c)
	}
	return nil
}

// largest returns the size of the largest working set that can be walked often enough in half of
// the duration, judging by the time of the last cell's walks. It starts with the requested size
// and halves it until it fits; the result is 0 if it is not larger than the last cell's set.
func (e *experiment) largest(wished int, duration time.Duration) int {
	last := e.cells[len(e.cells)-1]
	there := last.set.bytes()
	perByte := slowerBeyond * float64(last.spent) / float64(there)
	bytes := wished
	for bytes > there && leastRepetitions*perByte*float64(bytes) > float64(duration)/2 {
		bytes /= 2
	}
	if bytes < wished && wished > there {
		e.caveat("no working set as large as half of the last cache, %d bytes, was walked: measure for longer", wished)
	}
	if bytes <= there {
		return 0
	}
	return bytes
}

// warmUps is the number of walks after which a set is in the cache again. With a replacement
// policy other than least recently used, one walk is not enough.
const warmUps = 2

// sample takes one repetition. The warm walk and the idle switch take turns in being first, since
// the second of them finds the set a little warmer.
func (e *experiment) sample(c *cell) error {
	begun := time.Now()
	var r repetition
	for range warmUps {
		c.set.walk()
	}
	idleFirst := len(c.repetitions)%2 == 1
	for _, idle := range []bool{idleFirst, !idleFirst} {
		c.set.walk()
		if !idle {
			r.warm = e.time(c.set)
			continue
		}
		if err := e.pair.trip(returnAtOnce); err != nil {
			return err
		}
		r.idle = e.time(c.set)
	}
	if err := e.pair.trip(sweepFirst); err != nil {
		return err
	}
	r.busy = e.time(c.set)
	c.repetitions = append(c.repetitions, r)
	c.spent += time.Since(begun)
	return nil
}

func (e *experiment) time(s workingSet) int64 {
	start := e.clock.Start()
	s.walk()
	return e.clock.End() - start
}

func (e *experiment) results() []ColdCache {
	all := []ColdCache{}
	few := 0
	for _, c := range e.cells {
		if len(c.repetitions) < leastRepetitions {
			few++
		}
		if len(c.repetitions) > 0 {
			all = append(all, c.result(e.tickNs))
		}
	}
	if few > 0 {
		e.caveat("%d of %d walks were repeated less than %d times, too few for an interval: measure for longer", few, len(e.cells), leastRepetitions)
	}
	return all
}

// result summarizes the samples of a working set. The bounds are NaN if there are too few samples.
func (c *cell) result(tickNs float64) ColdCache {
	median := func(ticks func(repetition) int64) stats.Estimate {
		return stats.MedianInterval(stats.Each(c.repetitions, func(r repetition) float64 { return float64(ticks(r)) * tickNs }), "ns")
	}
	return ColdCache{
		Bytes: c.set.bytes(), Pattern: c.set.pattern,
		Warm:            median(func(r repetition) int64 { return r.warm }),
		AfterIdleSwitch: median(func(r repetition) int64 { return r.idle }),
		AfterBusySwitch: median(func(r repetition) int64 { return r.busy }),
		Extra:           median(func(r repetition) int64 { return r.busy - r.warm }),
	}
}

// cacheSizes are the sizes of the caches that the experiment needs, in bytes.
type cacheSizes struct{ second, last int }

// supposedCaches are the sizes that are assumed if the system reports none: those of a small
// server.
var supposedCaches = cacheSizes{second: 2 << 20, last: 8 << 20}

// cachesOf returns the sizes of the second and of the last cache of a CPU. If they are only
// assumed, the caveat says so. The sizes are limited so that a sweep stays within MostSweepBytes.
func cachesOf(root fs.FS, cpu int) (sizes cacheSizes, caveat string) {
	caches, err := machine.ReadDataCaches(root, cpu)
	if err != nil {
		return supposedCaches, fmt.Sprintf("a second cache of %d bytes and a last one of %d are supposed: %v", supposedCaches.second, supposedCaches.last, err)
	}
	second, last := caches[min(1, len(caches)-1)], caches[len(caches)-1]
	return cacheSizes{min(second.Bytes, MostSweepBytes/2), min(last.Bytes, MostSweepBytes)}, ""
}
