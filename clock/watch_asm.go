//go:build amd64 || arm64

package clock

//go:noescape
func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64)
