//go:build unix

package probe

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// readable reports whether something can be read from the pipe without waiting.
func readable(pipe io.Reader) (ready bool) {
	file, ok := pipe.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	raw.Read(func(fd uintptr) bool {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(look, 0)
		ready = err == nil && look[0].Revents&unix.POLLIN != 0
		return true
	})
	return ready
}
