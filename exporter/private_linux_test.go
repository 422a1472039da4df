package exporter

import (
	"os"
	"path/filepath"
	"testing"
)

// Each SIGKILL left a folder with a copy of the configuration, which holds the key. The copy has no
// folder now; it is replaced by a good configuration, and kept when a broken one comes.
func TestCopyOfTheWebConfigurationLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	file := filepath.Join(t.TempDir(), "web.yml")
	write(t, file, "http_server_config: {http2: false}\n")
	w, closeIt, err := openWebConfig(file, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt()
	content := func() string {
		text, err := os.ReadFile(w.file())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := content()
	write(t, file, "http_server_config: {http2: [}\n")
	if err := w.load(); err == nil || content() != first {
		t.Errorf("a broken configuration: %v, and the copy is %q", err, content())
	}
	write(t, file, "http_server_config: {http2: true}\n")
	if err := w.load(); err != nil || content() == first {
		t.Errorf("a good configuration: %v, and the copy is %q", err, content())
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", err, left)
	}
}
