package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Store is where records are kept, each as a file.
type Store interface {
	// Place names the store for people.
	Place() string
	// Prepare finds out whether records can be kept.
	Prepare() error
	// Keep keeps a document, and names its file.
	Keep(Document) (file string, err error)
	// Files are the records, in the order of their names.
	Files() ([]StoredFile, error)
	// ReadFiles hands the contents of files to a function, in any order and by several goroutines
	// at once; instead of a content that can't be read the error.
	ReadFiles(files []StoredFile, take func(file StoredFile, content []byte, err error)) error
	// IndexFile is a file that may hold what can be had from the records again.
	IndexFile() string
}

// StoredFile is a record in a store.
type StoredFile struct {
	Name string
	// Stamp changes when the content does.
	Stamp string
}

// Archive is a folder of records, one file each. Their names begin with the time at which
// the measurement was started, and then name the machine, so that they sort by these.
type Archive struct {
	Folder string
	Host   string // this machine's name, which kept records bear
}

// DefaultArchive is in the user's data folder: chronoscope/records below $XDG_DATA_HOME, or
// below ~/.local/share (XDG Base Directory Specification); elsewhere where the system keeps
// such data.
func DefaultArchive() (Archive, error) {
	data, err := dataFolder()
	if err != nil {
		return Archive{}, fmt.Errorf("finding the user's data folder: %w: set XDG_DATA_HOME or HOME, or name a folder", err)
	}
	return ArchiveIn(filepath.Join(data, "chronoscope", "records")), nil
}

func dataFolder() (string, error) {
	// The specification has relative names ignored.
	if folder := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(folder) {
		return folder, nil
	}
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // LocalAppData, which is for both
	case "darwin", "ios":
		return os.UserConfigDir() // Application Support, which is for both
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}

// ArchiveIn is the archive in a folder, which is made when the first record is kept.
func ArchiveIn(folder string) Archive { return Archive{Folder: folder, Host: HostName()} }

// HostName is this machine's name, as kept records bear it.
func HostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// Prepare makes the folder, and finds out whether files can be made in it.
func (a Archive) Prepare() error {
	err := makeFolder(a.Folder)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(a.Folder, unfinished); err == nil {
			f.Close()
			err = os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("keeping records in %s: %w: choose a folder that can be written", a.Folder, err)
	}
	return nil
}

// Keep writes a document into a file of its own, and says which. When it returns no error,
// the record is on the disk: neither a crash nor a power cut takes it away. With an error
// the file's name is empty, unless the file is there and only that can't be promised.
// Another writer may be at work in the same folder.
//
// A document that could not be read again is not kept, and gives a [MalformedError].
func (a Archive) Keep(d Document) (file string, err error) {
	text, err := Encode(d)
	if err == nil {
		file, err = a.keep(d.Head(), text)
	}
	switch {
	case err == nil:
		return file, nil
	case file != "":
		return file, fmt.Errorf("the record is kept as %s, but a power cut may take it away: %w: choose a folder that can be read and synchronised", file, err)
	}
	return "", fmt.Errorf("keeping the record in %s: %w: nothing was kept; choose another folder, or write the result to a file with -o", a.Folder, err)
}

// Encode writes a document as it is kept, and makes sure that it can be read.
func Encode(d Document) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(d); err != nil {
		return nil, err
	}
	_, err := Parse(b.Bytes())
	return b.Bytes(), err
}

// unfinished is how the names of files begin that are still being written. They are no
// records.
const unfinished = ".unfinished-"

// keep puts a finished file in place at once, and then makes sure that its name is on the
// disk too: renaming is atomic, but lasts only when the folder was synchronised (fsync(2)).
// Where that fails alone, there are both a file and an error.
func (a Archive) keep(h Header, text []byte) (string, error) {
	if err := makeFolder(a.Folder); err != nil {
		return "", err
	}
	a.sweep()
	f, err := os.CreateTemp(a.Folder, unfinished)
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	file := filepath.Join(a.Folder, NameFor(h, a.Host))
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return file, syncFolder(a.Folder)
}

// timeInNames has nanoseconds, and no colons, which not all systems allow in names.
const timeInNames = "20060102T150405.000000000Z"

// NameFor is a name for the file of a record. Its end is random: two writers may start within the same
// nanosecond.
func NameFor(h Header, host string) string {
	command := h.Command
	if command == "" {
		command = "card"
	}
	return fmt.Sprintf("%s-%s-%s-%012x.json", h.Started.UTC().Format(timeInNames), nameOf(host), command, rand.Uint64N(1<<48))
}

// nameOf is a host's name, without what files' names can't hold everywhere.
func nameOf(host string) string {
	host, _, _ = strings.Cut(host, ".")
	host = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, host)
	if host == "" {
		return "unknown"
	}
	return host[:min(len(host), 40)]
}

// left is how old an unfinished file is that its writer has certainly left behind.
const left = 24 * time.Hour

// sweep removes what writers left that were killed.
func (a Archive) sweep() {
	files, _ := os.ReadDir(a.Folder) // not a pattern: the folder's name may hold brackets
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), unfinished) {
			continue
		}
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > left {
			os.Remove(filepath.Join(a.Folder, f.Name()))
		}
	}
}

// makeFolder makes a folder and those above it, all of which last.
func makeFolder(folder string) error {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: folder, Err: errors.New("it is no folder")}
	} else if err == nil {
		return nil
	}
	above := filepath.Dir(folder)
	if above == folder {
		return os.Mkdir(folder, 0o755)
	}
	if err := makeFolder(above); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(above)
}

// syncFolder puts the names in a folder on the disk. Windows has no such call, and some
// file systems refuse it: they keep names in their own time.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
