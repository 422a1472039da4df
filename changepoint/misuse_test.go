package changepoint

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// One missing value hid every change: the result was one regime at an unknown level.
func TestMissingValuesAreRefused(t *testing.T) {
	for _, missing := range []float64{math.NaN(), math.Inf(1)} {
		points := make([]Point, 60)
		for i := range points {
			points[i].Value = float64(i % 3)
		}
		points[7].Value = missing
		for name, f := range map[string]func(){
			"Find": func() { Find(points, FalseChanges) }, "TipOf": func() { TipOf(points, 3) },
		} {
			func() {
				defer func() {
					if said := fmt.Sprint(recover()); !strings.Contains(said, "point 7") {
						t.Errorf("%s of %v: %s", name, missing, said)
					}
				}()
				f()
			}()
		}
	}
}
