package kbest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a large page on amd64, and on arm64 with pages of 4 KB.
const hugePage = 2 << 20

// largePages returns memory outside of Go's heap, in large pages if the system has any: with small ones a sweep
// would also wait for the translation of addresses. release gives the memory back.
func largePages(bytes int) (memory []byte, release func() error, err error) {
	bytes = (bytes + hugePage - 1) &^ (hugePage - 1)
	mapped, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("kbest: %d MB of memory to clear caches with: mmap: %w; raise the limit on memory", bytes>>20, err)
	}
	_ = unix.Madvise(mapped, unix.MADV_HUGEPAGE) // best effort: small pages serve too
	return mapped, func() error { return unix.Munmap(mapped) }, nil
}
