package clock

// identified holds for the virtual counter, which every processor of this
// architecture has.
func identified(i instruction) bool { return i == instructionCNTVCT }
