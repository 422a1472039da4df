package activity

import "testing"

// Practice problem 9.4: the time used is more than 60 ms and less than 80 ms.
func TestTimeBounds(t *testing.T) {
	for _, c := range []struct {
		ticks, segments int
		above, below    float64
	}{{7, 1, 60e6, 80e6}, {0, 1, 0, 10e6}, {7, 3, 40e6, 100e6}, {2, 5, 0, 70e6}, {0, 0, 0, 0}} {
		if above, below := TimeBounds(c.ticks, c.segments, 10e6); above != c.above || below != c.below {
			t.Errorf("%d ticks in %d segments: %v, %v; want %v, %v", c.ticks, c.segments, above, below, c.above, c.below)
		}
	}
}

// checkBounds checks that the time really used lies within the bounds that the ticks imply.
func checkBounds(t *testing.T, what string, ticks, segments int, intervalNs, usedNs float64) {
	t.Helper()
	above, below := TimeBounds(ticks, segments, intervalNs)
	if usedNs < above || usedNs == above && above > 0 || usedNs >= below && segments > 0 {
		t.Errorf("%s: used %v ns in %d segments, out of (%v, %v) as %d ticks imply", what, usedNs, segments, above, below, ticks)
	}
}
