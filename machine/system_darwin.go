package machine

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// askSystem sets what sysctl(3) and uname(3) tell.
func (m *Machine) askSystem() {
	if name, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil {
		fill(&m.CPU, cleaned(name))
	}
	if release, err := unix.Sysctl("kern.osrelease"); err == nil {
		m.Kernel = cleaned(release)
	}
	m.CPUs = runtime.NumCPU()
	m.countOnline(m.CPUs)
	m.caveat("CPU list: %v", errNoAffinity())
	if load, err := Load(); err == nil {
		m.Load1 = &load
	} else {
		m.caveat("%v", err)
	}
	m.askVirtualization()
}

// askVirtualization sets whether this system runs in a virtual machine, and whether Rosetta runs
// this program.
func (m *Machine) askVirtualization() {
	if present, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil {
		if present == 0 {
			fill(&m.Hypervisor, noHypervisor)
		}
		fill(&m.Hypervisor, unknownHypervisor)
	}
	if translated, err := unix.SysctlUint32("sysctl.proc_translated"); err == nil {
		m.Emulated = translated == 1
	}
}

// Load returns the load average of the last minute over the whole machine.
func Load() (float64, error) {
	data, err := unix.SysctlRaw("vm.loadavg")
	if err != nil {
		return 0, fmt.Errorf("load average: sysctl vm.loadavg: %w", err)
	}
	// struct loadavg of sys/resource.h has three 32-bit numbers, padding, and the scale as a long.
	if len(data) < 24 {
		return 0, fmt.Errorf("load average: sysctl vm.loadavg gives %d bytes, not 24", len(data))
	}
	scale := binary.LittleEndian.Uint64(data[16:])
	if scale == 0 {
		return 0, fmt.Errorf("load average: sysctl vm.loadavg gives a scale of 0")
	}
	return hundredths(float64(binary.LittleEndian.Uint32(data)) / float64(scale)), nil
}
