package machine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFileBytes bounds what is read of one file. The longest that is asked for,
// /proc/cpuinfo, takes some 1,500 bytes a CPU.
const maxFileBytes = 16 << 20

// maxLineBytes bounds a single value: sysfs gives a page at most.
const maxLineBytes = 4096

// files reads the kernel's files below a root.
type files struct{ root fs.FS }

// text is the content of a file.
func (f files) text(name string) (string, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return "", plainer(name, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil {
		return "", plainer(name, err)
	}
	return string(data), nil
}

// line is the content of a file that holds one line of printable text, which may
// be empty.
func (f files) line(name string) (string, error) {
	text, err := f.text(name)
	if err != nil {
		return "", err
	}
	// Device tree strings end in NUL, all others in a newline.
	text = strings.TrimRight(text, "\n\x00")
	if !printable(text) {
		return "", fmt.Errorf("/%s holds no single line of text", name)
	}
	return strings.TrimSpace(text), nil
}

// value is line for a file that must not be empty.
func (f files) value(name string) (Text, error) {
	line, err := f.line(name)
	if err == nil && line == "" {
		err = fmt.Errorf("/%s is empty", name)
	}
	return Text(line), err
}

// integer is the whole number that a file holds.
func (f files) integer(name string) (int64, error) {
	line, err := f.line(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/%s holds %q, not a whole number", name, line)
	}
	return n, nil
}

// status is a field of /proc/self/status (proc_pid_status(5)).
func (f files) status(field string) (string, error) {
	text, err := f.text("proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("/proc/self/status has no line %s", field)
}

// exists reports whether there is a file of that name.
func (f files) exists(name string) bool {
	_, err := fs.Stat(f.root, name)
	return err == nil
}

// printable reports whether s can stand in a report: short enough, valid, and
// without control characters that could act on a terminal.
func printable(s string) bool {
	if len(s) > maxLineBytes || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && !strconv.IsPrint(r) })
}

// plainer says with the file's full name what the system answered.
func plainer(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("/%s: %w", name, err)
}
