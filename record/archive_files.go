package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Place returns the path of the folder.
func (a Archive) Place() string { return a.Folder }

// IndexFile returns the path of the file in which package history keeps its index: a hidden file in
// the folder.
func (a Archive) IndexFile() string { return filepath.Join(a.Folder, ".history-index") }

// Files returns the records, with their sizes and times as stamps.
func (a Archive) Files() ([]StoredFile, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	files := make([]StoredFile, 0, len(names))
	for _, name := range names {
		f := StoredFile{Name: name}
		if info, err := os.Lstat(filepath.Join(a.Folder, name)); err == nil {
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
