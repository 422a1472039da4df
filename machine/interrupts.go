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
		if !ok || len(fields) < len(cpus) {
			continue // a count for the whole machine, such as that of errors
		}
		perCPU := map[int]uint64{}
		for i, cpu := range cpus {
			if n, err := strconv.ParseUint(fields[i], 10, 64); err == nil {
				perCPU[cpu] = n
			}
		}
		if strings.HasSuffix(strings.TrimSpace(counts), archTimer) {
			name = archTimer // on arm64 the line of the local timer has a number
		}
		all[name] = perCPU
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
		switch name {
		case "LOC", archTimer, hyperVTimer:
			localTimer, known = localTimer+n-m, true
		default:
			others += n - m
		}
	}
	return localTimer, others, known
}
