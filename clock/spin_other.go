//go:build !amd64 && !arm64

package clock

import "sync/atomic"

// spun takes the outcome of the loop, so that the compiler has to run it.
var spun atomic.Uint64

func spin(work int) {
	x := uint64(3)
	for ; work > 0; work-- {
		x *= 5
	}
	spun.Store(x)
}
