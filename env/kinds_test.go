package env

import (
	"math"
	"testing"
	"testing/fstest"
)

// On an idle processor with two kinds of cores, additions take 25 % longer on one kind than on the other: every core of that
// kind seemed to be shared. The probe was prepared on a CPU of the first kind. What was
// found of a CPU holds for later calls, so that the order of the cases matters.
func TestSlowedByKind(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	for name, root := range map[string]fstest.MapFS{
		"Intel": {"sys/devices/cpu_core/cpus": file("0-1"), "sys/devices/cpu_atom/cpus": file("2-3")},
		"ARM": {
			"sys/devices/system/cpu/cpu0/cpu_capacity": file("1024"), "sys/devices/system/cpu/cpu1/cpu_capacity": file("1024"),
			"sys/devices/system/cpu/cpu2/cpu_capacity": file("412"), "sys/devices/system/cpu/cpu3/cpu_capacity": file("412"),
		},
	} {
		here, busy := 0, map[int]bool{}
		slowed := SlowedByKind(root, func() float64 {
			times := 1.0
			if here >= 2 {
				times = 1.25
			}
			if busy[here] {
				times *= 1.4
			}
			return times - 1
		})
		for _, c := range []struct {
			cpu  int
			busy bool
			want float64
		}{{0, false, 0}, {2, false, 0}, {2, true, 0.4}, {3, true, 0.4}, {3, false, 0}, {1, true, 0.4}, {0, false, 0}, {5, false, math.NaN()}} {
			here, busy[c.cpu] = c.cpu, c.busy
			if got := slowed(c.cpu); math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) {
				t.Errorf("%s: CPU %d is slowed by %v, want %v", name, c.cpu, got, c.want)
			}
		}
	}
}

// Something shares the only core of a kind while it is calibrated. Sharing was not seen there any more.
func TestKindCalibratedWhileShared(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	share := 0.4
	slowed := SlowedByKind(fstest.MapFS{"sys/devices/cpu_core/cpus": file("0-1"), "sys/devices/cpu_atom/cpus": file("2")}, func() float64 { return 1.25*(1+share) - 1 })
	slowed(2)
	share = 0
	for range 3 {
		slowed(2)
	}
	if share = 0.4; math.Abs(slowed(2)-0.4) > 1e-9 {
		t.Errorf("slowed by %v, want 0.4", slowed(2))
	}
}

// Where all cores are of one kind, the probe's own calibration holds, which may know that a sibling is always busy.
func TestSlowedOfOneKind(t *testing.T) {
	for name, root := range map[string]fstest.MapFS{
		"nothing tells": {},
		"alike": {
			"sys/devices/system/cpu/cpu0/cpu_capacity": {Data: []byte("1024\n")},
			"sys/devices/system/cpu/cpu1/cpu_capacity": {Data: []byte("1024\n")},
		},
		"one unit": {"sys/devices/cpu_core/cpus": {Data: []byte("0-7\n")}},
	} {
		probes := 0
		slowed := SlowedByKind(root, func() float64 { probes++; return 0.3 })
		if got := slowed(1); got != 0.3 || probes != 1 {
			t.Errorf("%s: %v after %d probes, want 0.3 after one", name, got, probes)
		}
	}
}
