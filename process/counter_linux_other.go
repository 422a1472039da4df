//go:build linux && !amd64

package process

// Reads of the processor's counter don't stop a program of this architecture.

type shownCounter struct{}

func (*looks) stopAtCounter(int) (stops int)        { return 0 }
func (*looks) readCounter(int, int64) (looked bool) { return false }
