package history_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// If no work tree can be made, measure leaves no folder behind, and its status is that of git.
func TestNoWorkTree(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	tools, temporary := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *'worktree add'*) exit 42;; esac\nexec " + git + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("measure")
	if err != nil {
		t.Fatal(err)
	}
	repository := t.TempDir()
	if err := os.WriteFile(filepath.Join(repository, "measure"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(git, "init", "-q", repository).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := exec.Command("bash", filepath.Join(repository, "measure"), "/bin/true", t.TempDir())
	c.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "TMPDIR="+temporary)
	out, _ := c.CombinedOutput()
	left, err := os.ReadDir(temporary)
	if c.ProcessState.ExitCode() != 42 || len(left) > 0 || err != nil {
		t.Errorf("status %d, left %v, %v:\n%s", c.ProcessState.ExitCode(), left, err, out)
	}
}
