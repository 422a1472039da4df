//go:build unix

package load

import (
	"errors"
	"syscall"
)

// Pause stops all of them, and what they have started, until Resume.
func (l *Load) Pause() error { return l.signal(syscall.SIGSTOP) }

// Resume lets them go on.
func (l *Load) Resume() error { return l.signal(syscall.SIGCONT) }

func (l *Load) signal(s syscall.Signal) (err error) {
	for _, c := range l.competitors {
		select {
		case <-c.ended: // its number may be another process's
		default:
			err = errors.Join(err, syscall.Kill(-c.command.Process.Pid, s))
		}
	}
	return err
}
