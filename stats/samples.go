package stats

import (
	"fmt"
	"math"
)

// TooFewError says that there were not enough samples for a result, and how many would suffice.
type TooFewError struct {
	Want string // the result for which there are too few: "a 95 % interval of the median" ...
	Have int    // samples that were there
	Need int    // samples that suffice
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("stats: %s needs %d samples or more, there are %d: take more samples", e.Want, e.Need, e.Have)
}

// checkFinite returns an error if a sample is NaN or infinite, because every order and every sum of such
// samples would be meaningless.
func checkFinite(name string, xs []float64) error {
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("stats: %s[%d] is %v: leave out what is not a finite number", name, i, x)
		}
	}
	return nil
}
