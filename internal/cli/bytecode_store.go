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
	"chronoscope/validate"
)

// bytecodeStore keeps what an interrupted run has measured, in the user's cache folder. A nil store
// keeps nothing.
type bytecodeStore struct{ file string }

// keptFor is how long it is kept: a day later the machine may behave differently.
const keptFor = 24 * time.Hour

// openBytecodeStore returns the store for runs with the same options on the same machine, of this build of the program
// and since this boot of the system. The error is the system's, if the user has no cache folder.
func openBytecodeStore(m *machine.Machine, o bytecode.Options) (*bytecodeStore, error) {
	return openBytecodeStoreOf(validate.Origin(), m, o)
}

// openBytecodeStoreOf returns the store of an origin, such as that of [validate.Origin].
func openBytecodeStoreOf(origin string, m *machine.Machine, o bytecode.Options) (*bytecodeStore, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("the user's cache folder: %w: set XDG_CACHE_HOME or HOME", err)
	}
	o.Seed, o.Continue, o.Progress = 0, nil, nil
	key := fmt.Sprintf("%s %s %s %d %+v", origin, m.CPU, m.Kernel, m.CPUs, o)
	name := fmt.Sprintf("%x.json", sha256.Sum256([]byte(key)))
	return &bytecodeStore{filepath.Join(cache, "chronoscope", "bytecode", name[48:])}, nil
}

// load returns what was kept. It returns nil if there is nothing, if it can't be read, if it is older than keptFor, or if it
// is dated in the future because the clock was set back.
func (s *bytecodeStore) load() *bytecode.Series {
	if s == nil {
		return nil
	}
	info, err := os.Stat(s.file)
	if err != nil {
		return nil
	}
	if age := time.Since(info.ModTime()); age < 0 || age > keptFor {
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
