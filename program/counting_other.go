//go:build !unix

package program

// chargesByClock returns false: it is unknown how this system charges CPU time.
func chargesByClock() bool { return false }
