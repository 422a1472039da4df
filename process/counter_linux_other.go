//go:build linux && !amd64

package process

// Reads of the processor's counter are not stopped on this architecture.

func (*looks) stopAtCounter(int) (stops int) { return 0 }
func (*looks) readCounter(int) bool          { return false }
