package env

import (
	"io/fs"
	"math"
	"path"
	"strings"

	"chronoscope/machine"
	"chronoscope/stats"
)

// kindProbes is the number of probes that calibrate a CPU, which takes 0.4 ms.
const kindProbes = 64

// SlowedByKind returns a function that tells what slowed ([Core.Slowed]) tells, on a machine with several kinds of cores. The
// time of independent instructions depends on the kind, and slowed compares with the one on which it was prepared. So
// each CPU is probed some times before its first result, and compared with the fastest CPU of its kind. Something may share
// its core meanwhile: later results that lie far below show that, and the CPU is probed so again. Call the function on the
// given CPU. It returns NaN if the CPU's kind is not known. Files are read below root.
func SlowedByKind(root fs.FS, slowed func() float64) func(cpu int) float64 {
	kinds := kindsOfCores(root)
	if kinds == nil {
		return func(int) float64 { return slowed() }
	}
	faster, alone := map[int]int{}, map[string]float64{} // how many results in a row were too small, by CPU
	return func(cpu int) float64 {
		kind, known := kinds[cpu]
		if !known {
			return math.NaN()
		}
		if n, calibrated := faster[cpu]; !calibrated || n >= 2 {
			faster[cpu] = 0
			var all []float64
			for range kindProbes {
				all = append(all, slowed())
			}
			here := stats.QuantileOf(all, 0.1)
			if least, ok := alone[kind]; !ok || here < least {
				alone[kind] = here
			}
		}
		share := (1+slowed())/(1+alone[kind]) - 1
		if faster[cpu]++; !(share < -SharedFrom) {
			faster[cpu] = 0
		}
		return share
	}
}

// kindsOfCores returns the kind of core of each CPU; nil if all are of one kind, or nothing tells. Hybrid processors of Intel
// have a unit of events for each kind; on ARM each CPU has a capacity (Documentation/ABI/testing/sysfs-devices-system-cpu).
func kindsOfCores(root fs.FS) map[int]string {
	text := func(name string) string {
		all, _ := fs.ReadFile(root, name)
		return strings.TrimSpace(string(all))
	}
	kinds := map[int]string{}
	units, _ := fs.Glob(root, "sys/devices/cpu_*/cpus") // cpu_core, cpu_atom, cpu_lowpower
	for _, name := range units {
		cpus, _ := machine.ParseCPUList(text(name))
		for _, cpu := range cpus {
			kinds[cpu] = path.Dir(name)
		}
	}
	capacities, _ := fs.Glob(root, "sys/devices/system/cpu/cpu[0-9]*/cpu_capacity")
	for _, name := range capacities {
		cpus, _ := machine.ParseCPUList(strings.TrimPrefix(path.Base(path.Dir(name)), "cpu"))
		for _, cpu := range cpus {
			kinds[cpu] += " " + text(name)
		}
	}
	var all []string
	for _, kind := range kinds {
		if all = append(all, kind); kind != all[0] {
			return kinds
		}
	}
	return nil
}
