package slowclock

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"chronoscope/clock"
)

// The loop ends at the count from which the next one continues, and writes nothing else.
func TestCountTo(t *testing.T) {
	for _, c := range []struct{ from, n int64 }{{0, 0}, {0, 1}, {5, 1000}, {1 << 40, countsAtOnce}} {
		var memory [3]atomic.Int64
		for i := range memory {
			memory[i].Store(c.from)
		}
		countTo(&memory[1], c.from, c.n)
		if before, at, after := memory[0].Load(), memory[1].Load(), memory[2].Load(); at != c.from+c.n || before != c.from || after != c.from {
			t.Errorf("%d counts from %d: %d, between %d and %d", c.n, c.from, at, before, after)
		}
	}
}

// A thread counts until it is stopped. It can be started and stopped several times.
func TestCounting(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("a counting thread needs a second CPU")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	c, err := StartCounting(nil)
	if err != nil {
		t.Fatal(err)
	}
	count := c.Clock()
	for first := count.Read(); count.Read() == first; {
		runtime.Gosched()
	}
	c.Stop()
	c.Stop()
	if last := count.Read(); last%countsAtOnce != 0 || last != count.Read() {
		t.Errorf("stopped at %d", last)
	}
}

// If no thread can count at the same time as the measuring one, or not on the requested CPU, the
// error says so, and what would help.
func TestNobodyCounts(t *testing.T) {
	refused := func(cpus []int) {
		t.Helper()
		var missing *clock.Unavailable
		if _, err := StartCounting(cpus); !errors.As(err, &missing) || missing.Remedy == "" {
			t.Errorf("%v", err)
		}
	}
	refused([]int{1 << 20})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	refused(nil)
}
