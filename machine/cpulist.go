package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU is the highest CPU number that is accepted: eight times the most CPUs for which a Linux
// kernel can be built (CONFIG_NR_CPUS).
const maxCPU = 1<<16 - 1

// ParseCPUList reads a list of CPU numbers in the kernel's list format, such as
// "0-3,8" (cpuset(7)). Order and repetition do not matter; the result is
// ascending, without repetition, and never empty.
func ParseCPUList(list string) ([]int, error) {
	var listed [maxCPU + 1]bool
	for item := range strings.SplitSeq(list, ",") {
		first, last, err := parseCPURange(item)
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w; write numbers and ranges joined by commas, such as 0-3,8", clip(list), err)
		}
		for cpu := first; cpu <= last; cpu++ {
			listed[cpu] = true
		}
	}
	var cpus []int
	for cpu, is := range listed {
		if is {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// FormatCPUList writes CPU numbers in the format that ParseCPUList reads, in the shortest form.
func FormatCPUList(cpus []int) string {
	cpus = slices.Clone(cpus)
	slices.Sort(cpus)
	cpus = slices.Compact(cpus)
	var items []string
	for i := 0; i < len(cpus); {
		end := i + 1
		for end < len(cpus) && cpus[end] == cpus[end-1]+1 {
			end++
		}
		item := strconv.Itoa(cpus[i])
		if end-i > 1 {
			item += "-" + strconv.Itoa(cpus[end-1])
		}
		items = append(items, item)
		i = end
	}
	return strings.Join(items, ",")
}

// parseCPURange reads "3" or "0-3".
func parseCPURange(item string) (first, last int, err error) {
	from, to, isRange := strings.Cut(item, "-")
	if first, err = parseCPU(from); err != nil || !isRange {
		return first, first, err
	}
	if last, err = parseCPU(to); err != nil {
		return 0, 0, err
	}
	if last < first {
		return 0, 0, fmt.Errorf("range %d-%d runs backwards", first, last)
	}
	return first, last, nil
}

func parseCPU(number string) (int, error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a CPU number", clip(number))
	}
	if n > maxCPU {
		return 0, fmt.Errorf("CPU %d is beyond the highest that can be, %d", n, maxCPU)
	}
	return int(n), nil
}

// clip shortens bad input for an error message.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
