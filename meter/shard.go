package meter

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// shard is a part of a meter's counts. Goroutines that run at once mostly have
// one each, so that they don't take the same cache line from one another.
type shard struct {
	begun    atomic.Uint64 // calls, of a meter that samples
	salt     uint64        // where in the scrambled numbers its choice of them begins
	measured atomic.Uint64 // calls that count
	edges    atomic.Uint64 // of these, that saw the clock move
	ticks    atomic.Uint64 // that these saw
	squares  atomic.Uint64 // sum of the squares of the ticks of a call
	backward atomic.Uint64 // calls left out: the clock went back
	stepped  atomic.Uint64 // calls left out: the clock was set
	between  atomic.Uint64 // calls that moved by no whole number of ticks

	distribution *distribution // nil for a coarse clock

	_ [48]byte // processors fetch cache lines of 64 bytes in pairs
}

// passesOver counts a call, and says whether sampling leaves it out. Shards that began
// their choice at the same place would choose the same calls, and the share of all
// that is measured would stray the more, the more shards there are.
func (s *shard) passesOver(chosen uint64) bool {
	return scramble(s.salt+s.begun.Add(1)) > chosen
}

// book adds the ticks of a call that saw an edge, and has been counted. What is never
// the smaller one comes first, and is read last by sum: so sums that are read meanwhile
// are possible ones.
func (s *shard) book(ticks uint64) {
	addSquare(&s.squares, ticks)
	s.ticks.Add(ticks)
	s.edges.Add(1)
}

// addSquare stays at the greatest number where the sum does not fit.
func addSquare(sum *atomic.Uint64, x uint64) {
	for {
		old := sum.Load()
		hi, square := bits.Mul64(x, x)
		if hi != 0 {
			square = math.MaxUint64
		}
		if sum.CompareAndSwap(old, saturating(old, square)) {
			return
		}
	}
}

// shards are a power of two in number.
type shards struct {
	all   []shard
	shift uint // what is left of a scrambled address is an index
}

// newShards makes so many shards, for the processors that Go may use, that goroutines
// which run at once rarely share one: each costs 128 bytes, and 5 kB where it holds a
// distribution.
func newShards(distributed bool) shards {
	number := max(64, 8*runtime.GOMAXPROCS(0))
	width := bits.Len(uint(number - 1))
	all := make([]shard, 1<<width)
	for i := range all {
		all[i].salt = rand.Uint64()
		if distributed {
			all[i].distribution = new(distribution)
		}
	}
	return shards{all: all, shift: uint(64 - width)}
}

// stackGrain is the least size of a stack, as a power of two: two goroutines' stacks lie
// that far apart. One that has called a clock of the kernel is four times as large, but a
// processor's counter needs no more than this.
const stackGrain = 11

// mine is the shard of the goroutine that asks, found by where its stack lies. No
// cheaper property tells goroutines apart. One whose stack moves changes its shard,
// and two may share one; neither does any harm.
func (s *shards) mine() *shard {
	var here byte
	page := uint64(uintptr(unsafe.Pointer(&here))) >> stackGrain
	return &s.all[page*0x9e3779b97f4a7c15>>s.shift]
}

// counted is what all shards have counted.
type counted struct {
	begun, measured, edges, ticks, squares, backward, stepped, between uint64
}

func (s *shards) sum() (c counted) {
	for i := range s.all {
		shard := &s.all[i]
		c.edges += shard.edges.Load()
		c.ticks += shard.ticks.Load()
		c.squares = saturating(c.squares, shard.squares.Load())
		c.measured += shard.measured.Load()
		c.begun += shard.begun.Load()
		c.backward += shard.backward.Load()
		c.stepped += shard.stepped.Load()
		c.between += shard.between.Load()
	}
	return c
}
