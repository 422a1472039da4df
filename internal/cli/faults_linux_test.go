package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/record"
)

func init() {
	sandboxes["without-tsc"] = withoutTSC
	sandboxes["in-time-namespace"] = inTimeNamespace
	if filepath.Base(os.Args[0]) == "in-time-namespace" {
		runtime.LockOSThread() // /proc/self describes the first thread
	}
}

// withoutTSC runs the command with the processor's counter disabled (prctl(2),
// PR_SET_TSC).
func withoutTSC() {
	runtime.LockOSThread() // the setting belongs to the thread, and the command inherits it
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV, 0, 0, 0)
	}
	if err != nil {
		refuse(err)
	}
	// Nothing may come in between, since Go reads the counter now and then.
	refuse(syscall.Exec(path, os.Args[1:], os.Environ()))
}

// inTimeNamespace runs the command with a monotonic clock that is an hour ahead, and a time since
// boot that is two hours ahead (time_namespaces(7)).
func inTimeNamespace() {
	err := unix.Unshare(unix.CLONE_NEWTIME)
	if err == nil {
		err = os.WriteFile("/proc/self/timens_offsets", []byte("monotonic 3600 0\nboottime 7200 0\n"), 0)
	}
	if err != nil {
		refuse(err)
	}
	run(os.Args[1:], &syscall.SysProcAttr{})
}

// A process that inherits a disabled counter is killed when Go itself first reads it, before the
// command begins. It neither hangs nor prints figures.
func TestInheritedTSCOff(t *testing.T) {
	if !clock.CounterCanBeDisabled() {
		t.Skip("this machine can't disable the counter")
	}
	for _, args := range [][]string{{"clocks", "--quick", "--format", "json", "tsc", "cntvct", "monotonic"}, {"fidelity", "--quick", "--format", "json", "--workload", "fibonacci"}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, "without-tsc", append([]string{chronoscope}, args...)...)
		output, err := command.Output()
		if ctx.Err() != nil {
			t.Fatalf("%s hangs", args[0])
		}
		var ended *exec.ExitError
		switch {
		case err == nil && bytes.Contains(output, []byte(`"disabled-for-process`)):
		case !errors.As(err, &ended):
			t.Errorf("%s: %v, %s", args[0], err, output)
		case ended.ExitCode() == noSandbox:
			t.Skipf("the counter can't be disabled here: %s", ended.Stderr)
		case !ended.Sys().(syscall.WaitStatus).Signaled() && ended.ExitCode() != 2 || len(output) > 0:
			t.Errorf("%s ended with %v and %s; want a death by signal, as date dies", args[0], err, output)
		}
	}
}

// after reports whether a progress bar has shown all of doing, in this order.
func after(shown string, doing []string) bool {
	for _, one := range doing {
		_, rest, found := strings.Cut(shown, one)
		if !found {
			return false
		}
		shown = rest
	}
	return true
}

// disturbed runs the command, and disturbs it once its progress bar has shown doing, until the
// command or the disturbance has ended. The command has to succeed.
func disturbed(t *testing.T, doing []string, disturb func(ended context.Context, command *os.Process), args ...string) (output []byte) {
	t.Helper()
	screen, terminal := openTerminal(t)
	var out bytes.Buffer
	command := exec.CommandContext(t.Context(), chronoscope, args...)
	command.Stdout, command.Stderr = &out, terminal
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	ended, end := context.WithCancel(t.Context())
	var disturbance sync.WaitGroup
	begun := false
	shown := watch(screen, func(soFar string) {
		if !begun && after(soFar, doing) {
			begun = true
			disturbance.Go(func() { disturb(ended, command.Process) })
		}
	})
	err := command.Wait()
	end()
	disturbance.Wait()
	if err != nil || !begun {
		t.Fatalf("%v, disturbed: %v; it showed %q", err, begun, shown)
	}
	return out.Bytes()
}

// checking is what the bar shows while each clock is checked.
var checking = []string{"handing readings from CPU to CPU", "watching the clocks"}

