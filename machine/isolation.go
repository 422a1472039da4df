package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"chronoscope/remedy"
)

// judgeIsolation judges whether the measured CPUs are kept free of other work
// (Documentation/admin-guide/kernel-parameters.txt, isolcpus and nohz_full).
func judgeIsolation(d *Doctor) (*Finding, error) {
	if online := d.Machine.CPUsOnline; online != nil && *online < 2 {
		return nil, nil // a single CPU can't be isolated
	}
	isolated, err := d.cpuSet("sys/devices/system/cpu/isolated")
	if err != nil {
		return nil, err
	}
	tickless, err := d.cpuSet("sys/devices/system/cpu/nohz_full")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // ErrNotExist: the kernel has no CONFIG_NO_HZ_FULL
		return nil, err
	}
	const effect = "the kernel may run anything on the measured CPU, and its timer interrupts it"
	if len(isolated) == 0 {
		last := d.CPUs[len(d.CPUs)-1]
		return worthNoting("no CPU is isolated", effect, fmt.Sprintf(
			"for the last percent: start the system with the boot parameters isolcpus=%d nohz_full=%[1]d rcu_nocbs=%[1]d, and measure with %[2]s", last, remedy.Of(remedy.CPUs, last))), nil
	}
	seen := fmt.Sprintf("isolated CPUs %s", FormatCPUList(isolated))
	if len(tickless) > 0 {
		seen += fmt.Sprintf(", without timer tick %s", FormatCPUList(tickless))
	}
	outside := func(cpu int) bool { return !slices.Contains(isolated, cpu) }
	if slices.ContainsFunc(d.CPUs, outside) {
		return worthNoting(seen+fmt.Sprintf("; measurements run on %s", FormatCPUList(d.CPUs)), effect,
			"measure there: "+remedy.Of(remedy.CPUs, FormatCPUList(isolated))), nil
	}
	return fine(seen), nil
}

// cpuSet reads a list of CPUs that may be empty. Some kernels write an empty list as "(null)".
func (d *Doctor) cpuSet(name string) ([]int, error) {
	list, err := d.files().line(name)
	if err != nil || list == "" || list == "(null)" {
		return nil, err
	}
	cpus, err := ParseCPUList(list)
	if err != nil {
		return nil, fmt.Errorf("/%s: %w", name, err)
	}
	return cpus, nil
}
