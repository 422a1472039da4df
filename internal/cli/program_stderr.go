package cli

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// A tail keeps the end of a program's standard error, to show it if the program fails. One pipe serves all
// runs, so that a run which writes nothing costs nothing.
type tail struct {
	write, read *os.File
	drained     chan struct{}
	end         []byte // belongs to drain until that has ended
}

// tailBytes is the number of bytes that are kept, and tailLines the number of lines that are shown.
const (
	tailBytes = 4096
	tailLines = 8
)

func newTail() (*tail, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("a pipe for the programs' standard error: %w: allow more open files (ulimit -n)", err)
	}
	t := &tail{write: write, read: read, drained: make(chan struct{})}
	go t.drain()
	return t, nil
}

// drain reads until no process has the pipe open for writing, or until the deadline of close.
func (t *tail) drain() {
	defer close(t.drained)
	piece := make([]byte, tailBytes)
	for {
		n, err := t.read.Read(piece)
		t.end = append(t.end, piece[:n]...)
		t.end = append(t.end[:0], t.end[max(0, len(t.end)-tailBytes):]...)
		if err != nil {
			return
		}
	}
}

// lingering is the longest time for which close waits for the end of the output: processes that a program left
// behind may hold the pipe open.
const lingering = 100 * time.Millisecond

// close ends the pipe and returns the last lines.
func (t *tail) close() string {
	t.write.Close()
	t.read.SetReadDeadline(time.Now().Add(lingering))
	<-t.drained
	t.read.Close()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.end), "\uFFFD")), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
