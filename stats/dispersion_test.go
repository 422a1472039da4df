package stats

import (
	"math"
	"testing"
)

// The scatter of five parts is as expected, twice that, half of it, and far beyond it. The expected
// results were computed by hand: the expectation has the weight of 8 parts, 8/4, 8/4, and almost none.
func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		squares, freedom, variance float64
		want                       Scatter
	}{
		"as expected": {4, 4, 0.25, Scatter{Dispersion: 1, Extra: 0.3, Freedom: 12}},
		"twice":       {8, 4, 0.25, Scatter{Dispersion: 1, Extra: 0.3 + 0.25*2/3, Freedom: 6}},
		"half":        {2, 4, 0.25, Scatter{Dispersion: 2.0 / 3, Extra: 0.2, Freedom: 6}},
		"far beyond":  {4000, 4, 0.25, Scatter{Dispersion: 1, Extra: 0.3 + 0.25*999, Freedom: 4}},
		"none":        {0, 4, 0.25, Scatter{Freedom: 4}},
		"one part":    {0, 0, 0.25, Scatter{Dispersion: 1, Extra: 0.3}},
		"no variance": {4, 4, 0, Scatter{Dispersion: 1, Extra: 0.3}},
	} {
		s := Scatter{Dispersion: 1, Extra: 0.3}
		s.Observe(c.squares, c.freedom, c.variance)
		close := func(got, want float64) bool { return math.Abs(got-want) <= 1e-3*math.Abs(want) }
		if !close(s.Dispersion, c.want.Dispersion) || !close(s.Extra, c.want.Extra) || !close(s.Freedom, c.want.Freedom) {
			t.Errorf("%s: %+v, want %+v", name, s, c.want)
		}
	}
	// A dispersion of 0 is expected if edges keep their distance; it keeps its weight as far as
	// the data agree.
	s := Scatter{}
	if s.Observe(2, 4, 0.25); math.Abs(s.Dispersion-2.0/6) > 1e-12 {
		t.Errorf("beside an expectation of 0: %+v", s)
	}
}
