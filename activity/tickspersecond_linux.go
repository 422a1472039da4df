package activity

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// clockTicks is the return value of times(2): clock ticks since some moment
// before the system started.
func clockTicks() (int64, error) {
	var unused unix.Tms
	ticks, err := unix.Times(&unused)
	if err != nil {
		return 0, fmt.Errorf("activity: clock ticks: times: %w: allow the system call", err)
	}
	return int64(ticks), nil
}
