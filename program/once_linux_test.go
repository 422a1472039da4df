package program

import (
	"slices"
	"testing"
)

// A debugger or a leak sanitizer fails where it is traced, and so may a process that the command starts: a single run is
// traced only for a metric that it would lack otherwise. strace(1) and gdb(1) could trace nothing below --once.
func TestOnceIsUntraced(t *testing.T) {
	traced := shell("sh -c 'grep ^TracerPid: /proc/self/status | grep -qv [1-9]'; exit $?")
	if run, err := Once(background, traced, Setting{}); err != nil || run.Rejected {
		t.Errorf("it was traced: %v, %v", err, run.Why)
	}
	c := shell("exit 0")
	c.Metrics = slices.DeleteFunc(slices.Clone(SystemMetrics), func(m Metric) bool { return m.Name != "max_rss_bytes" })
	if run, err := Once(background, c, Setting{}); err != nil || run.Untraced == nil && run.MaxRSSBytes == 0 {
		t.Errorf("%v, %v: %d bytes", err, run.Untraced, run.MaxRSSBytes)
	}
}
