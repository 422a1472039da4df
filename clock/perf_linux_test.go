//go:build linux && (amd64 || arm64)

package clock

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

func TestPerfRefusals(t *testing.T) {
	root := fstest.MapFS{"proc/sys/kernel/perf_event_paranoid": {Data: []byte("3\n")}}
	cases := []struct {
		errno  unix.Errno
		reason Reason
		remedy string
	}{
		{unix.EACCES, PermissionDenied, "kernel.perf_event_paranoid to 2 or less (now 3)"},
		{unix.EPERM, PermissionDenied, "CAP_PERFMON"},
		{unix.ENOENT, NotSupportedHere, "performance monitoring unit"},
		{unix.EOPNOTSUPP, NotSupportedHere, "performance monitoring unit"},
		{unix.ENODEV, NotSupportedHere, "performance monitoring unit"},
		{unix.ENXIO, NotSupportedHere, "performance monitoring unit"},
		{unix.ENOSYS, NoSystemCall, "CONFIG_PERF_EVENTS"},
		{unix.EMFILE, Refused, "ulimit -n"},
		{unix.EBUSY, Refused, "end the other program"},
		{unix.EFAULT, Refused, ""},
	}
	for _, c := range cases {
		u := perfRefusal(root, fmt.Errorf("wrapped: %w", c.errno))
		if u.Reason != c.reason || !strings.Contains(u.Remedy, c.remedy) || !strings.Contains(u.Detail, c.errno.Error()) {
			t.Errorf("%v: %+v", c.errno, u)
		}
	}
}

func TestPerfPermissionWithoutProc(t *testing.T) {
	if remedy := perfPermission(fstest.MapFS{}); !strings.Contains(remedy, "CAP_PERFMON") || strings.Contains(remedy, "now") {
		t.Errorf("the remedy is %q", remedy)
	}
}

// The remedy was to set the sysctl to 2 or less where it is 2.
func TestPerfPermissionThatTheSysctlDoesNotForbid(t *testing.T) {
	root := fstest.MapFS{"proc/sys/kernel/perf_event_paranoid": {Data: []byte("2\n")}}
	if remedy := perfPermission(root); !strings.Contains(remedy, "seccomp") || strings.Contains(remedy, "set the sysctl") {
		t.Errorf("the remedy is %q", remedy)
	}
}

func TestPerfReadingsThatShareACounter(t *testing.T) {
	c := perfClock(-1, perfEvents["perf-cycles"])
	if c.Running() != 1 || c.Kind != KindCounter || c.UnitNs != 0 {
		t.Errorf("the clock is %+v, running %g", *c, c.Running())
	}
	if task := perfClock(-1, perfEvents["perf-task-clock"]); task.Kind != KindCPU || task.UnitNs != 1 {
		t.Errorf("the task clock is %+v", *task)
	}
}
