package clock

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A counter that stands still is refused for what it is, and not for a rate that
// makes no sense.
func TestCalibrateSaysThatACounterStands(t *testing.T) {
	c := New(Clock{Name: "standing"}, func() int64 { return 5 })
	_, err := Calibrate(context.Background(), c, nil, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "the counter does not advance with the reference clock") {
		t.Errorf("%v", err)
	}
}
