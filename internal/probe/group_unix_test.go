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

// A probe that ended by itself left its child behind where that was in a process group of its
// own: the child had another parent by then, and was not looked for.
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

// What a probe has started ends with it, also where the probe itself is gone.
func TestNothingIsLeftBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	file := filepath.Join(t.TempDir(), "pid")
	t.Setenv("CHRONOSCOPE_TEST_FILE", file)
	// The child holds the pipe, so that the end of the probe does not show.
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

// A child of a probe that was in a process group of its own outlived the probe, whether that
// quit or was ended.
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

// checkEnded waits for the process whose number a file holds to end.
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
	// Whoever inherits it may take a while to reap it; until then it is a zombie.
	for begin := time.Now(); alive(child); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("process %d is still there", child)
		}
	}
}

// alive tells a process that runs from one that has ended, reaped or not.
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
