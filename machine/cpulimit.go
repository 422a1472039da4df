package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// CPULimit is a CPU bandwidth limit: in each period, all threads together may use CPUs times the
// period of CPU time; then they are stopped until the next period
// (Documentation/scheduler/sched-bwc.rst).
type CPULimit struct {
	CPUs     float64 `json:"cpus"`
	PeriodNs float64 `json:"period_ns"`
}

// readCPULimit sets the strictest limit of the control groups that this process is in.
func (m *Machine) readCPULimit(f files) {
	limit, errs := limitOf(f, "self")
	m.CPULimit = limit
	for _, err := range errs {
		m.caveat("CPU limit: %v", err)
	}
}

// CPULimitOf returns the strictest CPU limit of the control groups of a process, given by its
// number; nil if none is known.
func CPULimitOf(root fs.FS, process string) *CPULimit {
	limit, _ := limitOf(files{root}, process)
	return limit
}

// limitOf returns the strictest limit of a process's control groups and their ancestors, of versions
// 1 and 2, and the errors of reading them.
func limitOf(f files, process string) (strictest *CPULimit, errs []error) {
	seen := false
	err := f.groupDirectories(process, func(version int, directory string) {
		seen = true
		read := readLimitV2
		if version == 1 {
			read = readLimitV1
		}
		limit, err := read(f, directory)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the root group has no limit
			errs = append(errs, err)
		}
		strictest = stricter(strictest, limit)
	})
	if err != nil {
		return nil, []error{err}
	}
	if !seen {
		errs = append(errs, errors.New("no control group of this process is mounted; a limit may be in force all the same"))
	}
	return strictest, errs
}

// stricter returns the limit that allows fewer CPUs. A nil limit allows all.
func stricter(a, b *CPULimit) *CPULimit {
	if a == nil || b != nil && b.CPUs < a.CPUs {
		return b
	}
	return a
}

// readLimitV2 reads cpu.max (Documentation/admin-guide/cgroup-v2.rst). It holds "max" or the
// quota, then the period, both in microseconds. The limit is nil for "max".
func readLimitV2(f files, directory string) (*CPULimit, error) {
	name := directory + "/cpu.max"
	line, err := f.line(name)
	if err != nil {
		return nil, err
	}
	quota, period, _ := strings.Cut(line, " ")
	if quota == "max" {
		return nil, nil
	}
	quotaUs, errQ := strconv.ParseInt(quota, 10, 64)
	periodUs, errP := strconv.ParseInt(period, 10, 64)
	if errQ != nil || errP != nil {
		return nil, fmt.Errorf("/%s holds %q, not a quota and a period", name, clip(line))
	}
	return newCPULimit(quotaUs, periodUs)
}

// readLimitV1 reads cpu.cfs_quota_us, which is -1 if there is no limit, and cpu.cfs_period_us
// (Documentation/scheduler/sched-bwc.rst).
func readLimitV1(f files, directory string) (*CPULimit, error) {
	quotaUs, err := f.integer(directory + "/cpu.cfs_quota_us")
	if err != nil || quotaUs == -1 {
		return nil, err
	}
	periodUs, err := f.integer(directory + "/cpu.cfs_period_us")
	if err != nil {
		return nil, err
	}
	return newCPULimit(quotaUs, periodUs)
}

func newCPULimit(quotaUs, periodUs int64) (*CPULimit, error) {
	if quotaUs <= 0 || periodUs <= 0 {
		return nil, fmt.Errorf("a quota of %d µs in a period of %d µs can't be", quotaUs, periodUs)
	}
	return &CPULimit{CPUs: float64(quotaUs) / float64(periodUs), PeriodNs: float64(periodUs) * 1e3}, nil
}
