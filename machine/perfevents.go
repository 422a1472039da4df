package machine

import (
	"fmt"
	"strconv"
)

// mostParanoid is the highest kernel.perf_event_paranoid at which every user may have the kernel
// record when their programs run (Documentation/admin-guide/sysctl/kernel.rst). Higher values
// exist in the kernels of Debian, Ubuntu and Android only, and refuse all perf events.
const mostParanoid = 2

// capSysAdmin and capPerfmon are the numbers of the capabilities that lift the restrictions of
// perf events (capabilities(7)).
const capSysAdmin, capPerfmon = 21, 38

// judgePerfEvents judges whether this user may have the kernel record when programs have a CPU.
// The question does not apply to users with all rights, such as root.
func judgePerfEvents(d *Doctor) (*Finding, error) {
	capabilities, err := d.capabilities()
	if err != nil || capabilities&(1<<capSysAdmin|1<<capPerfmon) != 0 {
		return nil, err
	}
	level, err := d.files().integer("proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return nil, err
	}
	seen := fmt.Sprintf("kernel.perf_event_paranoid is %d", level)
	if level <= mostParanoid {
		return fine(seen + ", at which every user may see when programs of theirs had a CPU"), nil
	}
	return worthNoting(seen+", at which Debian's and Ubuntu's kernels refuse perf events to all but root",
		"run can't see when a program had a CPU and when others had it: only the kernel's accounts are left, and its verdict is suspect",
		fmt.Sprintf("sudo sysctl kernel.perf_event_paranoid=%d, or run as root", mostParanoid)), nil
}

// capabilities returns the effective capabilities of this process (proc_pid_status(5)).
func (d *Doctor) capabilities() (uint64, error) {
	hex, err := d.files().status("CapEff")
	if err != nil {
		return 0, err
	}
	set, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/status holds %q, no set of capabilities", hex)
	}
	return set, nil
}
