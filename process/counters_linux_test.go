package process

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"chronoscope/machine"
)

func TestParseThread(t *testing.T) {
	for text, want := range map[string]Thread{"12 34 5\n": {CPUNs: 12, WaitNs: 34}, "7 0 1": {CPUNs: 7}, "9223372036854775807 1 1\n": {CPUNs: 9223372036854775807, WaitNs: 1}} {
		if got, err := parseThread("x", []byte(text)); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1 2", "1 2 3 4", "-1 2 3", "1 -2 3", "0 0 0\n", "a b c", "9223372036854775808 1 1"} {
		if got, err := parseThread("x", []byte(text)); err == nil {
			t.Errorf("%q passes as %+v", text, got)
		}
	}
}

func TestParsePeak(t *testing.T) {
	for text, want := range map[string]int64{
		"Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n": 2048 * 1024,
		"": 0, "VmHWM:\n": 0, "VmHWM: x kB\n": 0, "VmHWM: 5 MB\n": 0, "VmHWM: -5 kB\n": 0, "VmHWM: 99999999999999999999 kB\n": 0,
	} {
		if got := parsePeak([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Where the kernel does not count waits, the error says how to turn that on, and not that /proc hides the files.
func TestNoThreads(t *testing.T) {
	for _, c := range []struct {
		unread     error
		says, hush string
	}{
		{machine.ErrUncounted, "sysctl kernel.task_delayacct=1", "/proc must not hide"},
		{&fs.PathError{Op: "open", Path: "/proc/7/schedstat", Err: fs.ErrPermission}, "/proc must not hide", "task_delayacct"},
		{nil, "has no threads", "/proc must not hide"},
	} {
		err := noThreads(7, c.unread)
		if text := err.Error(); !strings.Contains(text, c.says) || strings.Contains(text, c.hush) || c.unread != nil && !errors.Is(err, c.unread) {
			t.Errorf("%v: %v", c.unread, err)
		}
	}
}
