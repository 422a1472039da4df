package process

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// callCounter is a perf event that counts the system calls of what the calling thread starts, from the exec on; -1 if
// they can't be counted.
type callCounter int

// countCalls starts to count them. event is the number of the tracepoint of a system call's begin.
func countCalls(event uint64) callCounter {
	if event == 0 {
		return -1
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_TRACEPOINT, Config: event,
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec,
	}
	attr.Size = unix.PERF_ATTR_SIZE_VER1
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1
	}
	return callCounter(fd)
}

// count returns the number of calls of the threads that have ended; 0 if they were not counted.
func (c callCounter) count() int64 {
	var counted [8]byte
	if n, err := unix.Read(int(c), counted[:]); err != nil || n != len(counted) {
		return 0
	}
	return int64(binary.NativeEndian.Uint64(counted[:]))
}

func (c callCounter) close() {
	if c >= 0 {
		unix.Close(int(c))
	}
}
