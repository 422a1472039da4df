package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// What lxcfs mounts over /proc/stat tells of a container only.
func TestStatIsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "proc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if StatIsWhole(os.DirFS(dir)) {
		t.Error("a missing file tells of the whole machine")
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/stat"), []byte("cpu  1 0 1 100 0 0 0 0 0 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if StatIsWhole(os.DirFS(dir)) {
		t.Error("a file that is not the kernel's tells of the whole machine")
	}
	if err := os.Symlink("/proc/stat", filepath.Join(dir, "stat")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "stat"), filepath.Join(dir, "proc/stat")); err != nil {
		t.Fatal(err)
	}
	if !StatIsWhole(os.DirFS(dir)) {
		t.Error("the kernel's file does not tell of the whole machine")
	}
}
