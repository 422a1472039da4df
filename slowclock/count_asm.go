//go:build amd64 || arm64

package slowclock

import (
	"sync/atomic"
	"unsafe"
)

// count stores from+1 to from+n, one after the other.
//
//go:noescape
func count(at unsafe.Pointer, from, n int64)

// countTo is where the Go scheduler can stop the thread, as it does to collect garbage:
// inlined, it would leave a loop in which there is no such place.
//
//go:noinline
func countTo(at *atomic.Int64, from, n int64) { count(unsafe.Pointer(at), from, n) }
