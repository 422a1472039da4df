package machine

import (
	"errors"
	"io/fs"
	"math"
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
	if ns, ok := countIn(text, "throttled_time"); ok {
		return float64(ns)
	}
	if us, ok := countIn(text, "throttled_usec"); ok {
		return 1e3 * float64(us)
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
	n, ok := countIn(text, "nr_throttled")
	if !ok || n > math.MaxInt64 {
		return 0
	}
	return int64(n)
}
