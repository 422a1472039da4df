//go:build !amd64 && !arm64

package clock

// No chain is known here.
const (
	coreShortRounds     = 0
	coreRoundOperations = 0
	coreOperationCycles = 0
)

func dependentChain(rounds int) {}
