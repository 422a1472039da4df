package machine

import (
	"testing"
	"time"
)

// The lengths are TICK_NSEC for the values of CONFIG_HZ with which kernels are built
// (kernel/Kconfig.hz), and the answer of gVisor.
func TestTickHz(t *testing.T) {
	for tick, want := range map[time.Duration]float64{
		10 * time.Millisecond: 100,
		4 * time.Millisecond:  250,
		3333333:               300,
		1 * time.Millisecond:  1000,
		976563:                1024,
	} {
		if got, err := tickHz(tick); err != nil || got != want {
			t.Errorf("%v: %v, %v, want %v", tick, got, err, want)
		}
	}
	for _, tick := range []time.Duration{-1, 0, 1, time.Second} {
		if got, err := tickHz(tick); err == nil {
			t.Errorf("%v is taken for %v Hz", tick, got)
		}
	}
}
