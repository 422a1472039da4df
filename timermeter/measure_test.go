package timermeter

import (
	"math"
	"strings"
	"testing"
)

// An invalid unit is refused before anything is measured.
func TestMeasureRefusesUnits(t *testing.T) {
	for _, unit := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := Measure(background, func() int64 { t.Error("was read"); return 0 }, unit)
		if err == nil || !strings.Contains(err.Error(), "give the unit's length") {
			t.Errorf("%v: %v", unit, err)
		}
	}
}
