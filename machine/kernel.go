package machine

// readKernel sets the kernel's release and its restriction on perf events.
func (m *Machine) readKernel(f files) {
	if m.Kernel == "" {
		release, err := f.value("proc/sys/kernel/osrelease")
		if err != nil {
			m.caveat("kernel: %v", err)
		}
		m.Kernel = release
	}
	const maxLevel = 1 << 16
	switch level, err := f.integer("proc/sys/kernel/perf_event_paranoid"); {
	case err != nil:
		m.caveat("perf_event_paranoid: %v; a kernel without perf events has none", err)
	case level < -maxLevel || level > maxLevel:
		m.caveat("perf_event_paranoid: %d can't be", level)
	default:
		m.PerfEventParanoid = new(int(level))
	}
}
