package meter

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// shard is a part of a meter's counts. Goroutines that run at the same time mostly use different
// shards, so that they don't compete for a cache line.
type shard struct {
	begun    atomic.Uint64 // calls, if the meter samples
	salt     uint64        // chooses which of them are measured; see passesOver
	measured atomic.Uint64 // measured calls
	edges    atomic.Uint64 // measured calls that saw the clock move
	ticks    atomic.Uint64 // ticks that measured calls saw
	squares  atomic.Uint64 // sum of the squares of the ticks of a call
	backward atomic.Uint64 // calls left out: the clock went back
	stepped  atomic.Uint64 // calls left out: the clock was set
	between  atomic.Uint64 // calls that moved by no whole number of ticks

	distribution *distribution // nil for a coarse clock
	tails        *sketches     // shared with some other shards; nil if single calls are not timed

	_ [40]byte // processors fetch cache lines of 64 bytes in pairs
}

// passesOver counts a call, and reports whether sampling leaves it out. Each shard has its own salt:
// with a common one all shards would choose the same calls, and the measured share would vary more,
// the more shards there are.
func (s *shard) passesOver(chosen uint64) bool {
	return scramble(s.salt+s.begun.Add(1)) > chosen
}

// book adds the ticks of a call that saw an edge and has been counted. The sums are written in the
// reverse of the order in which sum reads them, largest first, so that a snapshot taken meanwhile
// holds possible values.
func (s *shard) book(ticks uint64) {
	addSquare(&s.squares, ticks)
	s.ticks.Add(ticks)
	s.edges.Add(1)
}

// addSquare adds x², and keeps the greatest number if the sum would overflow.
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

// shards are all shards of a meter. Their number is a power of two.
type shards struct {
	all   []shard
	shift uint // a scrambled address, shifted right by this, is an index
}

// newShards makes enough shards that goroutines which run at the same time rarely share one, by the
// number of processors. Each takes 128 bytes, and 5 kB with a distribution.
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

// 2^stackGrain bytes is the least size of a stack, and so the least distance between the stacks of two
// goroutines. Calling a clock of the kernel grows a stack to four times that; reading a processor's
// counter doesn't.
const stackGrain = 11

// mine returns the shard of the calling goroutine, chosen by the address of its stack: nothing cheaper
// tells goroutines apart. When its stack moves a goroutine changes its shard, and two goroutines may
// share one; neither does harm.
func (s *shards) mine() *shard {
	var here byte
	page := uint64(uintptr(unsafe.Pointer(&here))) >> stackGrain
	return &s.all[page*0x9e3779b97f4a7c15>>s.shift]
}

// counted holds sums over all shards.
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
