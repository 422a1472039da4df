package load

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// leastNice is the niceness of the session of a filling competitor.
const leastNice = 19

// giveWay gives this thread a CPU only while no other thread wants it. A policy only counts within a session, so the session
// of the thread gets the least share, too. Without that the thread would take half of a CPU from a program of another session.
func giveWay() error {
	if err := niceSession(leastNice); err != nil && sharesAmongSessions() {
		return err
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("sched_setattr to SCHED_IDLE: %w", err)
	}
	return nil
}

// sharesAmongSessions reports whether the kernel first shares the CPUs among sessions, or may do so.
func sharesAmongSessions() bool {
	text, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled")
	return err != nil || !bytes.Equal(bytes.TrimSpace(text), []byte("0"))
}
