package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A search that is interrupted says how probable each commit is by then, and leaves nothing behind.
func TestInterruptedSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	repository, temporary := t.TempDir(), t.TempDir()
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	for i := range 16 {
		text := fmt.Sprintf("n=%d\nwhile [ $n -gt 0 ]; do n=$((n-1)); done\n# change %d\n", map[bool]int{true: 2000, false: 60000}[i < 9], i)
		if err := os.WriteFile(filepath.Join(repository, "prog.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-q", "-m", fmt.Sprint("change ", i))
	}
	t.Chdir(repository)
	t.Setenv("TMPDIR", temporary)
	narrowed := func(soFar string) bool { return strings.Contains(soFar, " commits possible, ") }
	end := interruptWhen(t, narrowed, "bisect", "--good", "HEAD~15", "--build", "sleep 2", "--format", "json", "--", "sh", "prog.sh")
	if end.status.ExitStatus() != 130 {
		t.Errorf("exit status %d, want 130: %q", end.status.ExitStatus(), end.err)
	}
	for _, breach := range breaches(end.out.Bytes(), expectation{}) {
		t.Error(breach)
	}
	var d struct {
		Interrupted  bool
		Outcome, Why string
		Steps        []struct {
			Probability float64
			Commits     []any
		}
		Commits []any
	}
	if err := json.Unmarshal(end.out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if !d.Interrupted || d.Outcome != "cant-tell" || d.Why != "the search did not end" || len(d.Steps) == 0 || d.Steps[0].Probability <= 0 || len(d.Commits) == 0 {
		t.Errorf("%+v", d)
	}
	if trees := git("worktree", "list"); strings.Count(trees, "\n") != 1 {
		t.Errorf("worktrees: %s", trees)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
