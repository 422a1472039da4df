package machine

import (
	"fmt"
	"time"
)

// throttledByHeat counts how often a core and its package were slowed down because they were too
// hot.
type throttledByHeat struct{ core, pkg int64 }

// heat reads the counters of the measured CPUs
// (Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle). Only Intel processors
// have them.
func (d *Doctor) heat() (map[int]throttledByHeat, error) {
	all := map[int]throttledByHeat{}
	for _, cpu := range d.CPUs {
		directory := fmt.Sprintf("sys/devices/system/cpu/cpu%d/thermal_throttle/", cpu)
		core, err := d.files().integer(directory + "core_throttle_count")
		if err != nil {
			return nil, fmt.Errorf("%w; Intel's processors count throttling, outside of virtual machines", err)
		}
		pkg, err := d.files().integer(directory + "package_throttle_count")
		if err != nil {
			pkg = 0 // older processors have no counter for the package
		}
		if core < 0 || pkg < 0 {
			return nil, fmt.Errorf("/%s holds counts below 0", directory)
		}
		all[cpu] = throttledByHeat{core: core, pkg: pkg}
	}
	return all, nil
}

func judgeHeat(d *Doctor, before, after map[int]throttledByHeat, window time.Duration) (*Finding, error) {
	var most, lately int64
	for _, cpu := range d.CPUs {
		a, b := after[cpu], before[cpu]
		most = max(most, a.core, a.pkg)
		lately = max(lately, a.core-b.core, a.pkg-b.pkg)
	}
	const fix = "cool the machine (fans, dust, air, a lower power limit), and let it rest between measurements: turbostat shows the temperature"
	switch {
	case lately > 0:
		return spoiling(fmt.Sprintf("too hot: throttled %s in the last %.0f ms", times(lately), float64(window)/1e6),
			"the core runs below its rated frequency, by an amount that changes all the time", fix), nil
	case most > 0:
		return worthNoting(fmt.Sprintf("throttled %s because of heat since the system started, not at present", times(most)),
			"long measurements may heat it up again and then run slower than they began", fix), nil
	}
	return fine("never throttled because of heat since the system started"), nil
}

// times returns a number of times in words: "once", "7 times".
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
