package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// remains reports whether a process has that command line, and goes on to: one that was
// killed has it until it gets a CPU to end on.
func remains(t *testing.T, words ...string) bool {
	t.Helper()
	want := []byte(strings.Join(words, "\x00") + "\x00")
	for begun := time.Now(); time.Since(begun) < hung; time.Sleep(10 * time.Millisecond) {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil || len(lines) == 0 {
			t.Skip("no /proc here")
		}
		if !slices.ContainsFunc(lines, func(name string) bool {
			line, err := os.ReadFile(name)
			return err == nil && bytes.Equal(line, want)
		}) {
			return false
		}
	}
	return true
}

// An interrupted measurement ends what it runs, and keeps what it has.
func TestInterruptedRuns(t *testing.T) {
	for name, c := range map[string]struct {
		doing string
		args  []string
		left  []string // must not run any more
		runs  bool     // there has to be one
	}{
		"the first run":  {"running", []string{"--", "sh", "-c", "sleep 73.25; :"}, []string{"sleep", "73.25"}, false},
		"among the runs": {"sleep 0.02: ", []string{"--min-runs", "100000", "--max-time", "1h", "sleep 0.02", "true"}, []string{"sleep", "0.02"}, true},
		"a single run":   {"here", []string{"--once", "--", "sh", "-c", "echo here >&2; sleep 74.25; :"}, []string{"sleep", "74.25"}, true},
		"a warm-up":      {"running", []string{"--warmup", "3", "--prepare", "sleep 75.25", "--", "true"}, []string{"sleep", "75.25"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			end := interrupt(t, c.doing, append([]string{"run", "--format", "json"}, c.args...)...)
			if end.status.ExitStatus() != 130 {
				t.Errorf("exit status %d, want 130", end.status.ExitStatus())
			}
			for _, breach := range breaches(end.out.Bytes(), expectation{}) {
				t.Error(breach)
			}
			if !strings.Contains(end.out.String(), `"interrupted": true`) {
				t.Errorf("the document does not say that it was interrupted:\n%s", &end.out)
			}
			if c.runs != strings.Contains(end.out.String(), `"wall_ns"`) {
				t.Errorf("runs in the document: %v, want %v:\n%s", !c.runs, c.runs, &end.out)
			}
			if remains(t, c.left...) {
				t.Errorf("%q still runs", c.left)
			}
		})
	}
}

func TestInterruptedProgramsText(t *testing.T) {
	t.Parallel()
	end := interrupt(t, "sleep 0.02: ", "run", "--min-runs", "100000", "--max-time", "1h", "sleep 0.02")
	for _, want := range []string{"Interrupted: this is what was measured so far.", "sleep 0.02\n  time "} {
		if !strings.Contains(end.out.String(), want) {
			t.Errorf("no %q in\n%s", want, &end.out)
		}
	}
}

// A process that is watched goes on when its watcher is interrupted.
func TestInterruptedWatch(t *testing.T) {
	t.Parallel()
	watched := exec.Command("sleep", "60")
	if err := watched.Start(); err != nil {
		t.Fatal(err)
	}
	defer watched.Wait()
	defer watched.Process.Kill()
	end := interrupt(t, "watching", "run", "--format", "json", "--pid", fmt.Sprint(watched.Process.Pid), "--duration", "1h")
	if end.status.ExitStatus() != 130 || !strings.Contains(end.out.String(), `"interrupted": true`) {
		t.Errorf("exit status %d, want 130, with\n%s", end.status.ExitStatus(), &end.out)
	}
	if err := watched.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the process that was watched has gone: %v", err)
	}
}

// The bar says how far each command is known, and leaves nothing behind.
func TestProgressOfRuns(t *testing.T) {
	t.Parallel()
	written := onTerminal(t, func(c *exec.Cmd, terminal *os.File) { c.Stderr = terminal },
		"run", "--max-runs", "12", "sleep 0.01", "true")
	for _, doing := range []string{"looking at the machine", "sleep 0.01: ", "true: ", "run 7"} {
		if !strings.Contains(written, doing) {
			t.Errorf("the bar does not show %q: %q", doing, written)
		}
	}
	if left, err := rest(written); left != "" || err != nil {
		t.Errorf("the bar leaves %q behind, %v", left, err)
	}
}

// Where there is no room for a new result the old file stays.
func TestExportOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("no disk can be made here: %v", err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	file := filepath.Join(disk, "times.json")
	if err := os.WriteFile(file, []byte("yesterday"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(chronoscope, "run", "--max-runs", "6", "--export", "hyperfine:"+file, "--", "true")
	output, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 1 || !strings.Contains(string(output), "no space left on device") {
		t.Errorf("%v:\n%s", err, output)
	}
	if left, err := os.ReadFile(file); err != nil || string(left) != "yesterday" {
		t.Errorf("the old file holds %q, %v", left, err)
	}
	if files, err := os.ReadDir(disk); err != nil || len(files) != 1 {
		t.Errorf("%v, %v: the half of a file is left behind", files, err)
	}
}

// Output of any length goes through, and is kept by nobody.
func TestEndlessOutput(t *testing.T) {
	t.Parallel()
	const mostBytes = 256 << 20
	command := exec.Command(chronoscope, "run", "--max-runs", "2", "--format", "json", "--", "sh", "-c", "head -c 400000000 /dev/zero >&2; exit 1")
	output, _ := command.Output()
	if usage := command.ProcessState.SysUsage().(*syscall.Rusage); usage.Maxrss<<10 > mostBytes {
		t.Errorf("400 MB of output took %d MB of memory", usage.Maxrss>>10)
	}
	if !strings.Contains(string(output), `"stderr_end"`) || !strings.Contains(string(output), `exit status 1`) {
		t.Errorf("it did not fail as it should:\n%s", output)
	}
	if len(output) > 1<<20 {
		t.Errorf("the document has %d bytes", len(output))
	}
}
