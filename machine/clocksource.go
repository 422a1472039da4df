package machine

import "strings"

// readClocksource sets the present and the available clocksources
// (Documentation/ABI/testing/sysfs-devices-system-clocksource).
func (m *Machine) readClocksource(f files) {
	const directory = "sys/devices/system/clocksource/clocksource0/"
	current, err := f.value(directory + "current_clocksource")
	if err != nil {
		m.caveat("clocksource: %v", err)
	}
	available, err := f.value(directory + "available_clocksource")
	if err != nil {
		m.caveat("available clocksources: %v", err)
	}
	m.Clocksource = current
	for name := range strings.FieldsSeq(string(available)) {
		m.Clocksources = append(m.Clocksources, Text(name))
	}
}
