package machine

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// Throttling watches whether the control groups that hold this process are
// throttled: stopped until the next period because their CPU quota is used up
// (Documentation/scheduler/sched-bwc.rst).
type Throttling struct {
	root  fs.FS
	names []string // of cpu.stat files
	count int64
}

// OpenThrottling finds the cpu.stat files of this process's groups below root. Where there
// are none, nothing is ever throttled.
func OpenThrottling(root fs.FS) *Throttling { return OpenThrottlingOf(root, "self") }

// OpenThrottlingOf is [OpenThrottling] of another process, by its number.
func OpenThrottlingOf(root fs.FS, process string) *Throttling {
	t := &Throttling{root: root}
	f := files{root}
	groups, err1 := f.text("proc/" + process + "/cgroup")
	mounts, err2 := f.text("proc/self/mountinfo")
	if err := errors.Join(err1, err2); err != nil {
		return t
	}
	for _, mount := range parseCgroupMounts(mounts) {
		for _, group := range parseCgroups(groups) {
			if !mount.shows(group) {
				continue
			}
			for _, directory := range mount.directories(group) {
				name := directory + "/cpu.stat"
				if _, err := fs.Stat(root, name); err == nil {
					t.names = append(t.names, name)
				}
			}
		}
	}
	t.count = t.periods()
	return t
}

// Throttled reports that a group was throttled since the call before, or since
// the watch was opened. It takes some microseconds for each group.
func (t *Throttling) Throttled() bool {
	now := t.periods()
	was := t.count
	t.count = now
	return now > was
}

// StoppedNs is the time for which the groups have been stopped so far, all together, in
// nanoseconds of their CPUs' time; NaN where no group tells.
func (t *Throttling) StoppedNs() float64 {
	sum, known := 0.0, false
	for _, name := range t.names {
		text, err := fs.ReadFile(t.root, name)
		if err != nil {
			continue
		}
		if ns := stoppedNs(string(text)); !math.IsNaN(ns) {
			sum, known = sum+ns, true
		}
	}
	if !known {
		return math.NaN()
	}
	return sum
}

// stoppedNs is throttled_time (version 1) or throttled_usec (version 2) of a cpu.stat file;
// NaN where it has neither.
func stoppedNs(text string) float64 {
	units := map[string]float64{"throttled_time": 1, "throttled_usec": 1e3}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if unit, ok := units[name]; ok {
			if n, err := strconv.ParseUint(value, 10, 53); err == nil {
				return float64(n) * unit
			}
		}
	}
	return math.NaN()
}

// periods is in how many periods the groups were throttled so far.
func (t *Throttling) periods() int64 {
	var sum int64
	for _, name := range t.names {
		text, err := fs.ReadFile(t.root, name)
		if err == nil {
			sum += throttledPeriods(string(text))
		}
	}
	return sum
}

// throttledPeriods is nr_throttled of a cpu.stat file, 0 where it has none.
func throttledPeriods(text string) int64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "nr_throttled "); ok {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	return 0
}
