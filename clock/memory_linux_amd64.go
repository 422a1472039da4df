package clock

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// copyMemory copies size bytes of this process from an address that may not be
// mapped. The kernel reads it, through a pipe, since it answers EFAULT where a
// program of its own would die.
func copyMemory(address uintptr, size int) ([]byte, error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("pipe2(2): %w", err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	data := make([]byte, 0, size)
	for len(data) < size {
		chunk := min(size-len(data), 4096)
		n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(pipe[1]), address+uintptr(len(data)), uintptr(chunk))
		if errno != 0 {
			return nil, fmt.Errorf("write(2) of the memory at %#x: %w", address+uintptr(len(data)), errno)
		}
		part := data[len(data) : len(data)+int(n)]
		read, err := unix.Read(pipe[0], part)
		if err != nil {
			return nil, fmt.Errorf("read(2) from a pipe: %w", err)
		}
		if read == 0 {
			return nil, errors.New("read(2) from a pipe gave nothing back")
		}
		data = data[:len(data)+read]
	}
	return data, nil
}
