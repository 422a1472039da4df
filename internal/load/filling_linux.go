package load

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// leastNice is the niceness of the session of a filling competitor.
const leastNice = 19

// giveWay gives this thread a CPU only while no other thread wants it. A policy only counts within a session, so the session
// of the thread gets the least share, too. Without that the thread would take half of a CPU from a program of another session.
// In a sandbox that forbids to set the share, it does.
func giveWay() error {
	if err := niceSession(leastNice); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) {
		return err
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("sched_setattr to SCHED_IDLE: %w", err)
	}
	return nil
}
