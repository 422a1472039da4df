//go:build unix && !linux

package load

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// setNice sets the niceness of this process.
func setNice(nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil {
		return fmt.Errorf("a niceness of %d: setpriority: %w", nice, err)
	}
	return nil
}
