//go:build !linux

package exporter

import (
	"fmt"
	"os"
	"path/filepath"
)

// privateFile is a file in a folder that belongs to this user.
type privateFile struct{ folder string }

func newPrivateFile() (*privateFile, error) {
	folder, err := os.MkdirTemp("", "chronoscope-web-")
	if err != nil {
		err = fmt.Errorf("no folder for a copy of the web configuration: %w: set TMPDIR to a folder that can be written", err)
	}
	return &privateFile{folder}, err
}

func (p *privateFile) name() string { return filepath.Join(p.folder, "web.yml") }

// replace replaces the file's content by the text, all at once, if check accepts a file with the text.
func (p *privateFile) replace(text []byte, check func(name string) error) error {
	next := filepath.Join(p.folder, "next.yml")
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	if err := check(next); err != nil {
		return err
	}
	return os.Rename(next, p.name())
}

func (p *privateFile) close() { os.RemoveAll(p.folder) }
