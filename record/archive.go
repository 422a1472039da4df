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

	"chronoscope/internal/wholefile"
)

// Store is a place for records, each of which is a file.
type Store interface {
	// Place names the store in words for people.
	Place() string
	// Prepare finds out whether records can be stored.
	Prepare() error
	// Keep stores a document, and returns the name of its file.
	Keep(Document) (file string, err error)
	// Files returns the records, in the order of their names.
	Files() ([]StoredFile, error)
	// ReadFiles calls take with the content of each file, in any order and from several goroutines
	// at once. If a file can't be read, it calls take with the error.
	ReadFiles(files []StoredFile, take func(file StoredFile, content []byte, err error)) error
	// IndexFile is the path of a file for data that can be derived from the records again.
	IndexFile() string
}

// StoredFile is a record in a store.
type StoredFile struct {
	Name string
	// Stamp changes if the content does.
	Stamp string
}

// Archive is a folder of records, one file each. The file names begin with the time at which the
// measurement was started, followed by the machine, so that they sort by these.
type Archive struct {
	Folder string
	Host   string // this machine's name, for the names of files
}

// DefaultArchive returns the archive in the user's data folder: chronoscope/records below
// $XDG_DATA_HOME, or below ~/.local/share (XDG Base Directory Specification). On other systems it
// is in the system's folder for such data.
func DefaultArchive() (Archive, error) {
	data, err := dataFolder()
	if err != nil {
		return Archive{}, fmt.Errorf("finding the user's data folder: %w: set XDG_DATA_HOME or HOME, or name a folder", err)
	}
	return ArchiveIn(filepath.Join(data, "chronoscope", "records")), nil
}

func dataFolder() (string, error) {
	// The specification says that relative paths are ignored.
	if folder := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(folder) {
		return folder, nil
	}
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // LocalAppData, which is for caches and for data
	case "darwin", "ios":
		return os.UserConfigDir() // Application Support, which is for configuration and for data
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}

// ArchiveIn returns the archive in a folder, which is created when the first record is kept.
func ArchiveIn(folder string) Archive { return Archive{Folder: folder, Host: HostName()} }

// HostName returns this machine's name for the names of records.
func HostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// Prepare creates the folder, and finds out whether files can be created in it.
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

// Keep writes a document into a file of its own, and returns the file's name. If it returns no
// error, the record is on the disk: it survives a crash and a power cut. With an error the name is
// empty, unless the file exists and only its survival is not certain. Several processes may write
// to the folder at the same time.
//
// A document that could not be read again is not kept; the error is a [MalformedError].
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
	return "", fmt.Errorf("keeping the record in %s: %w: nothing was kept; choose another folder, or write the result to a file", a.Folder, err)
}

// Encode returns a document in the form of a record, after checking that it can be read.
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

// unfinished is the prefix of the names of files that are still being written. These are not
// records.
const unfinished = ".unfinished-"

// keep renames a finished file, which is atomic, and then synchronises the folder: only then does
// the new name survive a power cut (fsync(2)). If only the synchronisation fails, keep returns both
// the file's name and an error.
func (a Archive) keep(h Header, text []byte) (string, error) {
	if err := makeFolder(a.Folder); err != nil {
		return "", err
	}
	a.sweep()
	file := filepath.Join(a.Folder, NameFor(h, a.Host))
	err := wholefile.Write(file, unfinished, func(f *os.File) error {
		if _, err := f.Write(text); err != nil {
			return err
		}
		return f.Sync()
	})
	if err != nil {
		return "", err
	}
	return file, syncFolder(a.Folder)
}

// timeInNames has nanoseconds, and no colons, which some systems don't allow in file names.
const timeInNames = "20060102T150405.000000000Z"

// NameFor returns a name for the file of a record. Its end is random, since two writers may start
// within the same nanosecond.
func NameFor(h Header, host string) string {
	command := h.Command
	if command == "" {
		command = "card"
	}
	return fmt.Sprintf("%s-%s-%s-%012x.json", h.Started.UTC().Format(timeInNames), nameOf(host), command, rand.Uint64N(1<<48))
}

// nameOf returns a host's name without characters that some systems don't allow in file names.
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

// left is the least age at which an unfinished file certainly has no writer any more.
const left = 24 * time.Hour

// sweep removes unfinished files whose writers were killed.
func (a Archive) sweep() {
	files, _ := os.ReadDir(a.Folder) // not filepath.Glob: the folder's name may contain brackets
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), unfinished) {
			continue
		}
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > left {
			os.Remove(filepath.Join(a.Folder, f.Name()))
		}
	}
}

// makeFolder creates a folder and its parents, and makes sure that they survive a power cut.
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

// syncFolder writes the names in a folder to the disk. Windows has no such call, and some file
// systems refuse it; there the names reach the disk at some later time.
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
