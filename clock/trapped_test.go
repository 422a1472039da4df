package clock

import (
	"testing"
	"time"
)

// How long readings take is told without the looks at the time, however long these take.
func TestLeastDuration(t *testing.T) {
	for _, look := range []time.Duration{20, 60_000} {
		var at time.Time
		now := func() time.Time { at = at.Add(look); return at }
		read := func() int64 { at = at.Add(100); return 0 }
		if d := leastDuration(now, read); d != 100*readingsTimed {
			t.Errorf("looks of %v: %v", look, d)
		}
	}
}
