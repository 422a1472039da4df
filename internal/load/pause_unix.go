//go:build unix

package load

import (
	"errors"
	"syscall"
)

// Pause stops all of them until Resume: what runs then is as alone as without them.
func (l *Load) Pause() error { return l.signal(syscall.SIGSTOP) }

// Resume lets them go on.
func (l *Load) Resume() error { return l.signal(syscall.SIGCONT) }

func (l *Load) signal(s syscall.Signal) (err error) {
	for _, c := range l.competitors {
		err = errors.Join(err, c.command.Process.Signal(s))
	}
	return err
}
