package repeat

import (
	"math"
	"time"
)

// Limits say when a series may end.
type Limits struct {
	// Least is the smallest number of measurements; there are fewer only if they took twice as long as
	// Time. Most is the largest; 0 for no limit.
	Least, Most int
	// Time is how long a series may take.
	Time time.Duration
	// Precision is the half-width of the interval, as a share of the value, at which a series may end.
	Precision float64
}

// Ended tells whether a series of n measurements that took so long ends, whatever it has shown. One
// measurement is always made.
func (l Limits) Ended(n int, spent time.Duration) bool {
	switch {
	case l.Most > 0 && n >= l.Most:
		return true
	case n < l.Least:
		return n > 0 && spent > 2*l.Time
	}
	return spent > l.Time
}

// Enough tells whether a series may end, because it has to or because it is known well enough:
// halfWidth, which is asked at few numbers of measurements only, is half the width of its interval, as
// a share of its value.
func (l Limits) Enough(n int, spent time.Duration, halfWidth func() float64) bool {
	return l.Ended(n, spent) || Due(n, l.Least, UsualGrowth) && halfWidth() <= l.Precision
}

// UsualGrowth is the ratio of the numbers of measurements at successive looks.
const UsualGrowth = 1.5

// Due tells whether n measurements are looked at: the first look is at least of them, and each number
// is growth times the one before, rounded up.
func Due(n, least int, growth float64) bool {
	look := max(1, least)
	for look < n {
		look = int(math.Ceil(growth * float64(look)))
	}
	return look == n
}
