//go:build amd64 || arm64

package slowclock

import (
	"sync/atomic"
	"unsafe"
)

// count stores the values from+1 to from+n, one after the other.
//
//go:noescape
func count(at unsafe.Pointer, from, n int64)

// countTo is a place where the Go scheduler can stop the thread, as it does for a garbage
// collection. If it were inlined, the loop would contain no such place.
//
//go:noinline
func countTo(at *atomic.Int64, from, n int64) { count(unsafe.Pointer(at), from, n) }
