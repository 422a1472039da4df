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

// CPU time stands still while a calibration sleeps: a counter of 2.6 GHz had 137.
func TestCalibrateRefusesCPUTime(t *testing.T) {
	counter, cpu := New(Clock{Name: "counter", Kind: KindCounter}, func() int64 { return 5 }), New(Clock{Name: "cpu-time", Kind: KindCPU, UnitNs: 1}, func() int64 { return 5 })
	for _, pair := range [][2]*Clock{{counter, cpu}, {cpu, counter}} {
		if _, err := Calibrate(context.Background(), pair[0], pair[1], time.Millisecond); err == nil || !strings.Contains(err.Error(), "cpu-time counts CPU time") {
			t.Errorf("%v", err)
		}
	}
}
