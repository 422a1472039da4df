//go:build !amd64 && !arm64

package clock

func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64) {
	return gapsOf(counter, last, Watch{Threshold: threshold, Long: long, Until: until}, gaps)
}
