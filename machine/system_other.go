//go:build !linux && !darwin && !windows

package machine

import "runtime"

// askSystem sets what Go knows on any system.
func (m *Machine) askSystem() {
	m.CPUs = runtime.NumCPU()
	m.caveat("CPU list: %v", errNoAffinity())
	_, err := Load()
	m.caveat("%v", err)
}

// Load is not supported here.
func Load() (float64, error) {
	return 0, &UnsupportedError{
		Operation: "load average",
		Reason:    "how this system tells it is not known",
		Remedy:    "see what the command uptime says",
	}
}
