package clock

import (
	"context"
	"strings"
	"testing"
	"time"
)

// Calibrate refuses a counter that stands still with an error that says so, instead of an error
// about its rate.
func TestCalibrateSaysThatACounterStands(t *testing.T) {
	c := New(Clock{Name: "standing"}, func() int64 { return 5 })
	_, err := Calibrate(context.Background(), c, nil, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "the counter does not advance with the reference clock") {
		t.Errorf("%v", err)
	}
}
