package systemd

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// settings returns the values of a setting of the unit, in their order.
func settings(t *testing.T, name string) (values []string) {
	t.Helper()
	text, err := os.ReadFile("chronoscope.service")
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), "="); key == name {
			values = append(values, value)
		}
	}
	return values
}

// group returns the system calls of a set such as @clock, as systemd knows it.
func group(t *testing.T, name string) (calls []string) {
	t.Helper()
	if !strings.HasPrefix(name, "@") {
		return []string{name}
	}
	text, err := exec.Command("systemd-analyze", "syscall-filter", name).Output()
	if err != nil {
		t.Fatalf("%v: install systemd, as .ci/needs does", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != name && !strings.HasPrefix(line, "#") && line != "" {
			calls = append(calls, group(t, line)...)
		}
	}
	return calls
}

// The filter lets the calls pass that serve needs, and none that changes the machine
// (systemd.exec(5), SystemCallFilter=: a line adds calls, a line with ~ removes them).
func TestSystemCalls(t *testing.T) {
	if values := settings(t, "ProtectClock"); slices.Contains(values, "yes") {
		t.Error("ProtectClock=yes refuses adjtimex, which serve reads")
	}
	if values := settings(t, "CapabilityBoundingSet"); len(values) != 1 || strings.Contains(values[0], "CAP_SYS_TIME") || strings.HasPrefix(values[0], "~") {
		t.Errorf("with the capabilities %q, adjtimex could set clocks", values)
	}
	passes := map[string]bool{}
	for _, line := range settings(t, "SystemCallFilter") {
		calls, removes := strings.CutPrefix(line, "~")
		for name := range strings.FieldsSeq(calls) {
			for _, call := range group(t, name) {
				passes[call] = !removes
			}
		}
	}
	for call, want := range map[string]bool{
		"adjtimex": true, "perf_event_open": true, "sched_setaffinity": true, "clock_gettime": true,
		"clock_settime": false, "settimeofday": false, "mount": false, "ptrace": false, "reboot": false,
	} {
		if passes[call] != want {
			t.Errorf("%s passes: %v, want %v", call, passes[call], want)
		}
	}
}
