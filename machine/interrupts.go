package machine

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Interrupts maps each line of /proc/interrupts to the number of these interrupts on each CPU
// since the system started. A line's name is a number, or letters such as LOC for the local timer
// (proc_interrupts(5)).
type Interrupts map[string]map[int]uint64

// ReadInterrupts reads /proc/interrupts below root. It skips lines and columns that it can't
// read.
func ReadInterrupts(root fs.FS) (Interrupts, error) {
	text, err := files{root}.text("proc/interrupts")
	if err != nil {
		return nil, fmt.Errorf("interrupts: %w", err)
	}
	return parseInterrupts(text)
}

// hyperVTimer is the line of the local timer on a guest of Hyper-V, where LOC hardly counts.
const hyperVTimer = "HVS"

// archTimer is the name of the local timer on arm64.
const archTimer = "arch_timer"

// xenTimer is the name of the local timers of a guest of Xen. Each CPU has a line of its own, which ends in timer0, timer1 and
// so on (drivers/xen/events, arch/x86/xen/time.c), and LOC stays 0.
const xenTimer = "xen-timer"

// IsTimerAction reports whether an interrupt of this name, by the driver that handles it, is one of a CPU's local timer.
func IsTimerAction(name string) bool { return name == archTimer || isNumbered(name, "timer") }

// isTimer reports whether a line counts interrupts of CPUs' local timers.
func isTimer(name string) bool {
	return name == "LOC" || name == archTimer || name == hyperVTimer || name == xenTimer
}

// nameOf returns the name of a line. A timer's line may have a number, which says less than its last word does.
func nameOf(name, rest string) string {
	fields := strings.Fields(rest)
	switch last := fields[len(fields)-1]; {
	case last == archTimer:
		return archTimer
	case strings.Contains(rest, "xen-percpu") && IsTimerAction(last):
		return xenTimer
	}
	return name
}

// isNumbered reports whether a word is a prefix and a number.
func isNumbered(word, prefix string) bool {
	number, found := strings.CutPrefix(word, prefix)
	_, err := strconv.ParseUint(number, 10, 32)
	return found && err == nil
}

func parseInterrupts(text string) (Interrupts, error) {
	head, rest, _ := strings.Cut(text, "\n")
	var cpus []int
	for _, title := range strings.Fields(head) {
		cpu, err := strconv.Atoi(strings.TrimPrefix(title, "CPU"))
		if err != nil || !strings.HasPrefix(title, "CPU") || cpu < 0 {
			return nil, fmt.Errorf("interrupts: /proc/interrupts starts with %q, not with a list of CPUs", clip(head))
		}
		cpus = append(cpus, cpu)
	}
	all := Interrupts{}
	for line := range strings.Lines(rest) {
		name, counts, ok := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(counts)
		if !ok || len(fields) < max(1, len(cpus)) {
			continue // a count for the whole machine, such as that of errors
		}
		name = nameOf(name, counts)
		if all[name] == nil {
			all[name] = map[int]uint64{}
		}
		for i, cpu := range cpus {
			if n, err := strconv.ParseUint(fields[i], 10, 64); err == nil {
				all[name][cpu] += n // Xen's timers have several lines
			}
		}
	}
	return all, nil
}

// Since returns how many local timer interrupts and how many others the CPU has had since an
// earlier reading; known is false if the file does not tell.
func (after Interrupts) Since(before Interrupts, cpu int) (localTimer, others uint64, known bool) {
	for name, counts := range after {
		n, m := counts[cpu], before[name][cpu]
		if n < m {
			continue // the count wrapped, or the CPU was offline in between
		}
		if isTimer(name) {
			localTimer, known = localTimer+n-m, true
		} else {
			others += n - m
		}
	}
	return localTimer, others, known
}
