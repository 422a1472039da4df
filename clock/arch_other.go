//go:build !amd64 && !arm64

package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// For other architectures there is no assembly: no counter, no chain and no loop. Go's clock is
// used in place of the counter.

// AdditionsInRound is the number of additions in one round of [Additions]; 0 on an architecture
// without assembly for them.
const AdditionsInRound = 0

const coreShortRounds, coreRoundOperations, coreOperationCycles = 0, 0, 0

var counterClocks = map[string]opener{}

// AdditionsPerCycle returns NaN: the rate of these processors is not known.
func AdditionsPerCycle() float64 { return math.NaN() }

func additions(rounds int)         {}
func dependentChain(rounds int)    {}
func processorRates() []CrossCheck { return nil }

func counter() int64      { return int64(time.Since(epoch)) }
func counterStart() int64 { return counter() }
func counterEnd() int64   { return counter() }

func counterChain(work int, ticks []int64) { chain(counter, work, ticks) }

func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64) {
	return gapsOf(counter, last, Watch{Threshold: threshold, Long: long, Until: until}, gaps)
}

// spun stores the result of the loop, so that the compiler can't remove the loop.
var spun atomic.Uint64

func spin(work int) {
	x := uint64(3)
	for ; work > 0; work-- {
		x *= 5
	}
	spun.Store(x)
}
