package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hung is how long a test waits for an interrupted command. The command promises to end within one
// second, but a busy machine may delay it by any time.
const hung = time.Minute

// interrupted is the result of a command after SIGINT.
type interrupted struct {
	status syscall.WaitStatus
	out    bytes.Buffer
	err    string // standard error, with the progress bar
}

// interrupt runs the command with its standard error on a terminal and sends it SIGINT as soon as
// its progress bar shows doing, or at once if doing is empty.
func interrupt(t *testing.T, doing string, args ...string) interrupted {
	t.Helper()
	return interruptWhen(t, func(soFar string) bool { return strings.Contains(soFar, doing) }, args...)
}

// interruptWhen runs the command like interrupt, and sends SIGINT as soon as ripe is true for what
// the terminal has shown so far.
func interruptWhen(t *testing.T, ripe func(soFar string) bool, args ...string) interrupted {
	t.Helper()
	screen, terminal := openTerminal(t)
	var end interrupted
	command := exec.Command(chronoscope, args...)
	command.Stdout, command.Stderr = &end.out, terminal
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var killer *time.Timer
	end.err = watch(screen, func(soFar string) {
		if killer == nil && ripe(soFar) {
			command.Process.Signal(syscall.SIGINT)
			killer = time.AfterFunc(hung, func() { command.Process.Kill() })
		}
	})
	err := command.Wait()
	if killer == nil {
		t.Fatalf("the bar never showed what was waited for: %q", end.err)
	}
	if !killer.Stop() {
		t.Fatalf("%v after SIGINT it still ran", hung)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("it ended with %v", err)
	}
	end.status = exit.Sys().(syscall.WaitStatus)
	return end
}

func TestInterrupt(t *testing.T) {
	clocks := []string{"monotonic", "time", "times"}
	for doing, ranked := range map[string][]string{ // these clocks at least are ranked by then
		"calibrating":       nil,
		"accuracy of times": {"monotonic", "time"},
		"watching":          clocks, // the clock time ticks once a second, and the test waits for three ticks
	} {
		t.Run(doing, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && ranked != nil {
				t.Skip("takes seconds: make test runs it")
			}
			end := interrupt(t, doing, append([]string{"clocks", "--thorough", "--format", "json"}, clocks...)...)
			checkInterrupted(t, end, clocks)
			for _, name := range ranked {
				if !strings.Contains(end.out.String(), `"name": "`+name+`"`) {
					t.Errorf("%s was measured, and is not in the document:\n%s", name, &end.out)
				}
			}
		})
	}
}

// checkInterrupted checks the promised status and document.
func checkInterrupted(t *testing.T, end interrupted, clocks []string) {
	t.Helper()
	if end.status.ExitStatus() != 130 {
		t.Errorf("exit status %d, want 130", end.status.ExitStatus())
	}
	for _, breach := range breaches(end.out.Bytes(), expectation{sortedBy: "quality", clocks: clocks}) {
		t.Error(breach)
	}
	if !strings.Contains(end.out.String(), `"interrupted": true`) {
		t.Errorf("the document does not say that it was interrupted:\n%s", &end.out)
	}
	if strings.Contains(end.out.String(), `"verdict": "trusted"`) {
		t.Errorf("half a measurement is trusted:\n%s", &end.out)
	}
}

// A signal before the command listens for it ends the command like any program; a later one leads
// to a document.
func TestInterruptAtOnce(t *testing.T) {
	if signal.Ignored(syscall.SIGINT) {
		t.Skip("who started this test ignores SIGINT, and so does the command until it listens")
	}
	end := interrupt(t, "", "--thorough", "--format", "json")
	if end.status.Signaled() && end.status.Signal() == syscall.SIGINT {
		return
	}
	checkInterrupted(t, end, everyClock())
}

func TestInterruptedText(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	end := interrupt(t, "watching", "clocks", "--thorough", "monotonic", "time")
	for _, want := range []string{"Interrupted: this is what was measured so far.", " monotonic ", " time "} {
		if !strings.Contains(end.out.String(), want) {
			t.Errorf("no %q in\n%s", want, &end.out)
		}
	}
	if !strings.Contains(end.err, "chronoscope: interrupted") {
		t.Errorf("standard error: %q", end.err)
	}
}

// A command that was interrupted while it calibrated the clock of a trace once exited with 1 and
// without a document.
func TestInterruptedBeforeTheTrace(t *testing.T) {
	t.Parallel()
	end := interrupt(t, "calibrating", "activity", "--duration", "10m", "--format", "json")
	if end.status.ExitStatus() != 130 || !strings.Contains(end.out.String(), `"interrupted": true`) {
		t.Errorf("exit status %d, want 130, with\n%s", end.status.ExitStatus(), &end.out)
	}
}

// What was set up is cleaned up after an interruption, too, also while setting up.
func TestCleanupAfterAnInterruption(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for name, c := range map[string]struct {
		doing string
		setup string
	}{"amid runs": {"run 1", "true"}, "in the setup": {"sleep 60", "sleep 60"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cleaned := filepath.Join(t.TempDir(), "cleaned")
			end := interrupt(t, c.doing, "run", "--max-time", "10m", "--setup", c.setup, "--cleanup", "touch "+cleaned, "--", "sleep", "0.2")
			if end.status.ExitStatus() != 130 {
				t.Errorf("exit status %d, want 130: %q", end.status.ExitStatus(), end.err)
			}
			if _, err := os.Stat(cleaned); err != nil {
				t.Errorf("%v: %q", err, end.err)
			}
		})
	}
}

// hangUpIgnored says that this process was started with SIGHUP ignored, as by nohup. Tests of serve change what
// signal.Ignored tells, and not what programs inherit.
var hangUpIgnored = signal.Ignored(syscall.SIGHUP)

// hangUp starts this command, sends it SIGHUP once each of the files is there, and compares its exit status.
func hangUp(t *testing.T, status int, files []string, args ...string) {
	t.Helper()
	if hangUpIgnored {
		t.Skip("SIGHUP is ignored here")
	}
	command := exec.Command(chronoscope, args...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(hung, func() { command.Process.Kill() })
	defer killer.Stop()
	for _, file := range files {
		for deadline := time.Now().Add(hung); time.Now().Before(deadline); {
			if _, err := os.Stat(file); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		command.Process.Signal(syscall.SIGHUP)
	}
	var exit *exec.ExitError
	if err := command.Wait(); !errors.As(err, &exit) || exit.ExitCode() != status {
		t.Errorf("%v, want status %d", err, status)
	}
}

// A hang-up ends what cleans up, as an interruption does. It was lost: the status was 0, and a cleanup that hangs stayed.
func TestHangUpInCleanup(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	hangUp(t, 1, []string{started}, "run", "--runs", "2", "--cleanup", "sh -c 'echo >"+started+"; exec sleep 60'", "--", "true")
}

// A terminal that closes hangs up twice: by itself, and by its shell. The second one ended the cleanup that the first had begun.
func TestCleanupAfterTwoHangUps(t *testing.T) {
	t.Parallel()
	started, cleaning, cleaned := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "cleaning"), filepath.Join(t.TempDir(), "cleaned")
	hangUp(t, 130, []string{started, cleaning},
		"run", "--once", "--cleanup", "sh -c 'echo >"+cleaning+"; sleep 0.5; echo >"+cleaned+"'", "--", "sh", "-c", "echo >"+started+"; exec sleep 60")
	if _, err := os.Stat(cleaned); err != nil {
		t.Errorf("the cleanup did not end: %v", err)
	}
}
