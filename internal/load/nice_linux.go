package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// setNice sets the niceness of this thread and of its session.
func setNice(nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil {
		return fmt.Errorf("a niceness of %d: setpriority: %w", nice, err)
	}
	return niceSession(nice)
}

// niceSession sets the niceness of this process's session. Where the kernel first shares the CPUs among sessions (sched(7),
// autogroup), the niceness of a thread only counts within its session. A kernel that does not share them so has no such
// file.
//
// Without CAP_SYS_ADMIN the kernel permits one write every 0.1 s, by all processes together.
func niceSession(nice int) error {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) // the files of a program with file capabilities belong to root otherwise (proc_pid(5))
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(nice)), 0)
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, unix.EAGAIN) || time.Since(began) > time.Second:
			return fmt.Errorf("a niceness of %d for a session: %w", nice, err)
		}
	}
}
