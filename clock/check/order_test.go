package check

import (
	"math"
	"testing"

	"chronoscope/clock"
)

// A counter that started at a high value passes the largest signed number. The difference of the
// two readings stays right, so that this is no step back.
func TestOverTheSignIsNoStepBack(t *testing.T) {
	if b := Order([]int64{math.MaxInt64 - 5, math.MaxInt64, math.MinInt64, math.MinInt64 + 7}); b.Count != 0 || b.Readings != 3 {
		t.Errorf("%+v", b)
	}
	if b := Order([]int64{math.MinInt64 + 2, math.MaxInt64}); b.Count != 1 || b.Worst != 3 {
		t.Errorf("%+v, want one step back by 3", b)
	}
	s := newSimulation(1)
	c := fine()
	sub := s.add("counter", c)
	over := int64(math.MaxInt64) - 1_400_000_000 // the clock starts at 1 s, and so passes the largest number after 0.4 s
	*sub = *newSubject(clock.Rated{
		Clock:  clock.New(*sub.Clock, func() int64 { return c.Read() + over }),
		TickNs: sub.TickNs, AccuracyNs: sub.AccuracyNs,
	})
	if r := s.run(t.Context()); len(faults(r)) > 0 {
		t.Error(texts(faults(r)))
	}
}
