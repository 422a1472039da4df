package exporter

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// privateFile is a file in memory without a name in any folder. It holds a copy of the web configuration, which
// may include the key of a certificate. The file is gone when this process ends, even by SIGKILL.
type privateFile struct{ fd int }

func newPrivateFile() (*privateFile, error) {
	fd, err := memoryFile(nil)
	return &privateFile{fd}, err
}

func memoryFile(text []byte) (fd int, err error) {
	fd, err = unix.MemfdCreate("web.yml", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("no file in memory for a copy of the web configuration (memfd_create): %w", err)
	}
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		if err != nil {
			unix.Close(fd)
			return -1, os.NewSyscallError("write", err)
		}
		text = text[n:]
	}
	return fd, nil
}

func (p *privateFile) name() string { return nameOf(p.fd) }

func nameOf(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// replace replaces the file's content by the text, all at once, if check accepts a file with the text.
func (p *privateFile) replace(text []byte, check func(name string) error) error {
	next, err := memoryFile(text)
	if err != nil {
		return err
	}
	defer unix.Close(next)
	if err := check(nameOf(next)); err != nil {
		return err
	}
	return os.NewSyscallError("dup3", unix.Dup3(next, p.fd, unix.O_CLOEXEC))
}

func (p *privateFile) close() { unix.Close(p.fd) }
