// Package wholefile writes a file completely or not at all: whoever reads it meanwhile finds the old content.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file under a temporary name, which begins with unfinished, in the folder of name, and then renames it. If
// anything fails, the file of that name stays as it was, and the temporary one is removed.
func Write(name, unfinished string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), unfinished)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
