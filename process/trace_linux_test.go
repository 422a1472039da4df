package process

import (
	"testing"
	"time"
)

// A tracer that waited 4 ms for its CPU noticed the end 4 ms late, unless it waited after it had noticed: once
// programs of 12 ms were said to take 8. One of 0.1 ms was said to take -0.9 ms, as its tracer had waited before the start.
func TestWallLessLate(t *testing.T) {
	for _, c := range []struct {
		noticed, asking time.Duration
		late, want      int64
	}{
		{12 * time.Millisecond, 2 * time.Microsecond, 0, 12e6},
		{16 * time.Millisecond, 2 * time.Microsecond, 4e6, 12.002e6},
		{12 * time.Millisecond, 4 * time.Millisecond, 4e6, 12e6},
		{18 * time.Millisecond, 4 * time.Millisecond, 6e6, 16e6},
		{time.Millisecond, time.Microsecond, 4e6, 1},
	} {
		if got := wallNs(c.noticed, c.asking, c.late); got != c.want {
			t.Errorf("noticed after %v, asked for %v, %d ns late: %d ns, want %d", c.noticed, c.asking, c.late, got, c.want)
		}
	}
}
