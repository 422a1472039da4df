package tracepoint

import (
	"errors"
	"testing"
)

// An event takes some time to record, and no millisecond.
func TestCost(t *testing.T) {
	mustOpen(t).Close()
	ns, err := CostNs()
	var why *Unavailable
	if errors.As(err, &why) {
		t.Skip(err) // a kernel without events of system calls
	}
	if err != nil || !(ns > 0 && ns < 1e6) {
		t.Errorf("%g ns, %v", ns, err)
	}
}
