//go:build !amd64 && !arm64

package clock

// counterGaps is never called: there is no counter to read.
func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64) {
	panic("clock: no counter on this architecture")
}
