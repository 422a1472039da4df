package validate

import (
	"math"
	"slices"
	"testing"

	"chronoscope/activity"
)

// The expected values are computed by hand. The recording's own gap and the gap without length are
// no losses. Another thread had the CPU for 50 ticks: all later times, and the end, are earlier by
// that.
func TestLossesOf(t *testing.T) {
	l := lossesOf(&activity.Trace{TickNs: 1e3, Length: 1000, Gaps: []activity.Gap{
		{Start: 100, Ticks: 7},
		{Start: 200, Ticks: 9, Own: true},
		{Start: 300, Ticks: 50, Cause: activity.Preempted},
		{Start: 400, Ticks: 0},
		{Start: 500, Ticks: 2, Cause: activity.Hypervisor},
	}})
	if l.WatchedNs != 950e3 || !slices.Equal(l.All, []Loss{{100e3, 7e3}, {450e3, 9e3}}) {
		t.Errorf("%+v", l)
	}
}

// An interrupt of 10 µs comes each millisecond. A stretch of 10.5 ms contains ten or eleven,
// equally often. A stretch of a second, put together from eight shorter ones, contains a thousand.
// A stretch of 0.8 ms contains one in four of five cases, and one of 0.1 ms mostly none.
func TestLeastOf(t *testing.T) {
	var l Losses
	for i := range 1000 {
		l.All = append(l.All, Loss{1e6*float64(i) + 3e5, 1e4 * float64(i+1)})
	}
	l.WatchedNs = 1e9
	for _, c := range []struct {
		k        int
		ns, want float64
	}{{2, 10.5e6, 1e5}, {3, 10.5e6, 1e5}, {3, 1e9, 1e7}, {1, 1e9, 1e7}, {3, 0.8e6, 1e4}, {1, 1e5, 0}, {3, 0, 0}, {3, -5, 0}, {3, math.NaN(), 0}} {
		if got := l.leastOf(1, c.k, c.ns); got != c.want {
			t.Errorf("least of %d, %v ns: %v, not %v", c.k, c.ns, got, c.want)
		}
	}
	// Three of ten stretches of 0.3 ms contain an interrupt. So the shortest of nine runs mostly
	// contains none, and the longest mostly one.
	if first, last := l.leastOf(1, 9, 0.3e6), l.leastOf(9, 9, 0.3e6); first != 0 || last != 1e4 {
		t.Errorf("of nine stretches of 0.3 ms: %v and %v", first, last)
	}
	if got := l.then(l).leastOf(1, 3, 10.5e6); got != 1e5 {
		t.Errorf("%v of two traces", got)
	}
	if two := l.then(l); two.WatchedNs != 2e9 || len(two.All) != 2000 || two.All[1000].AtNs != 1e9+3e5 || two.All[1999].SumNs != 2e7 || two.until(1e9) != 1e7 {
		t.Errorf("joined: %v ns, %d times", two.WatchedNs, len(two.All))
	}
	turn := Losses{1e9, []Loss{{1e8, 1e4}, {2e8, 3e6 + 1e4}, {3e8, 3e6 + 2e4}}}
	if rest := turn.without(2.9e6); !slices.Equal(rest.All, []Loss{{1e8, 1e4}, {2e8, 1.1e5}, {3e8, 1.2e5}}) || rest.WatchedNs != 1e9 || turn.until(1e9) != 3.02e6 {
		t.Errorf("without a turn of another's: %+v", rest)
	}
	if rest := turn.without(9e6); rest.until(1e9) != 0 {
		t.Errorf("without more than all: %+v", rest)
	}
	if got := (Losses{}).leastOf(1, 3, 1e7); got != 0 {
		t.Errorf("%v without a trace", got)
	}
}
