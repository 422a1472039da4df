//go:build !linux

package kbest

// largePages returns memory in whatever pages the system gives.
func largePages(bytes int) (memory []byte, release func() error, err error) {
	return make([]byte, bytes), func() error { return nil }, nil
}
