package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CPUTime returns the CPU time that the kernel has counted for the probe's process, in nanoseconds, and
// the process's number of threads. It returns an error if the probe has started other processes, because
// one of these may read the timers, and its time is not included.
func (p *Probe) CPUTime() (ns float64, threads int, err error) {
	pid := p.session.command.Process.Pid
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	all, err := os.ReadDir(tasks)
	if err != nil {
		return 0, 0, fmt.Errorf("counting the probe's threads: %w", err)
	}
	for _, thread := range all {
		children, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
		if err == nil && len(bytes.TrimSpace(children)) > 0 {
			return 0, 0, errors.New("the probe has started other processes, and which of them reads its timers is not known")
		}
	}
	var t unix.Timespec
	if err := unix.ClockGettime(cpuClock(pid), &t); err != nil {
		return 0, 0, fmt.Errorf("asking for the CPU time of process %d: %w", pid, err)
	}
	return float64(t.Nano()), len(all), nil
}

// cpuClock returns the ID of the clock of a process's CPU time, like clock_getcpuclockid(3):
// MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of include/linux/posix-timers_types.h.
func cpuClock(pid int) int32 { return int32(^pid<<3 | 2) }
