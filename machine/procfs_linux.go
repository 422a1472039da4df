package machine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// ProcError says why /proc does not tell what the kernel counts of other processes: there is none, or it is that of
// another PID namespace, in which processes have other numbers. It is nil if /proc does tell.
func ProcError() error { return procError() }

var procError = sync.OnceValue(func() error {
	if self, err := os.Readlink("/proc/self"); err == nil && self == strconv.Itoa(os.Getpid()) {
		return nil
	}
	return errors.New("/proc is missing, or is that of another PID namespace: mount one (mount -t proc proc /proc, or unshare --mount-proc)")
})

// ProcFile returns the name of a file or folder of a process or thread in /proc. It is empty, which no file's name is, if
// /proc does not tell of that process.
func ProcFile(id int, name string) string {
	if procError() != nil {
		return ""
	}
	return fmt.Sprintf("/proc/%d/%s", id, name)
}
