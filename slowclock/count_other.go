//go:build !amd64 && !arm64

package slowclock

import "sync/atomic"

func countTo(at *atomic.Int64, from, n int64) {
	for i := from + 1; i <= from+n; i++ {
		at.Store(i)
	}
}
