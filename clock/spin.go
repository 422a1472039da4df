package clock

// Spin is a busy loop that no compiler removes. It executes work rounds, each an operation that
// needs the result of the one before. A round takes the operation's latency, a few core cycles,
// and accesses no memory. Spin does nothing for work <= 0. The Go scheduler can't interrupt the
// loop.
func Spin(work int) { spin(work) }
