//go:build !amd64 && !arm64

package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// Of other architectures no counter, no chain and no loop in assembly is known. Go's clock stands
// in for the counter.

// AdditionsInRound are the additions of a round of [Additions]; 0 where there are none.
const AdditionsInRound = 0

const coreShortRounds, coreRoundOperations, coreOperationCycles = 0, 0, 0

var counterClocks = map[string]opener{}

// AdditionsPerCycle is not known of other processors.
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

// spun takes the outcome of the loop, so that the compiler has to run it.
var spun atomic.Uint64

func spin(work int) {
	x := uint64(3)
	for ; work > 0; work-- {
		x *= 5
	}
	spun.Store(x)
}
