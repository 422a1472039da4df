package record

import (
	"io/fs"
	"os"
	"syscall"
)

// OpenRegular opens a regular file for reading. A pipe, a device, a socket or a folder is an error
// at once, since reading from it may never end or be impossible; opening a pipe does not wait for a
// writer. The opened file is the one whose type was checked.
func OpenRegular(file string) (*os.File, error) {
	// Opening a pipe then returns at once, with or without a writer (open(2), fifo(7)); Windows heeds no such flag.
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file, Err: notRegular(info.Mode())}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// notRegular is the type of a file that is not regular.
type notRegular fs.FileMode

func (m notRegular) Error() string {
	kind := "no regular file"
	switch mode := fs.FileMode(m); {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return "it is " + kind + ": give a regular file"
}
