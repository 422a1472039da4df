package view

import (
	"math"
	"testing"

	"chronoscope/stats"
	"chronoscope/timermeter"
)

// Without the core's rate no quality is known. A clock that steps back has quality 0, and is not sorted
// before the fit ones for that.
func TestClocksAreSortedWithoutQuality(t *testing.T) {
	of := func(name string, accuracyNs float64) timermeter.Rating {
		return timermeter.Rating{
			Name: name, Accuracy: stats.Estimate{Value: accuracyNs}, Cost: timermeter.Cost{MedianNs: stats.FloatOf(20)},
			Spread: stats.FloatOf(1), Quality: stats.FloatOf(math.NaN()),
		}
	}
	broken := of("broken", 1)
	broken.Quality = stats.FloatOf(0)
	clocks := []timermeter.Rating{broken, of("coarse", 1000), of("fine", 1)}
	if err := SortClocks(clocks, "quality"); err != nil || clocks[0].Name != "fine" || clocks[1].Name != "coarse" || clocks[2].Name != "broken" {
		t.Errorf("%v: %s, %s, %s", err, clocks[0].Name, clocks[1].Name, clocks[2].Name)
	}
}
