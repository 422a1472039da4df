package probe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// shelf is a folder for the files of one probe, named for their content: a new
// version gets another one, and an old one is found again.
type shelf struct {
	folder    string
	temporary bool
}

// newShelf puts files on their shelf, in the user's cache folder, or, where there is
// none that can be written, in one that lasts until it's closed. A compiler
// that makes something of them is part of the name, with its size and age.
func newShelf(contents map[string][]byte, compiler string) (*shelf, error) {
	s := &shelf{}
	cache, err := os.UserCacheDir()
	if err == nil {
		s.folder = filepath.Join(cache, "chronoscope", "probes", shelfName(contents, compiler))
		err = s.fill(contents)
	}
	if err == nil {
		return s, nil
	}
	if s.folder, err = os.MkdirTemp("", "chronoscope-probe-"); err != nil {
		return nil, err
	}
	s.temporary = true
	if err := s.fill(contents); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func shelfName(contents map[string][]byte, compiler string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(contents[name]), contents[name])
	}
	fmt.Fprintln(sum, compiler)
	if info, err := os.Stat(compiler); err == nil {
		fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (s *shelf) path(name string) string { return filepath.Join(s.folder, name) }

// fill writes the files that are not there as they should be.
func (s *shelf) fill(contents map[string][]byte) error {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	for name, content := range contents {
		if there, err := os.ReadFile(s.path(name)); err == nil && bytes.Equal(there, content) {
			continue
		}
		_, err := s.remake(name, func(into string) error { return os.WriteFile(into, content, 0o600) })
		if err != nil {
			return err
		}
	}
	return nil
}

// make returns the path of a program on the shelf, and makes it if it isn't there.
func (s *shelf) make(name string, write func(into string) error) (string, error) {
	if info, err := os.Lstat(s.path(name)); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return s.path(name), nil
	}
	return s.remake(name, write)
}

// remake writes a file whole or not at all: others may look for it at the same time.
func (s *shelf) remake(name string, write func(into string) error) (string, error) {
	folder, err := os.MkdirTemp(s.folder, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	into := filepath.Join(folder, name)
	if err := write(into); err != nil {
		return "", err
	}
	return s.path(name), os.Rename(into, s.path(name))
}

// close takes away what is not to be kept.
func (s *shelf) close() {
	if s.temporary {
		os.RemoveAll(s.folder)
	}
}
