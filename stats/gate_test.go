package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
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
// Of counts that are mostly 0, 3 after 0 is 4 after 1.
func TestRatiosOfMetrics(t *testing.T) {
	for _, c := range []struct {
		first, second []float64
		isRate        bool
		least         float64
		want          []float64
	}{
		{[]float64{100, 50}, []float64{80, 50}, true, 0, []float64{1.25, 1}},
		{[]float64{100, 50}, []float64{125, 25}, false, 0, []float64{1.25, 0.5}},
		{[]float64{0, 0, 1}, []float64{3, 3, 0}, false, 0.5, []float64{4, 4, 0.5}},
		{[]float64{0, 0}, []float64{0, 0}, false, 0, []float64{1, 1}},
		{[]float64{0.25, 1}, []float64{1.5, 1}, false, 0.5, []float64{6, 1}},
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

// zeroOrAbout returns values that are 0 with this probability, and otherwise of a distribution with the given median.
func zeroOrAbout(rng *rand.Rand, n int, zeros, median, deviation float64) (all []float64) {
	for range n {
		x := median * math.Exp(deviation*rng.NormFloat64())
		if rng.Float64() < zeros {
			x = 0
		}
		all = append(all, x)
	}
	return all
}

// 108 after 100, where some values are 0, was a ratio of 1.039, within a limit of 5 %. The ratio is that of the medians.
func TestZerosLeaveTheRatioAsItIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	every := func(k int, value float64) (all []float64) {
		for i := range 40 {
			all = append(all, value*min(1, float64(i%k)))
		}
		return all
	}
	looks := LooksFor(FalseAlarms)
	for _, c := range []struct {
		name           string
		first, second  []float64
		isRate         bool
		ratio          float64
		beyond, within float64 // two limits; NaN for none
	}{
		{"in the same runs", every(4, 100), every(4, 108), false, 1.08, 1.05, 1.1},
		{"in other runs", zeroOrAbout(rng, 300, 0.2, 100, 0), zeroOrAbout(rng, 300, 0.2, 108, 0), false, 1.08, 1.05, 1.1},
		{"a rate", every(4, 108), every(4, 100), true, 1.08, 1.05, 1.1},
		{"one", every(40, 100), slices.Repeat([]float64{108}, 40), false, 1.08, 1.05, 1.1},
		{"three times as many", every(3, 0.02), every(3, 0.06), false, 3, 2.9, 3.1},
		{"all", every(1, 1), every(1, 1), false, 1, math.NaN(), 1},
		{"none, then some", every(1, 1), slices.Repeat([]float64{5}, 40), false, math.Inf(1), 100, math.NaN()},
		{"some, then none", slices.Repeat([]float64{5}, 40), every(1, 1), false, 0, math.NaN(), 1},
		{"equal, and mostly none", append(every(1, 1)[:38], 1, 1), append(every(1, 1)[:38], 1, 1), false, 1, math.NaN(), 1},
	} {
		pairs, _ := RatiosOfMetric(c.first, c.second, c.isRate, 0)
		got := pairs.Compare(0.02, 1)
		if !(math.Abs(got.Ratio.Value-c.ratio) <= 1e-9 || got.Ratio.Value == c.ratio) || got.Zeros == 0 {
			t.Errorf("%s: %+v, want %g", c.name, got, c.ratio)
		}
		if p := pairs.Beyond(looks, c.beyond); !math.IsNaN(c.beyond) && p > FalseAlarms {
			t.Errorf("%s: beyond %g with P = %g", c.name, c.beyond, p)
		}
		if _, hi := pairs.Bounds(looks, tail); hi > c.within+1e-9 {
			t.Errorf("%s: at most %g, want %g", c.name, hi, c.within)
		}
		if p := pairs.Beyond(looks, c.within); !math.IsNaN(c.within) && p < FalseAlarms {
			t.Errorf("%s: beyond %g with P = %g", c.name, c.within, p)
		}
	}
}

// Who is the first of two subjects does not matter, also where differences are ties but for the rounding of a ratio: 11 after 10 is as
// far from equal as 10 after 11.
func TestTiesBesideZerosHaveNoSide(t *testing.T) {
	looks := LooksFor(FalseAlarms)
	for _, c := range [][2]float64{{10, 11}, {12, 13}, {49, 50}, {0.1, 0.3}} {
		first := slices.Concat([]float64{0}, slices.Repeat(c[:1], 26), slices.Repeat(c[1:], 13))
		second := slices.Concat([]float64{0}, slices.Repeat(c[1:], 26), slices.Repeat(c[:1], 13))
		there, _ := RatiosOfMetric(first, second, false, 0)
		back, _ := RatiosOfMetric(second, first, false, 0)
		if above, below := there.Beyond(looks, 1), back.Below(looks, 1); above != below {
			t.Errorf("%v: P is %g, and %g after a swap", c, above, below)
		}
		if p, q := there.Compare(0, 1).P, back.Compare(0, 1).P; p != q {
			t.Errorf("%v: the permutation test gives %g, and %g after a swap", c, p, q)
		}
	}
}

// Where both are mostly 0, a hundred times as many passed as the same, and as within any limit. Two sums of 0 tell nothing of the ratio.
func TestMostlyZerosLeaveNoRatio(t *testing.T) {
	looks := LooksFor(FalseAlarms)
	rng := rand.New(rand.NewPCG(4, 13))
	for _, zeros := range []float64{0.8, 0.9} {
		for range 10 {
			pairs, _ := RatiosOfMetric(zeroOrAbout(rng, 100, zeros, 1, 0.1), zeroOrAbout(rng, 100, zeros, 100, 0.1), false, 0)
			c := pairs.Compare(0.04, 1)
			if _, hi := pairs.Bounds(looks, tail); !math.IsNaN(c.Ratio.Value) || c.Ratio.Lo != 0 || !math.IsInf(c.Ratio.Hi, 1) || c.Outcome != Undecided || !math.IsInf(hi, 1) {
				t.Errorf("%g of the values are 0: %+v, at most %g", zeros, c, hi)
			}
		}
	}
	pairs, _ := RatiosOfMetric(make([]float64, 40), append(make([]float64, 38), 1, 1), false, 0)
	if c := pairs.Compare(0.04, 1); !math.IsNaN(c.Ratio.Value) || c.Outcome != Undecided {
		t.Errorf("hardly any after none: %+v", c)
	}
}

// 10,000 pairs with a 0 took a gigabyte. The ratio hardly depends on a choice of their sums, and its bounds allow for the choice.
func TestZerosInManyPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 12))
	pairs, _ := RatiosOfMetric(zeroOrAbout(rng, 5000, 0.2, 100, 0.5), zeroOrAbout(rng, 5000, 0.2, 108, 0.5), false, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, j := pairs.Compare(0, 1), pairs.Joint(2)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 { // all sums of two are 100 MB
		t.Errorf("%d bytes", used)
	}
	if !c.Ratio.Covers(1.08) || c.Ratio.Hi-c.Ratio.Lo > 0.1 || j.Lo > c.Ratio.Lo || j.Hi < c.Ratio.Hi {
		t.Errorf("%+v, %+v", c.Ratio, j)
	}
	// Of a million pairs, the choice of a hundred thousand sums alone moves the rank by 1.96 standard deviations of a count of heads.
	if rank := lowestSum(1e6, tail); rank > 50_000-310 || rank < 50_000-340 {
		t.Errorf("the rank is %d", rank)
	}
	for _, chance := range []float64{tail, 1e-4} {
		all := float64(mostForAllSums+1) * float64(mostForAllSums+2) / 2
		if exact, chosen := float64(lowestSignedRank(mostForAllSums+1, chance))/all, float64(lowestSum(mostForAllSums+1, chance))/maxPairs; chosen > exact || chosen < exact-0.01 {
			t.Errorf("a chance of %g: %g of the sums, and %g of all", chance, chosen, exact)
		}
	}
}

