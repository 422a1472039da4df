package machine

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/remedy"
)

// These are rates of interrupts on one CPU, without its timer's. Above the first they are noted;
// above the second they spoil measurements: at 1 to 5 µs each they take about a percent of the
// time.
const (
	notedInterruptHz    = 500
	spoilingInterruptHz = 5000
)

// interrupts reads the interrupts. It returns an error if a measured CPU is missing.
func (d *Doctor) interrupts() (Interrupts, error) {
	all, err := ReadInterrupts(d.Root)
	if err != nil {
		return nil, err
	}
	for _, cpu := range d.CPUs {
		if !all.list(cpu) {
			return nil, fmt.Errorf("/proc/interrupts has no column for CPU %d", cpu)
		}
	}
	return all, nil
}

// list reports whether at least one line counts interrupts of the CPU.
func (i Interrupts) list(cpu int) bool {
	for _, counts := range i {
		if _, ok := counts[cpu]; ok {
			return true
		}
	}
	return false
}

// judgeInterrupts judges the interrupts on the measured CPUs, except the timer's, which can't be
// avoided.
func judgeInterrupts(d *Doctor, before, after Interrupts, window time.Duration) (*Finding, error) {
	var worst int
	var worstHz float64
	for _, cpu := range d.CPUs {
		_, others, _ := after.Since(before, cpu)
		if hz := float64(others) / window.Seconds(); hz >= worstHz {
			worst, worstHz = cpu, hz
		}
	}
	seen := fmt.Sprintf("%.0f interrupts a second beside the timer's on CPU %d, in the last %.0f ms", worstHz, worst, float64(window)/1e6)
	if worstHz < notedInterruptHz {
		return fine(seen), nil
	}
	lines := after.busiest(before, worst)
	seen += ", most of them on the lines " + strings.Join(lines, ", ")
	const effect = "each takes 1 to 5 µs out of what runs there, and some of the caches"
	fix := d.interruptFix(lines)
	if worstHz < spoilingInterruptHz {
		return worthNoting(seen, effect, fix), nil
	}
	return spoiling(seen, effect, fix), nil
}

// busiest names the up to three lines that counted the most interrupts on a CPU since an earlier
// reading.
func (after Interrupts) busiest(before Interrupts, cpu int) []string {
	grown := map[string]uint64{}
	for name, counts := range after {
		if n, was := counts[cpu], before[name][cpu]; !isTimer(name) && n > was && printable(name) {
			grown[name] = n - was
		}
	}
	names := slices.SortedFunc(maps.Keys(grown), func(a, b string) int {
		return cmp.Or(cmp.Compare(grown[b], grown[a]), cmp.Compare(a, b))
	})
	return names[:min(3, len(names))]
}

// interruptFix says how to move the first device among the lines to other CPUs. Lines named with
// letters are interrupts that CPUs send to one another for the programs that run on them; they
// can't be moved (Documentation/core-api/irq/irq-affinity.rst).
func (d *Doctor) interruptFix(lines []string) string {
	i := slices.IndexFunc(lines, d.mayMove)
	if i < 0 {
		return "stop the programs whose threads wake and stop one another: top -H shows them"
	}
	if others := d.otherCPUs(); others != "" {
		return fmt.Sprintf("as root: echo %s > /proc/irq/%s/smp_affinity_list", others, lines[i])
	}
	return fmt.Sprintf("stop what uses the device (grep %[1]s: /proc/interrupts names it), or measure on some CPUs only (%[2]s) and as root move it to the others: echo CPUS > /proc/irq/%[1]s/smp_affinity_list", lines[i], remedy.Of(remedy.CPUs))
}

// mayMove reports whether a line is that of a device whose interrupts may go to another CPU. Some numbered lines belong to one
// CPU each, such as those by which the CPUs of a guest of Xen interrupt one another; their list of CPUs can't be set.
func (d *Doctor) mayMove(name string) bool {
	if _, err := strconv.Atoi(name); err != nil {
		return false
	}
	info, err := fs.Stat(d.Root, "proc/irq/"+name+"/smp_affinity_list")
	return err != nil || info.Mode().Perm()&0o200 != 0 // if it is not known, it is worth a try
}

// otherCPUs returns the CPUs that are online and not measured; it is empty if there are none or
// they are not known.
func (d *Doctor) otherCPUs() string {
	list, _ := d.files().line("sys/devices/system/cpu/online")
	online, _ := ParseCPUList(list)
	return FormatCPUList(slices.DeleteFunc(online, func(cpu int) bool { return slices.Contains(d.CPUs, cpu) }))
}
