package wholefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A write that fails leaves the old content, and no other file.
func TestWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.json")
	text := func(s string) func(*os.File) error {
		return func(f *os.File) error {
			_, err := f.WriteString(s)
			return err
		}
	}
	if err := Write(name, ".new-", text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is full")
	err := Write(name, ".new-", func(f *os.File) error { return errors.Join(text("half")(f), broken) })
	content, _ := os.ReadFile(name)
	files, _ := os.ReadDir(filepath.Dir(name))
	if !errors.Is(err, broken) || string(content) != "old" || len(files) != 1 {
		t.Errorf("%q, %d files: %v", content, len(files), err)
	}
	if err := Write(name, ".new-", text("new")); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(name); string(content) != "new" {
		t.Errorf("%q", content)
	}
	if err := Write(filepath.Join(name, "y"), ".new-", text("")); err == nil {
		t.Error("a file was written where there is no folder")
	}
}
