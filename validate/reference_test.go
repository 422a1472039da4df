package validate

import (
	"math"
	"testing"
)

// The expected values are computed by hand: the median of 10 to 16 is 13, and its interval by the
// binomial distribution is the range of all seven values. Rounds and start are added, and a
// hundredth of the value is the distance from the line.
func TestExpected(t *testing.T) {
	var levels []level
	for i := range 7 {
		middle := 10 + float64(i)
		levels = append(levels, level{middle - 0.5, middle, middle + 0.5})
	}
	e := expected(levels, 100, Fit{RoundNs: 13, StartNs: 50, Error: 0.01})
	if want := 1350.0; e.Value != want || math.Abs(e.Lo-(1050-13.5)) > 1e-9 || math.Abs(e.Hi-(1650+13.5)) > 1e-9 || e.N != 7 {
		t.Errorf("%+v", e)
	}
	// If all middles are equal, the quartiles are the bounds.
	for i := range levels {
		levels[i] = level{9, 10, 12}
	}
	if e := expected(levels, 100, Fit{}); e.Value != 1000 || e.Lo != 900 || e.Hi != 1200 {
		t.Errorf("%+v", e)
	}
	// Something slows nine levels in ten: the others show the time without it. One fast level in a
	// hundred is taken as chance.
	levels = nil
	for i := range 100 {
		middle := 12.0
		if i < 11 {
			middle = 10
		}
		levels = append(levels, level{middle, middle, middle})
	}
	if e := expected(levels, 100, Fit{}); e.Value != 1200 || e.Lo != 1000 || e.Hi != 1200 {
		t.Errorf("%+v", e)
	}
	for i := range levels[:11] {
		levels[i] = level{12, 12, 12}
	}
	levels[0] = level{10, 10, 10}
	if e := expected(levels, 100, Fit{}); e.Lo != 1200 {
		t.Errorf("%+v", e)
	}
	// There are too few levels for a 95 % interval. The interval is then the whole range of the
	// levels.
	if e := expected([]level{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}}, 10, Fit{}); e.Value != 20 || e.Lo != 10 || e.Hi != 40 {
		t.Errorf("%+v", e)
	}
}
