package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Place returns the path of the folder.
func (a Archive) Place() string { return a.Folder }

// IndexFile returns the path of the file in which package history keeps its index: a hidden file in
// the folder.
func (a Archive) IndexFile() string { return filepath.Join(a.Folder, ".history-index") }

// Files returns the records, with their sizes and times as stamps; none if the folder does not exist yet.
func (a Archive) Files() ([]StoredFile, error) {
	entries, err := os.ReadDir(a.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing records: %w", err)
	}
	var files []StoredFile
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f := StoredFile{Name: e.Name()}
		if info, err := e.Info(); err == nil {
			f.Stamp = fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano())
		}
		files = append(files, f)
	}
	return files, nil
}

// ReadFiles reads on all CPUs in parallel.
func (a Archive) ReadFiles(files []StoredFile, take func(StoredFile, []byte, error)) error {
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		readers.Go(func() error {
			content, err := readRegular(filepath.Join(a.Folder, f.Name))
			take(f, content, err)
			return nil
		})
	}
	return readers.Wait()
}
