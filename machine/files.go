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

// maxFileBytes limits how much of one file is read. The longest file, /proc/cpuinfo, takes about
// 1,500 bytes per CPU.
const maxFileBytes = 16 << 20

// maxLineBytes limits a single value: files in sysfs hold at most a page.
const maxLineBytes = 4096

// files reads the kernel's files below a root.
type files struct{ root fs.FS }

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

// line returns the content of a file that holds one line of printable text, which may be empty.
func (f files) line(name string) (string, error) {
	text, err := f.text(name)
	if err != nil {
		return "", err
	}
	// Strings of the device tree end in NUL, all others in a newline.
	text = strings.TrimRight(text, "\n\x00")
	if !printable(text) {
		return "", fmt.Errorf("/%s holds no single line of text", name)
	}
	return strings.TrimSpace(text), nil
}

// value returns the content like line, but an empty file is an error.
func (f files) value(name string) (Text, error) {
	line, err := f.line(name)
	if err == nil && line == "" {
		err = fmt.Errorf("/%s is empty", name)
	}
	return Text(line), err
}

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

// status returns a field of /proc/self/status (proc_pid_status(5)).
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

func (f files) exists(name string) bool {
	_, err := fs.Stat(f.root, name)
	return err == nil
}

// printable reports whether s may be part of a report: it is short and valid UTF-8, and has no
// control characters that could act on a terminal.
func printable(s string) bool {
	if len(s) > maxLineBytes || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && !strconv.IsPrint(r) })
}

// plainer returns an error with the file's full name and the system's answer.
func plainer(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("/%s: %w", name, err)
}
