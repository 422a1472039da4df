package gobench

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// meeting lets the two processes of a duet wait for one another after their setups, so that both are timed at the same
// moments. Each opens a named pipe, one to read and the other to write, which waits until both have (fifo(7)).
type meeting struct {
	folder   string
	patience *time.Timer
	over     sync.Once
	end      *os.File // the tool's own, after which nobody waits any longer
}

// mostPatience is the longest that one process waits for the other. It may hold something that the other one's setup needs.
const mostPatience = 10 * time.Second

// newMeeting makes the pipe in a new folder in dir. It returns nil if that is not possible: then the processes don't wait for
// one another.
func newMeeting(dir string) *meeting {
	folder, err := os.MkdirTemp(dir, "duet")
	if err != nil {
		return nil
	}
	m := &meeting{folder: folder}
	if unix.Mkfifo(m.pipe(), 0o600) != nil {
		os.Remove(folder)
		return nil
	}
	m.patience = time.AfterFunc(mostPatience, m.leave)
	return m
}

func (m *meeting) pipe() string { return filepath.Join(m.folder, "pipe") }

// env returns a variable that says at which start of its timer each process meets the other, as the account in the testing
// package reads it.
func (m *meeting) env(starts [2]int) (variables [2][]string) {
	if m == nil {
		return variables
	}
	for i, mode := range []string{"write", "read"} {
		variables[i] = []string{fmt.Sprintf("CHRONOSCOPE_MEETS=%d %s %s", starts[i], mode, m.pipe())}
	}
	return variables
}

// leave says that one of the processes has ended, so that the other one does not wait for it.
func (m *meeting) leave() {
	if m == nil {
		return
	}
	m.over.Do(func() {
		m.end, _ = os.OpenFile(m.pipe(), os.O_RDWR|unix.O_NONBLOCK, 0) // without it, the other one waits until its time-out
	})
}

// close removes the pipe. What can't be removed goes with the folder that it is in.
func (m *meeting) close() {
	if m == nil {
		return
	}
	m.patience.Stop()
	m.leave()
	if m.end != nil {
		m.end.Close()
	}
	os.RemoveAll(m.folder)
}
