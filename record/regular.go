package record

import (
	"io/fs"
	"os"
)

// OpenRegular opens a file to read it. A pipe, a device, a socket or a folder, from which
// reading may never end or can't begin, is an error at once, and no open of it waits for
// whoever is at its other end. What is read is of the file that was looked at.
func OpenRegular(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|withoutWaiting, 0)
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

// notRegular says what something is that is no regular file.
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
