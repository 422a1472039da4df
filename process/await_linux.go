package process

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// await waits for an untraced program. Once it has ended, and before it is gone, the
// counters of its first thread can still be read.
func await(ctx context.Context, pid int, started time.Time, why error) (Run, error) {
	defer killGroup(pid)
	stop := context.AfterFunc(ctx, func() { killGroup(pid) })
	defer stop()
	r := Run{Untraced: why, WaitOf: NoThread}
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return r, fmt.Errorf("waiting for process %d: waitid: %w", pid, err)
		}
	}
	r.WallNs = time.Since(started).Nanoseconds()
	if first, err := readThread(pid); err == nil {
		r.Threads, r.WaitOf = []Thread{first}, FirstThread
	}
	var status unix.WaitStatus
	var usage unix.Rusage
	if _, err := wait(pid, &status, &usage); err != nil {
		return r, fmt.Errorf("waiting for process %d: wait4: %w", pid, err)
	}
	r.ended(status, &usage)
	return r, nil
}
