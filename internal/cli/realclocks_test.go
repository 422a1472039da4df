//go:build linux

package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// The tests in this file check what Linux promises of its clocks, on any machine. Other programs
// may disturb a measurement, so it gets three tries. On a machine that disturbs all of them the
// result must not be trusted.
const tries = 3

// within is the largest relative difference between an accuracy and the promised one.
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

// rated returns the rating of one clock.
func rated(d record.Clocks, name string) (timermeter.Rating, error) {
	i := slices.IndexFunc(d.Clocks, func(c timermeter.Rating) bool { return c.Name == name })
	if i < 0 {
		return timermeter.Rating{}, fmt.Errorf("%s was not ranked", name)
	}
	return d.Clocks[i], nil
}

// keeps measures until each clock is as accurate as promised returns for the machine of the
// document.
func keeps(t *testing.T, promised func(record.Clocks) map[string]float64, clocks ...string) {
	t.Helper()
	var wrong, spoiled []string
	for range tries {
		wrong, spoiled = nil, nil
		d := accuracies(t, clocks...)
		for name, wantNs := range promised(d) {
			c, err := rated(d, name)
			if err != nil {
				t.Fatal(err)
			}
			switch off := c.Accuracy.Value/wantNs - 1; {
			case math.Abs(off) <= within:
			case c.Verdict == stats.Trusted:
				wrong = append(wrong, fmt.Sprintf("%s is accurate to %g ns, want %g", name, c.Accuracy.Value, wantNs))
			default:
				spoiled = append(spoiled, fmt.Sprintf("%s: %q", name, c.Reasons))
			}
		}
		if wrong == nil && spoiled == nil {
			return
		}
	}
	if wrong == nil {
		t.Skipf("this machine is too busy: %s", spoiled)
	}
	t.Error(wrong, spoiled)
}

// tickNs returns the length of the kernel's tick: the resolution that the kernel reports for its
// coarse clocks (include/linux/hrtimer.h, KTIME_LOW_RES).
func tickNs(t *testing.T) float64 {
	t.Helper()
	var resolution unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &resolution); err != nil {
		t.Skipf("clock_getres(CLOCK_MONOTONIC_COARSE): %v", err)
	}
	return float64(resolution.Nano())
}

// timesNs is the unit of times(2) for user space, 1/USER_HZ, whatever the kernel's tick is.
const timesNs = 1e7

func TestAccuracyOfTicks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	promised := map[string]float64{"monotonic-coarse": tickNs(t), "times": timesNs}
	keeps(t, func(record.Clocks) map[string]float64 { return promised }, "monotonic-coarse", "times")
}

// counterOf returns the counter that a clock source of the kernel reads.
var counterOf = map[string]string{"tsc": "tsc", "arch_sys_counter": "cntvct"}

// The clock monotonic shows nanoseconds, and advances with the counter that the kernel reads.
func TestAccuracyOfMonotonic(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	keeps(t, func(d record.Clocks) map[string]float64 {
		name, known := counterOf[string(d.Machine.Clocksource)]
		if !known {
			t.Skipf("clocksource %q is no counter that programs read", d.Machine.Clocksource)
		}
		counter, err := rated(d, name)
		if err != nil {
			t.Skip(err)
		}
		const unitNs = 1
		return map[string]float64{"monotonic": math.Max(unitNs, counter.Accuracy.Value)}
	}, "monotonic", "tsc", "cntvct")
}
