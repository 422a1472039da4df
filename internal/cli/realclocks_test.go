//go:build linux

package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"golang.org/x/sys/unix"

	"chronoscope/record"
)

// What Linux promises of its clocks, on any machine. Other programs may spoil a
// measurement, and so it gets three tries.
const tries = 3

// within is how far an accuracy may lie from what is promised, as a share.
const within = 0.01

// accuracies measures the clocks thoroughly.
func accuracies(t *testing.T, names ...string) record.Clocks {
	t.Helper()
	var d record.Clocks
	if err := json.Unmarshal(output(t, append([]string{"clocks", "--thorough", "--format", "json"}, names...)...), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// accuracyOf is a clock's accuracy in nanoseconds.
func accuracyOf(d record.Clocks, name string) (float64, error) {
	for _, c := range d.Clocks {
		if c.Name == name {
			return c.Accuracy.Value, nil
		}
	}
	return 0, fmt.Errorf("%s was not ranked", name)
}

// near is the error of an accuracy that is not what was promised.
func near(d record.Clocks, name string, wantNs float64) error {
	got, err := accuracyOf(d, name)
	if err == nil && !(math.Abs(got/wantNs-1) <= within) {
		err = fmt.Errorf("%s is accurate to %g ns, want %g", name, got, wantNs)
	}
	return err
}

// tickNs is the length of the kernel's tick: the resolution that it states for
// its coarse clocks (include/linux/hrtimer.h, KTIME_LOW_RES).
func tickNs(t *testing.T) float64 {
	t.Helper()
	var resolution unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &resolution); err != nil {
		t.Skipf("clock_getres(CLOCK_MONOTONIC_COARSE): %v", err)
	}
	return float64(resolution.Nano())
}

// timesNs is what times(2) counts in for user space, 1/USER_HZ, whatever the
// kernel's tick is.
const timesNs = 1e7

func TestAccuracyOfTicks(t *testing.T) {
	coarseNs := tickNs(t)
	var errs []error
	for range tries {
		d := accuracies(t, "monotonic-coarse", "times")
		errs = nil
		for name, wantNs := range map[string]float64{"monotonic-coarse": coarseNs, "times": timesNs} {
			if err := near(d, name, wantNs); err != nil {
				errs = append(errs, err)
			}
		}
		if errs == nil {
			return
		}
	}
	t.Error(errs)
}

// counterOf is the counter that a clock source of the kernel reads.
var counterOf = map[string]string{"tsc": "tsc", "arch_sys_counter": "cntvct"}

// The clock monotonic shows nanoseconds, and moves as the counter below does.
func TestAccuracyOfMonotonic(t *testing.T) {
	var err error
	for range tries {
		d := accuracies(t, "monotonic", "tsc", "cntvct")
		counter, known := counterOf[string(d.Machine.Clocksource)]
		if !known {
			t.Skipf("clocksource %q is no counter that programs read", d.Machine.Clocksource)
		}
		quantumNs, missing := accuracyOf(d, counter)
		if missing != nil {
			t.Skip(missing)
		}
		const unitNs = 1
		if err = near(d, "monotonic", math.Max(unitNs, quantumNs)); err == nil {
			return
		}
	}
	t.Error(err)
}
