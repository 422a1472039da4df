package process

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A system that counts not even the page fault with which each program begins counts nothing of that kind.
func TestEnded(t *testing.T) {
	for _, c := range []struct {
		usage     unix.Rusage
		uncounted bool
	}{{unix.Rusage{Minflt: 1}, false}, {unix.Rusage{}, true}} {
		var r Run
		if r.ended(0, &c.usage); r.Uncounted != c.uncounted {
			t.Errorf("%d page faults: uncounted is %v", c.usage.Minflt, r.Uncounted)
		}
	}
}
