package program

import (
	"testing"
	"time"
)

// A measurement does not begin while tracepoints of one before are being closed.
func TestMeasurementAfterClosing(t *testing.T) {
	release, made := make(chan struct{}), make(chan struct{})
	closing.RLock()
	go func() {
		<-release
		closing.RUnlock()
	}()
	go func() {
		newRunner(Setting{}).close()
		close(made)
	}()
	select {
	case <-made:
		t.Error("it did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	<-made
}
