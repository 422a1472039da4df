//go:build linux && (amd64 || arm64)

package clock

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const disabledLater = "CLOCK_TEST_DISABLED_LATER"

// counterName is the name of this architecture's unfenced counter.
var counterName = map[string]string{"amd64": "tsc", "arm64": "cntvct"}[runtime.GOARCH]

// TestDisabledLaterChild runs as a child process: it opens a counter, disables the counter for
// itself, opens it again, and prints the result.
func TestDisabledLaterChild(t *testing.T) {
	if os.Getenv(disabledLater) == "" {
		t.Skip("a child of TestCounterDisabledLater")
	}
	runtime.LockOSThread()
	tell := func(err error) {
		os.Stdout.WriteString("again: " + string(reasonOf(err)) + "\n")
		os.Exit(0)
	}
	if _, err := Open(counterName); err != nil {
		tell(err)
	}
	if err := unix.Prctl(unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV, 0, 0, 0); err != nil {
		tell(&Unavailable{Reason: NotSupportedHere})
	}
	_, err := Open(counterName)
	unix.Prctl(unix.PR_SET_TSC, unix.PR_TSC_ENABLE, 0, 0, 0)
	tell(err)
}

// If a counter was readable and is then disabled for the thread, Open refuses it, and finds that
// out without reading it. In rare cases the Go runtime reads the counter meanwhile and the child
// dies, so several children are tried.
func TestCounterDisabledLater(t *testing.T) {
	const tries = 5
	for range tries {
		child := exec.Command(os.Args[0], "-test.run=^TestDisabledLaterChild$")
		child.Env = append(os.Environ(), disabledLater+"=1")
		out, err := child.Output()
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			continue // the Go runtime read the counter
		}
		if err != nil {
			t.Skipf("no children here: %v", err)
		}
		_, said, _ := strings.Cut(string(out), "again: ")
		switch reason := Reason(strings.TrimSpace(said)); reason {
		case DisabledForProcess:
		case NotSupportedHere, Trapped, NoInstruction:
			t.Skipf("the counter can't be disabled here: %s", reason)
		default:
			t.Errorf("a counter that was disabled since is opened with reason %q: %q", reason, out)
		}
		return
	}
	t.Errorf("the child died %d times of a counter that was opened though it is disabled", tries)
}

// outcomeIs makes trials of an instruction return err until the test is over.
func outcomeIs(t *testing.T, i instruction, err error) {
	t.Helper()
	real := outcomes[i]
	outcomes[i] = func() (string, error) { return "", err }
	t.Cleanup(func() { outcomes[i] = real })
}

// A clock whose instruction failed in the trial is not opened, and it is listed with the reason.
func TestCounterThatFailsItsTrial(t *testing.T) {
	for failure, want := range map[error]Reason{
		disabled(theInstruction):                            DisabledForProcess,
		judge(theInstruction, unix.WaitStatus(unix.SIGSYS)): Trapped,
	} {
		outcomeIs(t, theInstruction, failure)
		for _, name := range []string{counterName, counterName + "-fenced"} {
			if _, err := Open(name); reasonOf(err) != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
		clocks, missing := List()
		listed := false
		for _, u := range missing {
			listed = listed || u.Name == counterName && u.Reason == want && u.Detail != ""
		}
		for _, c := range clocks {
			listed = listed && c.Name != counterName
			c.Close()
		}
		if !listed {
			t.Errorf("%s is not listed as %s", counterName, want)
		}
	}
}

// A counter whose readings take longer than on any processor is reported as emulated; another
// counter is not.
func TestTrappedCounter(t *testing.T) {
	now := int64(0)
	read := func() int64 { now++; return now }
	if note := trapped(read); note != "" {
		t.Errorf("a counter in memory: %q", note)
	}
	slow := func() int64 { Spin(10_000); return read() }
	if note := trapped(slow); !strings.Contains(note, "traps and emulates") {
		t.Errorf("a counter that takes microseconds: %q", note)
	}
}

// perfFile returns a descriptor from which one reading after another can be read, in the format
// of a descriptor of perf_event_open(2).
func perfFile(t *testing.T, readings ...perfReading) int {
	t.Helper()
	name := filepath.Join(t.TempDir(), "event")
	file, err := os.Create(name)
	if err == nil {
		for _, r := range readings {
			err = errors.Join(err, binary.Write(file, binary.NativeEndian, []uint64{r.value, r.enabledNs, r.runningNs}))
		}
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	return fd
}

// If an event had to share the hardware's counters, Running returns the share of the time in
// which it counted.
func TestMultiplexedEvent(t *testing.T) {
	c := perfClock(perfFile(t, perfReading{value: 7}, perfReading{value: 9, enabledNs: 1000, runningNs: 250}), perfEvents["perf-cycles"])
	if ticks, share := c.Read(), c.Running(); ticks != 7 || share != 0.25 {
		t.Errorf("it reads %d and ran for %v of its time, want 7 and 0.25", ticks, share)
	}
}

// An event that the kernel accepts but never counts is an error.
func TestEventThatDoesNotCount(t *testing.T) {
	err := perfCounts(perfFile(t, perfReading{value: 3}, perfReading{value: 3}))
	if reasonOf(err) != NotSupportedHere || !strings.Contains(err.Error(), "the event does not count") {
		t.Errorf("%v", err)
	}
	if err := perfCounts(perfFile(t, perfReading{value: 3}, perfReading{value: 4})); err != nil {
		t.Errorf("one that counts: %v", err)
	}
}

// An instruction that CPUID says is missing is not tried.
func TestInstructionThatCPUIDLacks(t *testing.T) {
	if _, err := try(instructionUndefined); reasonOf(err) != NoInstruction || !strings.Contains(err.Error(), "CPUID says that this processor has no ") {
		t.Errorf("%v", err)
	}
}