// Equal subjects, and one that is worse by just the limit, raise an alarm at any look in at most one of 100 cases, whatever
// the share of zeros and the scatter: in 22 of 1,000 or more by chance in one of 1,000. 95 % of the intervals hold the ratio: 74 of
// 1,000 or more do not by chance in one of 1,000.
func TestZerosRaiseNoFalseAlarms(t *testing.T) {
	looks := LooksFor(FalseAlarms)
	for i, c := range []struct{ zeros, deviation, ratio, limit float64 }{
		{0.1, 0.05, 1, 1}, {0.3, 2, 1, 1}, {0.6, 0.5, 1, 1}, {0.5, 0, 1, 1}, {0.03, 0.3, 1.05, 1.05}, {0.25, 0.1, 1.05, 1.05}, {0.3, 2, 1, 1.05},
	} {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		alarms, misses := 0, 0
		for range 1000 {
			const n = 22
			pairs, _ := RatiosOfMetric(zeroOrAbout(rng, n, c.zeros, 100, c.deviation), zeroOrAbout(rng, n, c.zeros, 100*c.ratio, c.deviation), false, 0)
			if pairs.Beyond(looks, c.limit) <= FalseAlarms {
				alarms++
			}
			if !pairs.Compare(0, 1).Ratio.Covers(c.ratio) {
				misses++
			}
		}
		if alarms > 21 || misses > 73 {
			t.Errorf("%+v: %d false alarms, %d intervals without the ratio", c, alarms, misses)
		}
	}
}
