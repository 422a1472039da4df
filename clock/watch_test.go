package clock

import (
	"slices"
	"testing"
)

// stepped returns a clock that shows the given readings one after another.
func stepped(readings []int64) *Clock {
	i := -1
	return New(Clock{Kind: KindWall}, func() int64 { i++; return readings[i] })
}

// Gaps finds each step beyond the threshold, ends where its doc comment says, and can be
// continued. The expected gaps were found by hand.
func TestGapsOfKnownReadings(t *testing.T) {
	readings := []int64{1, 2, 12, 13, 40, 41, 42, 100, 101}
	for _, c := range []struct {
		name  string
		watch Watch
		room  int
		want  []Gap
		now   int64
	}{
		{"until", Watch{Threshold: 5, Long: 1000, Until: 42}, 9, []Gap{{2, 12}, {13, 40}}, 42},
		{"until, by a gap", Watch{Threshold: 5, Long: 1000, Until: 50}, 9, []Gap{{2, 12}, {13, 40}, {42, 100}}, 100},
		{"a long gap", Watch{Threshold: 5, Long: 20, Until: 1000}, 9, []Gap{{2, 12}, {13, 40}}, 40},
		{"no more room", Watch{Threshold: 5, Long: 1000, Until: 1000}, 1, []Gap{{2, 12}}, 12},
		{"just the threshold", Watch{Threshold: 10, Long: 1000, Until: 13}, 9, []Gap{}, 13},
	} {
		gaps := make([]Gap, c.room)
		n, now := stepped(readings).Gaps(0, c.watch, gaps)
		if !slices.Equal(gaps[:n], c.want) || now != c.now {
			t.Errorf("%s: %v until %d, want %v until %d", c.name, gaps[:n], now, c.want, c.now)
		}
	}
	if n, now := stepped(readings).Gaps(7, Watch{}, nil); n != 0 || now != 7 {
		t.Errorf("without room: %d gaps until %d", n, now)
	}
}

// Gaps of a simulated clock that is described as a counter once read the processor's counter
// instead.
func TestGapsOfASimulatedCounterReadIt(t *testing.T) {
	now := int64(0)
	c := New(Clock{Kind: KindCounter, Scope: ScopeMachine}, func() int64 { now += 10; return now })
	if n, last := c.Gaps(0, Watch{Threshold: 100, Long: 1000, Until: 1000}, make([]Gap, 4)); n != 0 || last != 1000 {
		t.Errorf("%d gaps until %d, want none until 1000", n, last)
	}
}

// A clock that stands still also ends the watch.
func TestGapsOfAClockThatStandsStill(t *testing.T) {
	c := New(Clock{Kind: KindWall}, func() int64 { return 5 })
	if n, now := c.Gaps(5, Watch{Threshold: 1, Long: 1, Until: 6}, make([]Gap, 3)); n != 0 || now != 5 {
		t.Errorf("%d gaps until %d", n, now)
	}
}

// The assembly loop over the counter finds gaps in order, each beyond the threshold and within
// the watch, and never more than gaps has room for.
func TestGapsOfTheCounter(t *testing.T) {
	for _, name := range []string{"tsc", "cntvct", "go-time-now"} {
		c, err := Open(name)
		if err != nil {
			continue
		}
		for _, room := range []int{1, 3, 1000} {
			gaps := make([]Gap, room)
			start := c.Read()
			last := start
			for range 50 {
				w := Watch{Threshold: 1, Long: 1 << 40, Until: last + 10_000}
				n, now := c.Gaps(last, w, gaps)
				if now < w.Until && n < room && now-last < 1<<20 {
					t.Fatalf("%s: ended at %d with %d gaps, before %d", name, now, n, w.Until)
				}
				for _, g := range gaps[:n] {
					if g.Before < last || g.Ticks() <= w.Threshold || g.After > now {
						t.Fatalf("%s: gap %v between %d and %d", name, g, last, now)
					}
					last = g.After
				}
				last = now
			}
			if allocs := testing.AllocsPerRun(10, func() { c.Gaps(last, Watch{Threshold: 1 << 40, Long: 1 << 40, Until: last}, gaps) }); allocs > 0 {
				t.Errorf("%s: %v allocations", name, allocs)
			}
		}
	}
}
