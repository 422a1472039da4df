//go:build unix

package bytecode

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// niceThread raises the niceness of the calling thread, and of the programs that it starts.
func niceThread(nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil {
		return fmt.Errorf("competitors of nice %d: setpriority: %w", nice, err)
	}
	return nil
}
