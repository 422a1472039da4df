package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// CPUTime returns the CPU time that the kernel has counted for the probe's process, in nanoseconds, and
// the process's number of threads. It returns an error if the probe has started other processes, because
// one of these may read the timers, and its time is not included; or if the kernel does not tell whether
// it has.
func (p *Probe) CPUTime() (ns float64, threads int, err error) {
	pid := p.session.command.Process.Pid
	tasks := machine.ProcFile(pid, "task")
	all, err := os.ReadDir(tasks)
	if err != nil {
		return 0, 0, fmt.Errorf("counting the probe's threads: %w", err)
	}
	if err := alone(tasks, all); err != nil {
		return 0, 0, err
	}
	var t unix.Timespec
	if err := unix.ClockGettime(cpuClock(pid), &t); err != nil {
		return 0, 0, fmt.Errorf("asking for the CPU time of process %d: %w", pid, err)
	}
	return float64(t.Nano()), len(all), nil
}

// alone returns an error if one of the threads has started processes, or if that can't be read of any
// thread: a kernel without CONFIG_PROC_CHILDREN has no such files (proc_pid_task(5)). A thread that has
// ended has none either.
func alone(tasks string, threads []os.DirEntry) error {
	read := false
	var why error
	for _, thread := range threads {
		children, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
		if err != nil {
			why = err
			continue
		}
		read = true
		if len(bytes.TrimSpace(children)) > 0 {
			return errors.New("the probe has started other processes, and which of them reads its timers is not known")
		}
	}
	if !read {
		return fmt.Errorf("whether the probe has started other processes is not known: %w", why)
	}
	return nil
}

// cpuClock returns the ID of the clock of a process's CPU time, like clock_getcpuclockid(3):
// MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of include/linux/posix-timers_types.h.
func cpuClock(pid int) int32 { return int32(^pid<<3 | 2) }
