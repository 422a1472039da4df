//go:build unix

package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

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
