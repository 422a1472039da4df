package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"chronoscope/remedy"
)

// busySibling is the share of time for which a sibling must run to count as busy. A window of
// 200 ms has 20 ticks, and this process takes one or two of them.
const busySibling = 0.2

// judgeSibling looks for work on CPUs that share a core with a measured CPU
// (Documentation/admin-guide/cputopology.rst).
func judgeSibling(d *Doctor, before, after map[int]CPUTimes, window time.Duration) (*Finding, error) {
	siblings, err := d.siblings()
	if err != nil || len(siblings) == 0 {
		return nil, err
	}
	for _, others := range siblings {
		if err := listed(after, others); err != nil {
			return nil, err
		}
	}
	busy := func(cpu int) bool { return after[cpu].Since(before[cpu]).busyShare() >= busySibling }
	var pairs []string
	var quiet []int // CPUs of idle cores
	for _, cpu := range d.CPUs {
		beside := slices.DeleteFunc(slices.Clone(siblings[cpu]), func(s int) bool { return !busy(s) })
		if len(beside) > 0 {
			pairs = append(pairs, fmt.Sprintf("CPU %s beside CPU %d", FormatCPUList(beside), cpu))
		} else if !busy(cpu) {
			quiet = append(quiet, cpu)
		}
	}
	if len(pairs) == 0 {
		return fine(fmt.Sprintf("no CPU that shares a core with a measured one was busy in the last %.0f ms", float64(window)/1e6)), nil
	}
	fix := "stop what runs there: ps -eLo psr,pcpu,comm --sort=-pcpu | head shows it"
	if len(quiet) > 0 {
		fix += "; or measure on an idle core: " + remedy.Of(remedy.CPUs, quiet[0])
	}
	return spoiling(
		fmt.Sprintf("busy in the last %.0f ms on the same core: %s", float64(window)/1e6, firstOf(pairs, 6)),
		"the measured thread gets about half of the core, which no counter of waiting time shows", fix), nil
}

// siblings returns, for each measured CPU that shares its core, the other CPUs of the core.
func (d *Doctor) siblings() (map[int][]int, error) {
	all := map[int][]int{}
	for _, cpu := range d.CPUs {
		name := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)
		list, err := d.files().value(name)
		if err != nil {
			return nil, err
		}
		core, err := ParseCPUList(string(list))
		if err != nil {
			return nil, fmt.Errorf("/%s: %w", name, err)
		}
		if others := slices.DeleteFunc(core, func(c int) bool { return c == cpu }); len(others) > 0 {
			all[cpu] = others
		}
	}
	return all, nil
}

// firstOf returns the first n names of a list, and the number of the others.
func firstOf(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
