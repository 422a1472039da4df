//go:build amd64 || arm64

package clock

// What both architectures have in assembly.

func counter() int64
func counterFenced() int64
func counterStart() int64

//go:noescape
func counterChain(work int, ticks []int64)

//go:noescape
func counterFencedChain(work int, ticks []int64)

// AdditionsInRound is the number of additions in one round of [Additions]; 0 on an architecture
// without assembly for them.
const AdditionsInRound = 120

//go:noescape
func additions(rounds int)

// dependentChain runs a chain of dependent instructions for a number of rounds, at least one.
func dependentChain(rounds int)

//go:noescape
func spin(work int)

//go:noescape
func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64)

// coreRoundOperations is the number of dependent operations in a round of dependentChain.
const coreRoundOperations = 16
