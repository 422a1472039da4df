package clock

// The rounds of the shorter chain (10 us at some 4 GHz), the dependent
// operations of a round, and the cycles of one (imul).
const (
	coreShortRounds     = 800
	coreRoundOperations = 16
	coreOperationCycles = 3
)
