package machine

import "strings"

// readClocksource sets the present and the available clocksources
// (Documentation/ABI/testing/sysfs-devices-system-clocksource), and the boot parameter that rules the processor's
// counter out (Documentation/admin-guide/kernel-parameters.txt).
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
	if m.Arch != "amd64" {
		return
	}
	line, _ := f.line("proc/cmdline")
	for parameter := range strings.FieldsSeq(line) {
		if parameter == "notsc" || parameter == "tsc=unstable" {
			m.CounterParameter = Text(parameter)
		}
	}
}
