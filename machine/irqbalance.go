package machine

import (
	"errors"
	"io/fs"
	"strconv"
)

// judgeIRQBalance looks for the daemon that distributes interrupts over the CPUs.
func judgeIRQBalance(d *Doctor) (*Finding, error) {
	runs, err := d.runs("irqbalance")
	switch {
	case err != nil:
		return nil, err
	case runs:
		return worthNoting("irqbalance runs", "it moves interrupts of devices between CPUs, also onto the measured one in the middle of a measurement",
			"as root, while measuring: systemctl stop irqbalance"), nil
	case d.seesKernelThreads():
		return fine("irqbalance does not run"), nil
	case d.Machine.Container == noContainer:
		return nil, errors.New("/proc hides other processes, as in a container or by its option hidepid")
	}
	return nil, nil
}

// seesKernelThreads reports whether the processes of the whole system can be seen: the thread that starts the kernel's others is
// process 2. A container has processes of its own, and an option of /proc hides those of other users (hidepid).
func (d *Doctor) seesKernelThreads() bool {
	name, _ := d.files().line("proc/2/comm")
	return name == "kthreadd"
}

// runs reports whether there is a process of that name (proc_pid_comm(5)).
func (d *Doctor) runs(command string) (bool, error) {
	entries, err := fs.ReadDir(d.Root, "proc")
	if err != nil {
		return false, plainer("proc", err)
	}
	processes := 0
	for _, entry := range entries {
		if _, err := strconv.ParseUint(entry.Name(), 10, 32); err != nil {
			continue
		}
		// A process that ends meanwhile is no error.
		if name, err := d.files().line("proc/" + entry.Name() + "/comm"); err == nil && name != "" {
			processes++
			if name == command {
				return true, nil
			}
		}
	}
	if processes == 0 {
		return false, errors.New("/proc shows no process")
	}
	return false, nil
}
