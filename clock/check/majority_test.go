package check

import (
	"math"
	"slices"
	"testing"

	"chronoscope/stats"
)

// A CPU that nothing links to others is no reference: it hid that another one is off, and that an answer is too wide to
// prove anything.
func TestACPUWithoutLinks(t *testing.T) {
	const lost, fast = 3, 1
	between := func(i, j int) stats.Estimate {
		if i == lost || j == lost {
			return stats.NoEstimate("ns", "offset")
		}
		e := stats.Estimate{Value: 0, Lo: -20, Hi: 20, Unit: "ns"}
		switch fast {
		case j:
			e.Value, e.Lo, e.Hi = 500, 480, 520
		case i:
			e.Value, e.Lo, e.Hi = -500, -520, -480
		}
		return e
	}
	for _, lostFirst := range []bool{false, true} {
		order := []int{0, 1, 2, 3}
		if lostFirst {
			order = []int{3, 0, 1, 2}
		}
		o := &Offsets{CPUs: order}
		of := func(i, j int) stats.Estimate { return between(order[i], order[j]) }
		reference, odd, unknown := majority(o, of, 100)
		if order[reference] == lost || order[reference] == fast || !slices.Equal(odd, []int{slices.Index(order, fast)}) || unknown != 3 {
			t.Errorf("%v: reference %d, odd %v, %d unknown", order, reference, odd, unknown)
		}
		if w := widest(o, of); math.Abs(w-20) > 1e-9 {
			t.Errorf("%v: widest %v", order, w)
		}
	}
}
