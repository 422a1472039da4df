package gobench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// meeting lets two processes wait for one another each time that the timer of their benchmark starts, so that both are timed
// at the same moments even if their setups take unlike times. Each opens a named pipe, one to read and the other to write,
// which waits until both have (fifo(7)). They use two pipes in turn, since one of them may still hold the last one open.
type meeting struct {
	folder string
	gone   sync.Once
	ends   []*os.File // which the tool holds open, so that nobody waits any longer
}

// meetings are the names of the pipes, which the account in the testing package knows.
var meetings = []string{"0", "1"}

// newMeeting makes the pipes in a new folder in dir.
func newMeeting(dir string) (*meeting, error) {
	folder, err := os.MkdirTemp(dir, "duet")
	if err != nil {
		return nil, fmt.Errorf("a folder for two benchmarks to meet in: %w", err)
	}
	for _, name := range meetings {
		if err := unix.Mkfifo(filepath.Join(folder, name), 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("a named pipe for two benchmarks to meet at: mkfifo %s: %w", filepath.Join(folder, name), err), os.RemoveAll(folder))
		}
	}
	return &meeting{folder: folder}, nil
}

// env returns the variables for the first and for the second process.
func (m *meeting) env() [2]string {
	return [2]string{"CHRONOSCOPE_MEETS=w" + m.folder, "CHRONOSCOPE_MEETS=r" + m.folder}
}

// leave says that one of the processes has ended, so that the other one need not wait for it.
func (m *meeting) leave() {
	m.gone.Do(func() {
		for _, name := range meetings {
			if f, err := os.OpenFile(filepath.Join(m.folder, name), os.O_RDWR|unix.O_NONBLOCK, 0); err == nil {
				m.ends = append(m.ends, f)
			}
		}
	})
}

// close removes the pipes.
func (m *meeting) close() error {
	for _, f := range m.ends {
		f.Close()
	}
	return os.RemoveAll(m.folder)
}
