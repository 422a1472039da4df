package machine

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/windows"
)

// askSystem sets what Windows tells.
func (m *Machine) askSystem() {
	v := windows.RtlGetVersion()
	m.Kernel = Text(fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber))
	m.CPUs = runtime.NumCPU()
	m.caveat("CPU list: %v", errNoAffinity())
	_, err := Load()
	m.caveat("%v", err)
}

// Load is not supported: Windows keeps no load average.
func Load() (float64, error) {
	return 0, &UnsupportedError{
		Operation: "load average",
		Reason:    "the system keeps none",
		Remedy:    "look at the processor queue length in the Performance Monitor",
	}
}
