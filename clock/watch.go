package clock

// Gap is a stretch between two consecutive readings that lie far apart: the
// thread that took them was away, or slow.
type Gap struct {
	Before, After int64 // the readings, in ticks
}

// Ticks is the length of the gap.
func (g Gap) Ticks() int64 { return g.After - g.Before }

// Watch says what to look for while a clock is read without pause. All times
// are in ticks.
type Watch struct {
	Threshold int64 // a step longer than this is a gap
	Long      int64 // a gap longer than this ends the watch, so that it can be looked into at once
	Until     int64 // the reading at which the watch ends
}

// Gaps reads the clock without pause and notes the gaps between consecutive
// readings, the first of which is last. It returns how many it found, and the
// last reading, from which the next watch goes on without losing anything. It
// ends with w.Until, with a long gap, when gaps is full, which must have room
// for one, or after a million readings: a counter that stands still never gets
// to w.Until.
//
// Of a hardware counter the readings are bare ones, and the loop is one function
// in assembly, which the Go scheduler can't interrupt: let it end within a
// millisecond.
func (c *Clock) Gaps(last int64, w Watch, gaps []Gap) (n int, now int64) {
	if len(gaps) == 0 {
		return 0, last
	}
	return c.gaps(last, w, gaps)
}

// mostWatched is after how many readings a watch ends in any case; the loops in
// assembly have the same number.
const mostWatched = 1 << 20

// gapsOf is Gaps for clocks that are read by a Go function.
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
