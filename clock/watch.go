package clock

// Gap is a stretch between two consecutive readings that lie far apart, because the thread that
// took them did not run or was slow.
type Gap struct {
	Before, After int64 // the readings, in ticks
}

// Ticks returns the length of the gap.
func (g Gap) Ticks() int64 { return g.After - g.Before }

// Watch says what to look for while a clock is read without pause. All times
// are in ticks.
type Watch struct {
	Threshold int64 // a step longer than this is a gap
	Long      int64 // a gap longer than this ends the watch, so that the caller can examine it at once
	Until     int64 // the reading at which the watch ends
}

// Gaps reads the clock without pause and stores the gaps between consecutive readings in gaps;
// last is the reading before the first. It returns the number of gaps and the last reading,
// which the next call takes as its last, so that nothing is missed in between. It ends at
// w.Until, after a long gap, when gaps is full (it must not be empty), or after a million
// readings, because a counter that stands still never reaches w.Until.
//
// A hardware counter is read without fences, and its loop is one function in assembly, which the
// Go scheduler can't interrupt: choose w.Until so that it ends within a millisecond.
func (c *Clock) Gaps(last int64, w Watch, gaps []Gap) (n int, now int64) {
	if len(gaps) == 0 {
		return 0, last
	}
	return c.gaps(last, w, gaps)
}

// mostWatched is the number of readings after which a watch ends in any case. The loops in
// assembly use the same number.
const mostWatched = 1 << 20

// gapsOf implements Gaps for clocks that are read by a Go function.
func gapsOf(read func() int64, last int64, w Watch, gaps []Gap) (n int, now int64) {
	for range mostWatched {
		now = read()
		step := now - last
		if step > w.Threshold {
			gaps[n] = Gap{last, now}
			n++
		}
		if now >= w.Until || n == len(gaps) || step > w.Threshold && step > w.Long {
			return n, now
		}
		last = now
	}
	return n, now
}
