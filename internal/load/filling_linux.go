package load

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// leastNice is the niceness of the session of a filling competitor, 19, as text.
const leastNice = "19"

// giveWay gives this thread a CPU only while no other wants it. Where the kernel first shares the CPUs among sessions
// (sched(7), autogroup), the session gets the least share too, since a policy only counts within it: otherwise the thread
// takes half of a CPU from a program of another session.
func giveWay() error {
	_ = os.WriteFile("/proc/self/autogroup", []byte(leastNice), 0) // some kernels have no groups of sessions
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("sched_setattr to SCHED_IDLE: %w", err)
	}
	return nil
}
