package machine

import (
	"fmt"
	"slices"
	"strings"
)

// readFrequency sets what decides on the frequency of the CPUs that this process may use
// (Documentation/admin-guide/pm/cpufreq.rst).
func (m *Machine) readFrequency(f files) {
	m.Governor = m.eachCPU(f, "governor", "scaling_governor")
	m.FrequencyDriver = m.eachCPU(f, "frequency driver", "scaling_driver")
}

// eachCPU returns the different contents of a cpufreq file of the CPUs that this process may use.
func (m *Machine) eachCPU(f files, topic, file string) Text {
	cpus, err := ParseCPUList(string(m.CPUList))
	if err != nil {
		cpus = []int{0}
	}
	var said []string
	for _, cpu := range cpus {
		value, err := f.value(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, file))
		if err != nil {
			m.caveat("%s: %v; virtual machines and fixed-frequency CPUs have none", topic, err)
			return ""
		}
		said = append(said, string(value))
	}
	slices.Sort(said)
	return Text(strings.Join(slices.Compact(said), ","))
}
