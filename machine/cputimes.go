package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// cpuTimes is how a CPU spent its time since the system started.
type cpuTimes struct{ ranNs, idleNs, stolenNs float64 }

// statTickNs is the unit of /proc/stat: USER_HZ is 100 on every architecture
// here, whatever CONFIG_HZ is (proc_stat(5)).
const statTickNs = 10e6

// since is what was spent after an earlier reading. Idle time may run backwards
// by a tick.
func (t cpuTimes) since(before cpuTimes) cpuTimes {
	return cpuTimes{
		ranNs:    max(0, t.ranNs-before.ranNs),
		idleNs:   max(0, t.idleNs-before.idleNs),
		stolenNs: max(0, t.stolenNs-before.stolenNs),
	}
}

// wantedNs is the time for which something wanted to run.
func (t cpuTimes) wantedNs() float64 { return t.ranNs + t.stolenNs }

// stolenShare is the share of the time wanted that the hypervisor did not give.
func (t cpuTimes) stolenShare() float64 {
	if t.wantedNs() == 0 {
		return 0
	}
	return t.stolenNs / t.wantedNs()
}

// busyShare is the share of all time for which something wanted to run.
func (t cpuTimes) busyShare() float64 {
	if all := t.wantedNs() + t.idleNs; all > 0 {
		return t.wantedNs() / all
	}
	return 0
}

// cpuTimes reads /proc/stat.
func (d *Doctor) cpuTimes() (map[int]cpuTimes, error) {
	text, err := d.files().text("proc/stat")
	if err != nil {
		return nil, err
	}
	all := parseCPUTimes(text)
	return all, listed(all, d.CPUs)
}

// listed reports an error where the times of a CPU are missing.
func listed(all map[int]cpuTimes, cpus []int) error {
	for _, cpu := range cpus {
		if _, ok := all[cpu]; !ok {
			return fmt.Errorf("/proc/stat has no line that can be read for CPU %d", cpu)
		}
	}
	return nil
}

// parseCPUTimes reads the lines of single CPUs. Those that it can't read are
// left out.
func parseCPUTimes(text string) map[int]cpuTimes {
	all := map[int]cpuTimes{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 9 {
			continue
		}
		number, isCPU := strings.CutPrefix(fields[0], "cpu")
		cpu, err := parseCPU(number)
		if !isCPU || err != nil {
			continue
		}
		if times, ok := parseTimes(fields[1:9]); ok {
			all[cpu] = times
		}
	}
	return all
}

// parseTimes reads user, nice, system, idle, iowait, irq, softirq and steal.
// Time of guests, which follows, is part of user and nice.
func parseTimes(fields []string) (cpuTimes, bool) {
	var ns [8]float64
	for i := range ns {
		ticks, err := strconv.ParseUint(fields[i], 10, 64)
		if err != nil {
			return cpuTimes{}, false
		}
		ns[i] = float64(ticks) * statTickNs
	}
	return cpuTimes{ranNs: ns[0] + ns[1] + ns[2] + ns[5] + ns[6], idleNs: ns[3] + ns[4], stolenNs: ns[7]}, true
}
