//go:build unix

package load

import (
	"errors"
	"os"
	"syscall"
)

// Pause stops all competitors, and the processes that they have started, until Resume.
func (l *Load) Pause() error { return l.signal(syscall.SIGSTOP) }

// Resume lets all competitors go on.
func (l *Load) Resume() error { return l.signal(syscall.SIGCONT) }

func (l *Load) signal(s syscall.Signal) (err error) {
	for _, c := range l.competitors {
		select {
		case <-c.ended: // its process number may belong to another process
		default:
			err = errors.Join(err, syscall.Kill(-c.command.Process.Pid, s))
		}
	}
	return err
}

// endGroup kills this competitor and the processes that it has started, which may be stopped.
func endGroup() { _ = syscall.Kill(-os.Getpid(), syscall.SIGKILL) }
