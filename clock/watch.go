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
// ends with w.Until, with a long gap, or when gaps is full, which must have
// room for one.
//
// Of a hardware counter the loop is one function in assembly, which the Go
// scheduler can't interrupt: let it end within a millisecond.
func (c *Clock) Gaps(last int64, w Watch, gaps []Gap) (n int, now int64) {
	if len(gaps) == 0 {
		return 0, last
	}
	if c.Kind == KindCounter && c.Scope == ScopeMachine {
		return counterGaps(last, w.Until, w.Threshold, w.Long, gaps)
	}
	return c.gaps(last, w, gaps)
}

// gaps is Gaps for clocks that are read by a Go function.
func (c *Clock) gaps(last int64, w Watch, gaps []Gap) (n int, now int64) {
	for {
		now = c.read()
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
}
