//go:build !(linux && (amd64 || arm64))

package clock

// CounterCanBeDisabled reports whether a process can disable the processor's counter for itself. On
// these systems it can't.
func CounterCanBeDisabled() bool { return false }
