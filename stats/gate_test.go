package stats

import (
	"math"
	"slices"
	"testing"
)

// The adjusted values are Holm's of the whole family, also where some of it was not measured: of two
// pairs and two limits each, 0.002 stands for 4 * 0.002, and 0.01 for 3 * 0.01.
func TestSidesOfASuite(t *testing.T) {
	nan := math.NaN()
	gate := Gate{Limit: 0.05, Metrics: map[string]float64{"ops/s": 0.1}}
	within := func(i int) bool { return i == 4 }
	beyond, sides := gate.Sides([]float64{0.01, nan, 0.002, nan, 0.6}, 2, within)
	if want := []Side{Open, "", Beyond, "", Within}; !slices.Equal(sides, want) {
		t.Errorf("%v, want %v", sides, want)
	}
	for i, want := range []float64{0.03, nan, 0.008, nan, 1} {
		if math.Abs(beyond[i]-want) > 1e-12 || math.IsNaN(beyond[i]) != math.IsNaN(want) {
			t.Errorf("value %d is %g, want %g", i, beyond[i], want)
		}
	}
	if gate.LimitOf("") != 0.05 || gate.LimitOf("ops/s") != 0.1 || !math.IsNaN(gate.LimitOf("B/op")) {
		t.Error("a limit is not what was given")
	}
}

// Above 1 is always worse: 80 after 100 operations a second, and 125 after 100 faults, are 1.25.
// Zeros make no ratio. Of counts, 3 after 0 is 4 after 1. Of other figures, the median of those above 0 is added if zeros are
// common: three times as many misses were 4 % more where one was 0. If they are rare, their pairs are left out: 108 after 100
// was 1.04 because of one 0.
func TestRatiosOfMetrics(t *testing.T) {
	for _, c := range []struct {
		first, second []float64
		isRate        bool
		least         float64
		want          []float64
	}{
		{[]float64{100, 50}, []float64{80, 50}, true, 0, []float64{1.25, 1}},
		{[]float64{100, 50}, []float64{125, 25}, false, 0, []float64{1.25, 0.5}},
		{[]float64{0, 1}, []float64{3, 0}, false, 0.5, []float64{4, 0.5}},
		{[]float64{0, 1}, []float64{3, 0}, false, 0, []float64{5. / 2, 2. / 3}},
		{[]float64{0.02, 0.02, 0}, []float64{0.06, 0.06, 0.06}, false, 0, []float64{0.12 / 0.08, 0.12 / 0.08, 0.12 / 0.06}},
		{[]float64{0, 0}, []float64{0, 0}, false, 0, []float64{1, 1}},
		{[]float64{0.25, 1}, []float64{1.5, 1}, false, 0.5, []float64{2, 1}},
		{slices.Repeat([]float64{100}, 10), append(slices.Repeat([]float64{108}, 9), 0), false, 0, slices.Repeat([]float64{1.08}, 9)},
		{nil, nil, false, 0, nil},
	} {
		pairs, _ := RatiosOfMetric(c.first, c.second, c.isRate, c.least)
		for i, log := range pairs.Logs() {
			if math.Abs(math.Exp(log)-c.want[i]) > 1e-12 {
				t.Errorf("%v after %v: pair %d is %g, want %g", c.second, c.first, i, math.Exp(log), c.want[i])
			}
		}
		if pairs.Len() != len(c.want) {
			t.Errorf("%d pairs, want %d", pairs.Len(), len(c.want))
		}
	}
	if !IsRate("MB/s") || IsRate("s") || IsRate("B/op") {
		t.Error("rates are what ends in /s")
	}
	if !IsRate("iter/sec") || !IsRate("ops/second") || IsRate("sec") || IsRate("second") {
		t.Error("rates are what ends in /sec or /second, too")
	}
}
