package machine

import (
	"fmt"
	"io/fs"
	"strings"
)

// judgeMitigations judges which faults of the CPU the kernel works around
// (Documentation/ABI/testing/sysfs-devices-system-cpu, vulnerabilities).
func judgeMitigations(d *Doctor) (*Finding, error) {
	const directory = "sys/devices/system/cpu/vulnerabilities"
	entries, err := fs.ReadDir(d.Root, directory)
	if err != nil {
		return nil, plainer(directory, err)
	}
	var active []string
	readable := 0
	for _, entry := range entries {
		state, err := d.files().value(directory + "/" + entry.Name())
		if err != nil {
			continue // skip a file that can't be read
		}
		readable++
		if strings.HasPrefix(string(state), "Mitigation") && printable(entry.Name()) {
			active = append(active, entry.Name())
		}
	}
	switch {
	case readable == 0:
		return nil, fmt.Errorf("/%s holds nothing that can be read", directory)
	case len(active) == 0:
		return fine("the kernel works around no fault of the CPU"), nil
	}
	return worthNoting(
		fmt.Sprintf("the kernel works around %s of the CPU: %s", count(len(active), "fault"), firstOf(active, 4)),
		"system calls, interrupts and switches cost more than on a machine without; figures of two machines differ by it",
		"nothing, if production runs so too; where nobody else uses the machine, the boot parameter mitigations=off shows what it costs"), nil
}
