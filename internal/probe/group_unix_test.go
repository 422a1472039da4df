//go:build unix

package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func init() {
	ownGroup = func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
}

// If a probe ended by itself, its child in a process group of its own once remained: the child had
// another parent by then, and the search for children did not find it.
func TestChildOfAProbeThatHasEndedEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what has left its group is looked for on Linux alone")
	}
	file := filepath.Join(t.TempDir(), "pid")
	t.Setenv("CHRONOSCOPE_TEST_FILE", file)
	p, err := startWrong(t, "ends before its child", patient)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.Silent["b"] == nil {
		t.Fatal("the probe did not end")
	}
	checkEnded(t, file)
}

// All processes that a probe has started end with it, even if the probe itself has ended before.
func TestNothingIsLeftBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	file := filepath.Join(t.TempDir(), "pid")
	t.Setenv("CHRONOSCOPE_TEST_FILE", file)
	// The child holds the pipe open, so that the end of the probe is not noticed.
	p, err := startWrong(t, "leaves a child", Limits{Hello: time.Minute, Answer: 3 * time.Second, Quit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.Silent["b"] == nil {
		t.Fatal("the probe did not end")
	}
	checkEnded(t, file)
}

// A child of a probe in a process group of its own once remained, both when the probe quit and when it
// was killed.
func TestChildInItsOwnGroupEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what has left its group is looked for on Linux alone")
	}
	for _, end := range []func(p *Probe){(*Probe).Close, func(p *Probe) { p.session.hangUp(); p.Close() }} {
		file := filepath.Join(t.TempDir(), "pid")
		t.Setenv("CHRONOSCOPE_TEST_FILE", file)
		p, err := startWrong(t, "child in a group of its own", patient)
		if err != nil {
			t.Fatal(err)
		}
		end(p)
		checkEnded(t, file)
	}
}

// checkEnded waits until the process whose ID is in the file has ended.
func checkEnded(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	// The new parent of the child may take a while to reap it; until then the child is a zombie.
	for begin := time.Now(); alive(child); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("process %d is still there", child)
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	for i := len(stat) - 1; err == nil && i > 1; i-- {
		if stat[i] == ')' {
			return i+2 < len(stat) && stat[i+2] != 'Z'
		}
	}
	return err != nil
}
