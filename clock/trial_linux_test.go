//go:build linux && (amd64 || arm64)

package clock

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// theInstruction reads this architecture's counter.
var theInstruction = map[string]instruction{"amd64": instructionRDTSC, "arm64": instructionCNTVCT}[runtime.GOARCH]

func reasonOf(err error) Reason {
	var u *Unavailable
	if errors.As(err, &u) {
		return u.Reason
	}
	return ""
}

func trialStatus(t *testing.T, i instruction, disable bool) unix.WaitStatus {
	t.Helper()
	status, err := runTrial(i, disable)
	if err != nil {
		t.Skipf("this sandbox refuses a child: %v", err)
	}
	return status
}

func TestTrialOfAGoodInstruction(t *testing.T) {
	if err := judge(theInstruction, trialStatus(t, theInstruction, false)); err != nil {
		t.Skipf("this machine has no readable counter: %v", err)
	}
	if _, err := tried(theInstruction); err != nil {
		t.Errorf("the remembered trial says %v, a new one nothing", err)
	}
}

func TestTrialOfAnUndefinedInstruction(t *testing.T) {
	status := trialStatus(t, instructionUndefined, false)
	if status.CoreDump() {
		t.Error("the child wrote a core file")
	}
	if got := reasonOf(judge(instructionUndefined, status)); got != NoInstruction {
		t.Errorf("the child ended with %v: reason %q, want %q", status, got, NoInstruction)
	}
}

// A kernel of arm64 before 6.12 can't disable the counter, and some hypervisors let it be read all the
// same: the child then exits as if disable were not set.
func TestTrialOfADisabledCounter(t *testing.T) {
	status := trialStatus(t, theInstruction, true)
	if status.CoreDump() {
		t.Error("the child wrote a core file")
	}
	if CounterCanBeDisabled() == status.Exited() {
		t.Errorf("the child ended with %v; the counter can be disabled: %v", status, CounterCanBeDisabled())
	}
	if status.Exited() {
		t.Skip("this machine can't disable the counter")
	}
	if got := reasonOf(judge(theInstruction, status)); got != DisabledForProcess {
		t.Errorf("the child ended with %v: reason %q, want %q", status, got, DisabledForProcess)
	}
}

// TestReadsDisabledCounterChild runs as a child process: it disables the counter for itself and reads it.
func TestReadsDisabledCounterChild(t *testing.T) {
	if os.Getenv("CHRONOSCOPE_READS_DISABLED") == "" {
		t.Skip("a child of TestCounterCanBeDisabled")
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV, 0, 0, 0); err != nil {
		os.Exit(0)
	}
	Counter()
	os.Exit(0)
}

// A program that disables the counter and reads it dies exactly where the trial says so. Otherwise a trial that
// disabled nothing would look like a machine that can't.
func TestCounterCanBeDisabled(t *testing.T) {
	trialStatus(t, theInstruction, true)
	child := exec.Command(os.Args[0], "-test.run=^TestReadsDisabledCounterChild$")
	child.Env = append(os.Environ(), "CHRONOSCOPE_READS_DISABLED=1")
	err := child.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Skipf("no children here: %v", err)
	}
	if died := err != nil; died != CounterCanBeDisabled() {
		t.Errorf("a program that reads the counter it disabled died: %v (%v); the trial says %v", died, err, CounterCanBeDisabled())
	}
}

// The host program must not notice the child, neither by a signal nor by waiting for any child.
func TestTrialIsNotSeenByTheHost(t *testing.T) {
	quiet := cloneTrial(instructionUndefined, false, 0)
	if quiet < 0 {
		t.Skipf("this system refuses a child without an exit signal: %v", unix.Errno(-quiet))
	}
	if _, err := unix.Wait4(quiet, nil, unix.WALL, nil); err != nil {
		t.Fatal(err)
	}
	children := make(chan os.Signal, 8)
	signal.Notify(children, unix.SIGCHLD)
	defer signal.Stop(children)
	child, err := forkTrial(instructionUndefined, false)
	if err != nil {
		t.Skip(err)
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("waiting for any child gives %d, %v", pid, err)
	}
	if _, err := unix.Wait4(child, nil, unix.WALL, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-children:
		t.Error("the child announced its end")
	case <-time.After(20 * time.Millisecond):
	}
}

func TestJudgeOfOtherEnds(t *testing.T) {
	cases := map[string]struct {
		i      instruction
		status unix.WaitStatus
		want   Reason
	}{
		"exited":                  {instructionRDTSC, 0, ""},
		"exited with 3":           {instructionRDTSC, 3 << 8, Trapped},
		"illegal on amd64":        {instructionRDTSCP, unix.WaitStatus(unix.SIGILL), NoInstruction},
		"illegal on arm64":        {instructionCNTVCT, unix.WaitStatus(unix.SIGILL), Trapped},
		"segmentation fault":      {instructionRDTSC, unix.WaitStatus(unix.SIGSEGV), DisabledForProcess},
		"killed by a system call": {instructionRDTSC, unix.WaitStatus(unix.SIGSYS), Trapped},
	}
	for name, c := range cases {
		err := judge(c.i, c.status)
		if got := reasonOf(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v, want reason %q", name, err, c.want)
		}
	}
}

// If the system allows no child, the kernel's answer about this thread decides. This test reads
// the counter itself first, so that an answer that it is disabled would be wrong.
func TestUntriedAsksTheKernel(t *testing.T) {
	if err := judge(theInstruction, trialStatus(t, theInstruction, false)); err != nil {
		t.Skip(err)
	}
	if err := untried(theInstruction); err != nil {
		t.Errorf("the counter works, and yet %v", err)
	}
	if got := reasonOf(permitted(theInstruction, unix.PR_TSC_SIGSEGV)); got != DisabledForProcess {
		t.Errorf("with the counter disabled the reason is %q", got)
	}
}
