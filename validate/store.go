package validate

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"chronoscope/internal/wholefile"
	"chronoscope/machine"
)

// Store keeps, in the user's cache folder, what validations found on one machine: the finished
// cells of an interrupted validation, and the reach of all validations. Each is a JSON file. A nil
// Store keeps nothing.
type Store struct {
	folder string
	origin func() string // [Origin], except in tests
}

// Origin identifies the build of this program and the boot of the system: a hash of the program, and of Linux's
// identifier of this boot. On other systems only the age of what was kept decides whether it still counts.
func Origin() string { return origin() }

var origin = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	sum := sha256.New()
	sum.Write(boot)
	if self, err := os.Executable(); err == nil {
		if f, err := os.Open(self); err == nil {
			_, _ = io.Copy(sum, f)
			_ = f.Close()
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
})

// identity identifies a machine. With another kernel, hypervisor or number of CPUs, methods may
// have another reach.
type identity struct {
	CPU, Model, Kernel, Hypervisor, Clocksource, OS, Arch machine.Text
	CPUs                                                  int
}

func identityOf(m *machine.Machine) identity {
	online := m.CPUs
	if m.CPUsOnline != nil {
		online = *m.CPUsOnline
	}
	return identity{m.CPU, m.Model, m.Kernel, m.Hypervisor, m.Clocksource, m.OS, m.Arch, online}
}

// OpenStore opens the store of a machine. The error says that the user has no cache folder, or that
// the folder can't be written to.
func OpenStore(m *machine.Machine) (*Store, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("validate: the user's cache folder: %w: set XDG_CACHE_HOME or HOME", err)
	}
	return storeIn(cache, m)
}

func storeIn(cache string, m *machine.Machine) (*Store, error) {
	id := identityOf(m)
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return nil, err
	}
	s := &Store{filepath.Join(cache, "chronoscope", "validate", fmt.Sprintf("%x", sha256.Sum256(text))[:16]), Origin}
	return s, s.write("machine.json", id)
}

// Folder returns the path of the store.
func (s *Store) Folder() string { return s.folder }

// cellName returns the name of the file of a finished task. It contains the origin, so that cells
// of another build or boot are not found.
func (s *Store) cellName(t task, cpu int) string {
	if s == nil {
		return ""
	}
	return filepath.Join("cells-"+s.origin(), fmt.Sprintf("%s-%v-%s%d-trials%d-cpu%d.json", t.what(), t.Duration, t.Neighbours, t.Load, t.Trials, cpu))
}

// forget removes the cells that were reported, and stale ones. Other cells stay: they may belong to
// another plan that was interrupted.
func (s *Store) forget(reported []string) error {
	if s == nil {
		return nil
	}
	var err error
	for _, name := range reported {
		if failed := os.Remove(filepath.Join(s.folder, name)); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	for _, file := range s.named("cells*/*") {
		if about, failed := os.Stat(file); failed == nil && !fresh(about.ModTime()) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	for _, folder := range s.named("cells*") {
		_ = os.Remove(folder) // fails if there are cells in it
	}
	return err
}

// Restart removes the finished cells of interrupted validations.
func (s *Store) Restart() error {
	if s == nil {
		return nil
	}
	var err error
	for _, folder := range s.named("cells*") {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return err
}

// named returns the paths of what matches a pattern in the store. The path of the store itself is no pattern: it may contain [.
func (s *Store) named(pattern string) (paths []string) {
	names, _ := fs.Glob(os.DirFS(s.folder), pattern) // the pattern is right
	for _, name := range names {
		paths = append(paths, filepath.Join(s.folder, filepath.FromSlash(name)))
	}
	return paths
}

// read reads a JSON file; if that fails, it leaves into unchanged.
func (s *Store) read(name string, into any) error {
	if s == nil {
		return fs.ErrNotExist
	}
	text, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("validate: %s: %w: remove it", filepath.Join(s.folder, name), err)
	}
	return nil
}

// write writes a JSON file, completely or not at all.
func (s *Store) write(name string, value any) error {
	if s == nil {
		return nil
	}
	name = filepath.Join(s.folder, name)
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	err = wholefile.Write(name, ".new-", func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("validate: keeping %s: %w", name, err)
	}
	return nil
}
