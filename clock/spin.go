package clock

// Spin is a busy loop that no compiler removes: work rounds, each an operation
// that waits for the one before. A round takes as long as the operation's
// latency, a few core cycles, and touches no memory. Nothing happens for
// work <= 0. The Go scheduler can't interrupt the loop.
func Spin(work int) { spin(work) }
