package machine

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
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
	for name, want := range map[string]bool{"/proc/stat": true, "/proc/version": false} {
		if err := os.Remove(filepath.Join(dir, "proc/stat")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(name, filepath.Join(dir, "proc/stat")); err != nil {
			t.Fatal(err)
		}
		if got := StatIsWhole(os.DirFS(dir)); got != want {
			t.Errorf("%s tells of the whole machine: %v, want %v", name, got, want)
		}
	}
	// gVisor's own /proc/stat holds zeros: others seemed to use nothing.
	for text, want := range map[string]bool{"cpu  0 0 0 0 0 0 0 0 0 0\n": false, "cpu  2 0 1 100 0 0 0 0 0 0\n": true, "": false} {
		if got := counts(fstest.MapFS{"proc/stat": &fstest.MapFile{Data: []byte(text)}}); got != want {
			t.Errorf("%q counts: %v, want %v", text, got, want)
		}
	}
}
