package cli

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"chronoscope/bytecode"
	"chronoscope/machine"
)

// bytecodeStore keeps what an interrupted run has measured, in the user's cache folder. A nil store
// keeps nothing.
type bytecodeStore struct{ file string }

// keptFor is how long it is kept: a day later the machine may behave differently.
const keptFor = 24 * time.Hour

// openBytecodeStore returns the store for runs with the same options on the same machine. The error
// is the system's, if the user has no cache folder.
func openBytecodeStore(m *machine.Machine, o bytecode.Options) (*bytecodeStore, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("the user's cache folder: %w: set XDG_CACHE_HOME or HOME", err)
	}
	o.Seed, o.Continue, o.Progress = 0, nil, nil
	key := fmt.Sprintf("%s %s %d %+v", m.CPU, m.Kernel, m.CPUs, o)
	name := fmt.Sprintf("%x.json", sha256.Sum256([]byte(key)))
	return &bytecodeStore{filepath.Join(cache, "chronoscope", "bytecode", name[48:])}, nil
}

// load returns what was kept, or nil if there is nothing or it can't be read.
func (s *bytecodeStore) load() *bytecode.Series {
	if s == nil {
		return nil
	}
	info, err := os.Stat(s.file)
	if err != nil || time.Since(info.ModTime()) > keptFor {
		return nil
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return nil
	}
	var series bytecode.Series
	if err := json.Unmarshal(data, &series); err != nil {
		return nil
	}
	return &series
}

// save stores what was measured.
func (s *bytecodeStore) save(series *bytecode.Series) error {
	data, err := json.Marshal(series)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.file), 0o755)
	}
	if err == nil {
		err = save(s.file, data)
	}
	if err != nil {
		return fmt.Errorf("what was measured is not kept: %w: make room in the cache folder, or set XDG_CACHE_HOME", err)
	}
	return nil
}

// forget removes what was stored, once a run has ended.
func (s *bytecodeStore) forget() {
	if s != nil {
		_ = os.Remove(s.file) // the file may not exist
	}
}
