package gobench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What fails in a revision's own checkout says what is special about it: a go.mod that is missing, or names
// a folder that is not there. Folders of the repository and absolute ones are no reason.
func TestExplainedFailureOfARevision(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("it asks the go command")
	}
	failed := errors.New("go: it failed")
	for _, c := range []struct{ replace, says string }{
		{"", "has no go.mod, so that it is no Go module: choose a revision that has one: go: it failed"},
		{"../lib", "replaces example.com/lib by ../lib, a folder outside of the repository"},
		{"../../lib", "replaces example.com/lib by ../../lib, a folder outside of the repository"},
		{"./lib", "go: it failed"},
		{"/lib", "go: it failed"},
		{"example.com/other v1.0.0", "go: it failed"},
	} {
		tree := t.TempDir()
		dir := filepath.Join(tree, "sub")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.replace != "" {
			text := "module example.com/m\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => " + c.replace + "\n"
			if err := os.WriteFile(filepath.Join(tree, "go.mod"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := &Revision{Dir: dir, Commit: "0123456789abcdef", tree: tree}
		err := r.Explain(context.Background(), failed)
		if !errors.Is(err, failed) || !strings.Contains(err.Error(), c.says) || c.says == failed.Error() && err.Error() != c.says {
			t.Errorf("replaced by %q: %v, want %q", c.replace, err, c.says)
		}
	}
}
