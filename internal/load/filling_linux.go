package load

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// leastNice is the niceness of the session of a filling competitor.
const leastNice = 19

// giveWay gives this thread a CPU only while no other wants it. The session of the thread gets the least share, too, since
// a policy only counts within a session: otherwise the thread takes half of a CPU from a program of another session, as it does if a sandbox keeps it from writing
// that share.
func giveWay() error {
	if err := niceSession(leastNice); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) {
		return err
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("sched_setattr to SCHED_IDLE: %w", err)
	}
	return nil
}
