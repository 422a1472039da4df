package perfring

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is an event of perf_event_open(2) with the memory that the kernel shares with this process: the
// records, and a page that tells how far the kernel has written them (data_head) and this process has
// read them (data_tail).
type Ring struct {
	FD           int
	memory, data []byte
}

// ErrLocked says that a buffer needs more locked memory than is left to the processes of this user (perf_event_mlock_kb) and
// to this process (RLIMIT_MEMLOCK): the EPERM of mmap(2), unlike that of perf_event_open(2), is not about rights.
var ErrLocked = errors.New("the limit of locked memory is reached")

// Open opens an event of a thread on a CPU, with a buffer of the given number of pages, a power of two.
// Before the first one it compares the clock of the records with that of [Now]. Its errors are those of the system or
// [ErrLocked], or say why the clocks can't be compared.
func Open(attr *unix.PerfEventAttr, thread, cpu, pages int) (*Ring, error) {
	if err := compareOnce(); err != nil {
		return nil, err
	}
	return open(attr, thread, cpu, pages)
}

func open(attr *unix.PerfEventAttr, thread, cpu, pages int) (*Ring, error) {
	attr.Size = uint32(unsafe.Sizeof(*attr))
	fd, err := unix.PerfEventOpen(attr, thread, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	memory, err := unix.Mmap(fd, 0, (pages+1)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		if err == unix.EPERM {
			return nil, fmt.Errorf("%w: mmap of %d pages: %w", ErrLocked, pages+1, err)
		}
		return nil, err
	}
	return &Ring{FD: fd, memory: memory, data: memory[page:]}, nil
}

// Close closes the event and releases the memory.
func (r *Ring) Close() {
	unix.Munmap(r.memory)
	unix.Close(r.FD)
}

// Take appends all unread records to raw.
func (r *Ring) Take(raw []byte) []byte {
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.memory[0]))
	head, tail := atomic.LoadUint64(&page.Data_head), page.Data_tail
	size := uint64(len(r.data))
	if head-tail > size { // the kernel never leaves such a state
		tail = head
	}
	from, n := tail%size, head-tail
	first := min(n, size-from)
	raw = append(raw, r.data[from:from+first]...)
	raw = append(raw, r.data[:n-first]...)
	atomic.StoreUint64(&page.Data_tail, head)
	runtime.KeepAlive(r.memory)
	return raw
}
