package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a comparison or a search that was killed left behind, worktrees that git knows of and compiled
// tests, stayed for ever. The next one clears it, and nothing of one that still runs.
func TestKilledBenchmarksAreCleared(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	t.Run("bench", func(t *testing.T) {
		checkKilledIsCleared(t, "bench", "--against", "HEAD", "--max-time", "10m", "--precision", "0.0001%", "--bench", "One")
	})
	t.Run("bisect", func(t *testing.T) {
		checkKilledIsCleared(t, "bisect", "--good", "HEAD~1", "--bad", "HEAD", "--max-time", "10m", "--limit", "0.01%", "--bench", "One")
	})
}

func checkKilledIsCleared(t *testing.T, args ...string) {
	t.Helper()
	module, temporary := t.TempDir(), t.TempDir()
	for name, text := range busyModule {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		out, err := exec.Command("git", append([]string{"-C", module, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	git("commit", "-q", "--allow-empty", "-m", "second")
	t.Chdir(module)
	for name, value := range map[string]string{"TMPDIR": temporary, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "GOFLAGS": ""} {
		t.Setenv(name, value)
	}
	folders := func() []string {
		found, _ := filepath.Glob(filepath.Join(temporary, "chronoscope-bench-*"))
		return found
	}
	worktrees := func() int { // 0 where git fails, as it does while another git makes one
		out, err := exec.Command("git", "-C", module, "worktree", "list", "--porcelain").Output()
		if err != nil {
			return 0
		}
		return strings.Count(string(out), "worktree ")
	}
	start := func() *exec.Cmd {
		before := worktrees()
		c := exec.Command(chronoscope, args...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		for deadline := time.Now().Add(time.Minute); worktrees() <= before; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it made no worktree within a minute")
			}
		}
		return c
	}
	killed := start()
	killed.Process.Kill()
	killed.Wait()
	if len(folders()) != 1 || worktrees() < 2 {
		t.Fatalf("killed, it left %q and %d worktrees: nothing is to be cleared", folders(), worktrees())
	}
	gone := filepath.Join(folders()[0], "left") // the next one makes a folder of the same name
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	running := exec.Command(chronoscope, args...)
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running.Process.Kill(); running.Wait() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err := os.Stat(gone)
		if os.IsNotExist(err) && len(folders()) == 1 && worktrees() >= 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %q, %d worktrees", folders(), worktrees())
		}
	}
	alive := folders()[0]
	exec.Command(chronoscope, "bench", "--quick", "--max-time", "1ms", "--bench", "Nothing").Run()
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the folder of one that runs was removed: %v", err)
	}
}
