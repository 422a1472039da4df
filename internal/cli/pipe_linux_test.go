package cli_test

import (
	"bytes"
	"os"
	"os/exec"
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

// A reader of standard output that has gone once took the record, the page and the plot with it, and the cleanup.
func TestNobodyReadsTheOutput(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, args := range [][]string{
		{
			"run", "--runs", "2", "--cleanup", "touch cleaned", "--save=records", "--html", "page.html", "--plot", "plot.svg", "--export", "csv:runs.csv",
			"--", "true",
		},
		{"--help"},
	} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		reader.Close()
		var said bytes.Buffer
		command := exec.Command(chronoscope, args...)
		command.Dir, command.Stdout, command.Stderr = folder, writer, &said
		err = command.Run()
		writer.Close()
		if status := command.ProcessState.ExitCode(); status != 1 {
			t.Errorf("%q ended with %d: %v\n%s", args, status, err, &said)
		}
		if bytes.Contains(said.Bytes(), []byte("standard output")) || bytes.Contains(said.Bytes(), []byte("pipe")) {
			t.Errorf("%q is not quiet: %s", args, &said)
		}
	}
	for _, pattern := range []string{"cleaned", "page.html", "plot.svg", "runs.csv", "records/*.json"} {
		if files, err := filepath.Glob(filepath.Join(folder, pattern)); err != nil || len(files) != 1 {
			t.Errorf("there is no %s: %v, %v", pattern, files, err)
		}
	}
}
