package machine

import (
	"math"
	"testing"
	"testing/fstest"
)

// The kernel writes the time in nanoseconds in version 1 and in microseconds in version 2
// (Documentation/scheduler/sched-bwc.rst, Documentation/admin-guide/cgroup-v2.rst).
func TestStoppedNs(t *testing.T) {
	for text, want := range map[string]float64{
		"nr_periods 9\nnr_throttled 3\nthrottled_time 123456789\n":          123456789,
		"usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n": 1500e3,
		"":                                   math.NaN(),
		"throttled_usec\n":                   math.NaN(),
		"throttled_usec -1\n":                math.NaN(),
		"throttled_usec x\nthrottled_time 7": 7,
	} {
		if got := stoppedNs(text); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// In both versions, a stop of a group between two looks is noticed with its length.
func TestThrottlingOfAGroup(t *testing.T) {
	root := fstest.MapFS{
		"proc/self/cgroup":           {Data: []byte("0::/a/b\n")},
		"proc/self/mountinfo":        {Data: []byte("31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")},
		"sys/fs/cgroup/a/cpu.stat":   {Data: []byte("nr_throttled 0\nthrottled_usec 0\n")},
		"sys/fs/cgroup/a/b/cpu.stat": {Data: []byte("nr_throttled 1\nthrottled_usec 10\n")},
	}
	watch := OpenThrottling(root)
	if watch.Throttled() || watch.StoppedNs() != 10e3 {
		t.Errorf("stopped for %v ns", watch.StoppedNs())
	}
	root["sys/fs/cgroup/a/cpu.stat"].Data = []byte("nr_throttled 2\nthrottled_usec 90000\n")
	if !watch.Throttled() || watch.StoppedNs() != 90.01e6 {
		t.Errorf("stopped for %v ns", watch.StoppedNs())
	}
	if none := OpenThrottling(fstest.MapFS{}); none.Throttled() || !math.IsNaN(none.StoppedNs()) {
		t.Errorf("no groups: %v", none.StoppedNs())
	}
}

// In both versions, a group has a quota of its own or none. The root group of version 2 has no cpu.max.
func TestHasQuota(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       bool
	}{
		"version 2":                  {"cpu.max", "20000 100000\n", true},
		"version 2, no quota":        {"cpu.max", "max 100000\n", false},
		"version 2, the root group":  {"cpu.weight", "100\n", false},
		"version 1":                  {"cpu.cfs_quota_us", "20000\n", true},
		"version 1, no quota":        {"cpu.cfs_quota_us", "-1\n", false},
		"a quota that can't be read": {"cpu.max", "?\n", false},
	} {
		root := fstest.MapFS{"g/cpu.stat": {}, "g/" + c.file: {Data: []byte(c.text)}, "g/cpu.cfs_period_us": {Data: []byte("100000\n")}}
		if got := HasQuota(root, "g/cpu.stat"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
