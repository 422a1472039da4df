package gobench

import (
	"os"
	"path/filepath"
	"testing"
)

// What a run noted before it failed is not the next benchmark's: they share the file.
func TestNotesOfAFailedRun(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "a.test")
	first := notesOf(binary, 10)
	if err := os.WriteFile(first.path, []byte("left by a benchmark that failed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if calls, err := notesOf(binary, 10).read(); err != nil || calls != nil {
		t.Errorf("%v, %v", calls, err)
	}
}
