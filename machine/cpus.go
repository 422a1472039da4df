package machine

// readCPUs sets which CPUs this process may use and how many the machine has.
func (m *Machine) readCPUs(f files) {
	if list, err := f.line("sys/devices/system/cpu/online"); err == nil {
		if cpus, err := ParseCPUList(list); err == nil {
			m.CPUsOnline = new(len(cpus))
		}
	}
	if m.CPUsOnline == nil {
		m.caveat("CPUs online: neither /sys/devices/system/cpu/online nor /proc/cpuinfo lists them")
	}
	if m.CPUList != "" {
		return
	}
	cpus, err := allowedCPUs(f)
	if err != nil {
		m.caveat("CPUs that this process may use: %v", err)
		return
	}
	m.setCPUs(cpus)
}

func (m *Machine) setCPUs(cpus []int) {
	m.CPUs = len(cpus)
	m.CPUList = Text(FormatCPUList(cpus))
}

// countOnline sets the number of CPUs that are online, if cpus is positive.
func (m *Machine) countOnline(cpus int) {
	if cpus > 0 {
		m.CPUsOnline = &cpus
	}
}

// allowedCPUs returns the affinity of this process's main thread (proc_pid_status(5),
// Cpus_allowed_list).
func allowedCPUs(f files) ([]int, error) {
	list, err := f.status("Cpus_allowed_list")
	if err != nil {
		return nil, err
	}
	return ParseCPUList(list)
}

// readSMT sets whether CPUs share cores
// (Documentation/ABI/testing/sysfs-devices-system-cpu, smt/active).
func (m *Machine) readSMT(f files) {
	switch active, err := f.integer("sys/devices/system/cpu/smt/active"); {
	case err == nil && (active == 0 || active == 1):
		m.SMT = new(active == 1)
		if m.virtual() {
			m.caveat("SMT: it is the virtual machine's; a CPU may share its core with a sibling that only the host sees")
		}
	case err == nil:
		m.caveat("SMT: /sys/devices/system/cpu/smt/active holds %d, neither 0 nor 1", active)
	default:
		m.caveat("SMT: %v", err)
	}
}
