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

// shelf is a folder for the files of one probe. It is named after their content, so that a new version
// has another folder, and the folder of an old version is found again.
type shelf struct {
	folder    string
	temporary bool
}

// newShelf puts files into a shelf in the user's cache folder, or, if that can't be written, in a folder
// that is removed by close. If a compiler makes a program from the files, the name of the folder also
// depends on the compiler's path, size and age.
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

// fill writes the files that are missing or differ.
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

// make returns the path of a program on the shelf, and makes it if it does not exist.
func (s *shelf) make(name string, write func(into string) error) (string, error) {
	if info, err := os.Lstat(s.path(name)); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return s.path(name), nil
	}
	return s.remake(name, write)
}

// remake writes a file completely or not at all, because other processes may read it at the same time.
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

// close removes the folder if it is temporary.
func (s *shelf) close() {
	if s.temporary {
		os.RemoveAll(s.folder)
	}
}
