package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe or a device is written to, not replaced: otherwise root could replace /dev/null for the
// whole machine.
func TestOutputIntoAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	// The pipe is opened for reading and writing, so that neither end waits for the other. Its
	// buffer has room for everything that is written here (pipe(7), "Pipe capacity").
	pipe, err := os.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	output(t, "clocks", "--quick", "-o", name, "go-time-now")
	if info, err := os.Lstat(name); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Fatalf("the pipe became %v, %v", info.Mode(), err)
	}
	written := make([]byte, 1<<16)
	n, err := unix.Read(int(pipe.Fd()), written)
	if err != nil || !bytes.Contains(written[:n], []byte(" go-time-now ")) {
		t.Errorf("the pipe holds %q, %v", written[:max(n, 0)], err)
	}
}