// stopLength is longer than any pause that the checks attribute to a busy machine.
const stopLength = 1500 * time.Millisecond

// stop stops a process for a while.
func stop(_ context.Context, command *os.Process) {
	command.Signal(unix.SIGSTOP)
	time.Sleep(stopLength)
	command.Signal(unix.SIGCONT)
}

// noticed reports whether a check noticed the stop.
func noticed(checks []check.Finding) bool {
	return slices.ContainsFunc(checks, func(f check.Finding) bool {
		return f.Check == check.Pause && f.WorstNs.Value() >= 0.9*float64(stopLength) && strings.Contains(strings.Join(f.Notes, ""), "nothing ran for ")
	})
}

func decoded[T any](t *testing.T, output []byte) (document T) {
	t.Helper()
	if err := json.Unmarshal(output, &document); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return document
}

// A command that is stopped and continued succeeds as usual.
func TestStopInTheMiddle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	fidelity := []string{"fidelity", "--quick", "--format", "json", "--workload", "fibonacci"}
	t.Run("fidelity, a sandwich", func(t *testing.T) {
		t.Parallel()
		d := decoded[record.Fidelity](t, disturbed(t, []string{"fibonacci"}, stop, fidelity...))
		if len(d.Sandwiches) != 1 || len(d.Sandwiches[0].Samples) == 0 || len(d.Checks) == 0 {
			t.Errorf("%d sandwiches, %d checks", len(d.Sandwiches), len(d.Checks))
		}
	})
	t.Run("fidelity, checks", func(t *testing.T) {
		t.Parallel()
		for range tries { // on a busy machine the stop may come after the checks
			if noticed(decoded[record.Fidelity](t, disturbed(t, checking, stop, fidelity...)).Checks) {
				return
			}
		}
		t.Errorf("no check noticed any of %d stops of %v", tries, stopLength)
	})
	t.Run("clocks", func(t *testing.T) {
		t.Parallel()
		output := disturbed(t, []string{"invocation costs"}, stop, "clocks", "--quick", "--format", "json", "monotonic", "monotonic-coarse")
		for _, breach := range breaches(output, expectation{sortedBy: "quality", clocks: []string{"monotonic", "monotonic-coarse"}}) {
			t.Error(breach)
		}
		for _, c := range decoded[record.Clocks](t, output).Clocks {
			if c.Stable != nil && !*c.Stable || c.Monotonic != nil && !*c.Monotonic {
				t.Errorf("%s is blamed for the stop: %q", c.Name, c.Reasons)
			}
		}
	})
}

// During the measurement another process takes away all CPUs but one, as an administrator does with
// taskset and a cpuset's owner does by shrinking it.
func TestCPUsAreTakenAway(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs and the right to choose: %v, %v", cpus, err)
	}
	takeAway := func(ended context.Context, command *os.Process) {
		for ended.Err() == nil {
			bindAll(command.Pid, cpus[0])
			time.Sleep(2 * time.Millisecond)
		}
	}
	want := fmt.Sprintf("could not be asked: its thread was moved to CPUs %d meanwhile", cpus[0])
	var caveats string
	for range tries { // on a busy machine they may be gone only after the checks
		output := disturbed(t, checking, takeAway, "fidelity", "--quick", "--format", "json", "--workload", "fibonacci,migration")
		d := decoded[record.Fidelity](t, output)
		if len(d.Sandwiches) != 2 || len(d.Checks) == 0 {
			t.Errorf("%d sandwiches, %d checks", len(d.Sandwiches), len(d.Checks))
		}
		if caveats = strings.Join(d.Caveats, "\n"); strings.Contains(caveats, want) {
			return
		}
	}
	t.Errorf("no caveat says that a CPU %s:\n%s", want, caveats)
}

// bindAll binds all threads of a process to a CPU; some may have ended already.
func bindAll(pid, cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, entry := range threads {
		if thread, err := strconv.Atoi(entry.Name()); err == nil {
			unix.SchedSetaffinity(thread, &set)
		}
	}
}
