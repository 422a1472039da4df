package machine

import (
	"io/fs"
	"math"
	"path"
)

// Throttling watches whether the control groups of this process are throttled: stopped until the
// next period because their CPU quota is used up (Documentation/scheduler/sched-bwc.rst).
type Throttling struct {
	root  fs.FS
	names []string // of cpu.stat files
	count int64
}

// OpenThrottling finds the cpu.stat files of this process's groups below root. If there are none,
// Throttled always returns false.
func OpenThrottling(root fs.FS) *Throttling {
	t := &Throttling{root: root, names: CPUStatsOf(root, "self")}
	t.count = t.periods()
	return t
}

// CPUStatsOf returns the names below root of the cpu.stat files of a process's groups and of the groups around them. The
// process is given by its number.
func CPUStatsOf(root fs.FS, process string) (names []string) {
	_ = files{root}.groupDirectories(process, func(_ int, directory string) { // without groups nothing is throttled
		name := directory + "/cpu.stat"
		if _, err := fs.Stat(root, name); err == nil {
			names = append(names, name)
		}
	})
	return names
}

// HasQuota reports whether the group of a cpu.stat file has a CPU quota of its own.
func HasQuota(root fs.FS, cpuStat string) bool {
	f, directory := files{root}, path.Dir(cpuStat)
	limit, err := readLimitV2(f, directory)
	if err != nil {
		limit, _ = readLimitV1(f, directory)
	}
	return limit != nil
}

// StoppedNsIn returns the total time for which the group of a cpu.stat file has been stopped so far, summed over its CPUs, in
// nanoseconds; NaN if the file does not tell it.
func StoppedNsIn(root fs.FS, cpuStat string) float64 {
	text, err := fs.ReadFile(root, cpuStat)
	if err != nil {
		return math.NaN()
	}
	return stoppedNs(string(text))
}

// Throttled reports whether a group was throttled since the previous call, or since the watch was
// opened. It takes a few microseconds per group.
func (t *Throttling) Throttled() bool {
	now := t.periods()
	was := t.count
	t.count = now
	return now > was
}

// StoppedNs returns the total time for which the groups have been stopped so far, summed over
// their CPUs, in nanoseconds; NaN if no group tells it.
func (t *Throttling) StoppedNs() float64 {
	sum, known := 0.0, false
	for _, name := range t.names {
		if ns := StoppedNsIn(t.root, name); !math.IsNaN(ns) {
			sum, known = sum+ns, true
		}
	}
	if !known {
		return math.NaN()
	}
	return sum
}

// stoppedNs returns throttled_time (version 1) or throttled_usec (version 2) of a cpu.stat file in
// nanoseconds; NaN if it has neither.
func stoppedNs(text string) float64 {
	if ns, ok := countIn(text, "throttled_time"); ok {
		return float64(ns)
	}
	if us, ok := countIn(text, "throttled_usec"); ok {
		return 1e3 * float64(us)
	}
	return math.NaN()
}

// periods returns the number of periods in which the groups were throttled so far.
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

// throttledPeriods returns nr_throttled of a cpu.stat file; 0 if it has none.
func throttledPeriods(text string) int64 {
	n, ok := countIn(text, "nr_throttled")
	if !ok || n > math.MaxInt64 {
		return 0
	}
	return int64(n)
}
