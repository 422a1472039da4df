package activity

import (
	"math"
	"testing"
)

// With many other gaps the first probability of a Poisson distribution is 0 in a float64, and all of the comb's gaps were
// taken for others. Of 100 and 1,000 expected ones there are at most 132
// and 1,099 in 999 of 1,000 traces (the distribution summed up in Python).
func TestManyOtherGaps(t *testing.T) {
	for expected, want := range map[int]int{100: 132, 1000: 1099} {
		c := Comb{Gaps: make([]int, 100_000), Expected: 100_000 + expected, toNs: 1, othersPerNs: math.Ln2} // half of the teeth
		if n := c.others(); n < want || n > want+2 {
			t.Errorf("%d of %d expected, want %d", n, expected, want)
		}
	}
}
