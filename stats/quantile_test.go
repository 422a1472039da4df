package stats_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/stats"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// The rank is (n-1)p, counted from 0, so every expected value can be read off the samples.
func TestQuantile(t *testing.T) {
	oneToTen := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, test := range []struct {
		sorted  []float64
		p, want float64
	}{
		{oneToTen, 0.25, 3.25},
		{oneToTen, 0.5, 5.5},
		{oneToTen, 0, 1},
		{oneToTen, 1, 10},
		{[]float64{3}, 0.7, 3},
		{[]float64{1, 2, 4}, 0.75, 3},
		{nil, 0.5, math.NaN()},
		{oneToTen, -0.1, math.NaN()},
		{oneToTen, 1.1, math.NaN()},
		{oneToTen, math.NaN(), math.NaN()},
	} {
		got := stats.Quantile(test.sorted, test.p)
		if got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("the %v-quantile of %v is %v, want %v", test.p, test.sorted, got, test.want)
		}
	}
}

func TestQuantileLiesAmongTheSamplesAndRisesWithP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 30).Draw(t, "samples")
		slices.Sort(samples)
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := rapid.Float64Range(p, 1).Draw(t, "q")
		atP, atQ := stats.Quantile(samples, p), stats.Quantile(samples, q)
		slack := 1e-15 * math.Max(math.Abs(atP), math.Abs(atQ))
		if atP > atQ+slack || atP < samples[0] || atQ > samples[len(samples)-1]+slack {
			t.Fatalf("%v at %v, %v at %v", atP, p, atQ, q)
		}
	})
}

// Interpolation between equal samples once gave a value that was off by one unit in the last place.
func TestQuantileOfEqualSamplesIsExact(t *testing.T) {
	for _, x := range []float64{0.1, 25.1, 1.0 / 3, 209.40287165270854} {
		for _, p := range []float64{0.05, 0.1587, 0.3, 0.95} {
			if got := stats.Quantile(repeat(x, 2305), p); got != x {
				t.Errorf("the %v-quantile of nothing but %v is %v", p, x, got)
			}
		}
	}
}

// The samples sorted are 1 1 2 2 4 6 9; their deviations from 2 sorted are 0 0 1 1 2 4 7.
func TestMedianAndMAD(t *testing.T) {
	samples := []float64{9, 1, 2, 2, 6, 1, 4}
	before := slices.Clone(samples)
	if got := stats.Median(samples); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
	if got := stats.MAD(samples); got != 1 {
		t.Errorf("MAD %v, want 1", got)
	}
	if !slices.Equal(samples, before) {
		t.Errorf("the samples were changed to %v", samples)
	}
	if !math.IsNaN(stats.Median(nil)) || !math.IsNaN(stats.MAD(nil)) {
		t.Error("the median of nothing is a number")
	}
}

// The ranks equal those of an exact enumeration of the binomial distribution in whole numbers: the
// largest lo for which the probability that fewer than lo samples lie below the quantile is at most
// 1/40, and likewise hi.
func TestQuantileIntervalHasTheExactRanks(t *testing.T) {
	for _, percent := range []int64{5, 10, 25, 50, 75, 90, 99} {
		for n := int64(1); n <= 120; n++ {
			p := float64(percent) / 100
			e, achieved, err := stats.QuantileInterval(oneTo(int(n)), p, "ns")
			lo, hi, want := enumeratedRanks(n, percent)
			if lo == 0 || hi == n+1 {
				if err == nil || !math.IsNaN(e.Lo) || !math.IsNaN(e.Hi) || !math.IsNaN(achieved) {
					t.Fatalf("n %d, p %v: [%v, %v], %v; want a refusal", n, p, e.Lo, e.Hi, err)
				}
				continue
			}
			if err != nil || e.Lo != float64(lo) || e.Hi != float64(hi) {
				t.Fatalf("n %d, p %v: [%v, %v], %v; want [%d, %d]", n, p, e.Lo, e.Hi, err, lo, hi)
			}
			near(t, fmt.Sprintf("confidence at n %d, p %v", n, p), achieved, want, 1e-12)
			if achieved < stats.Confidence || e.Value < e.Lo || e.Value > e.Hi {
				t.Errorf("n %d, p %v: %v in [%v, %v] at %v", n, p, e.Value, e.Lo, e.Hi, achieved)
			}
		}
	}
}

// enumeratedRanks counts probabilities in units of 100^-n, so that all are whole numbers.
func enumeratedRanks(n, percent int64) (lo, hi int64, achieved float64) {
	all := power(100, n)
	upTo := new(big.Int) // the probability that fewer than k samples lie below the quantile
	var belowLo, belowHi *big.Int
	atMostTail := func(chance *big.Int) bool { return new(big.Int).Mul(chance, big.NewInt(40)).Cmp(all) <= 0 }
	for k := range n + 1 {
		if atMostTail(upTo) {
			lo, belowLo = k, new(big.Int).Set(upTo)
		}
		term := new(big.Int).Binomial(n, k)
		upTo.Add(upTo, term.Mul(term, power(percent, k)).Mul(term, power(100-percent, n-k)))
		if belowHi == nil && atMostTail(new(big.Int).Sub(all, upTo)) {
			hi, belowHi = k+1, new(big.Int).Set(upTo)
		}
	}
	achieved, _ = new(big.Rat).SetFrac(belowHi.Sub(belowHi, belowLo), all).Float64()
	return lo, hi, achieved
}

func power(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}

// Five samples bound the median with a confidence of 1 - 2/32 = 93.75 %, six with 96.875 %.
func TestQuantileIntervalSaysHowManySamplesWouldDo(t *testing.T) {
	for p, need := range map[float64]int{0.5: 6, 0.9: 36, 0.1: 36, 0.99: 368} {
		var few *stats.TooFewError
		e, _, err := stats.QuantileInterval(oneTo(need-1), p, "ns")
		if !errors.As(err, &few) || few.Need != need || few.Have != need-1 {
			t.Errorf("p %v: %v, want %d samples needed", p, err, need)
		}
		if _, _, err := stats.QuantileInterval(oneTo(1), p, "ns"); !errors.As(err, &few) || few.Need != need {
			t.Errorf("p %v: one sample: %v, want %d samples needed", p, err, need)
		}
		if want := stats.Quantile(oneTo(need-1), p); e.Value != want || e.N != need-1 {
			t.Errorf("p %v: the value is %v of %d samples, want %v", p, e.Value, e.N, want)
		}
		if _, _, err := stats.QuantileInterval(oneTo(need), p, "ns"); err != nil {
			t.Errorf("p %v: %v", p, err)
		}
	}
	if _, _, err := stats.QuantileInterval(nil, 0.5, "ns"); err == nil {
		t.Error("no samples have an interval")
	}
}

// For no n and p do the ranks lie outside the samples, however the powers are rounded.
func TestQuantileIntervalAtTheEdgeOfEnough(t *testing.T) {
	for n := 2; n < 400; n++ {
		edge := math.Pow(0.025, 1/float64(n)) // p^n is 0.025 except for rounding
		for _, p := range []float64{edge, 1 - edge, math.Nextafter(edge, 0), math.Nextafter(edge, 1)} {
			var few *stats.TooFewError
			if _, _, err := stats.QuantileInterval(oneTo(n), p, "ns"); err != nil && !(errors.As(err, &few) && few.Need > n) {
				t.Fatalf("n %d, p %v: %v", n, p, err)
			}
		}
	}
}

// Nine samples bound the median by the second and the eighth. Fewer than two lie below it with
// probability (1 + 9) / 2^9, and fewer than three with (1 + 9 + 36) / 2^9, which is more than 1/40.
func TestMedianInterval(t *testing.T) {
	nine := []float64{4, 9, 1, 7, 2, 8, 5, 3, 6}
	before := slices.Clone(nine)
	want := stats.Estimate{Value: 5, Lo: 2, Hi: 8, Unit: "ns", Statistic: "median", N: 9}
	if e := stats.MedianInterval(nine, "ns"); e != want || !slices.Equal(nine, before) {
		t.Errorf("%+v of %v, want %+v of %v", e, nine, want, before)
	}
	for name, c := range map[string]struct {
		samples []float64
		value   float64
	}{
		"too few":    {[]float64{3, 1, 5, 4, 2}, 3},
		"one":        {[]float64{7}, 7},
		"none":       {nil, math.NaN()},
		"not finite": {[]float64{math.Inf(1), 1, 2, 3, 4, 5, 6}, 4},
	} {
		e := stats.MedianInterval(c.samples, "ticks")
		if e.Value != c.value && !(math.IsNaN(c.value) && math.IsNaN(e.Value)) || !math.IsNaN(e.Lo) || !math.IsNaN(e.Hi) {
			t.Errorf("%s: %+v, want %v without bounds", name, e, c.value)
		}
		if e.Unit != "ticks" || e.Statistic != "median" || e.N != len(c.samples) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestQuantileIntervalRefuses(t *testing.T) {
	for _, p := range []float64{0, 1, -1, 2, math.NaN()} {
		if _, _, err := stats.QuantileInterval(oneTo(100), p, "ns"); err == nil {
			t.Errorf("quantile %v has an interval", p)
		}
	}
	if _, _, err := stats.QuantileInterval(append(oneTo(100), math.NaN()), 0.5, "ns"); err == nil {
		t.Error("NaN was accepted")
	}
}

func TestQuantileIntervalNamesItself(t *testing.T) {
	for p, want := range map[float64]string{0.5: "median", 0.95: "p95", 0.999: "p99.9", 0.07: "p7"} {
		e, _, _ := stats.QuantileInterval(oneTo(9000), p, "ticks")
		if e.Statistic != want || e.Unit != "ticks" {
			t.Errorf("%v is called %q in %q", p, e.Statistic, e.Unit)
		}
	}
}

func TestQuantileIntervalCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(95, 95))
	normal := distuv.Normal{Mu: 10, Sigma: 3, Src: random}
	logNormal := distuv.LogNormal{Sigma: 1.5, Src: random}
	exponential := distuv.Exponential{Rate: 0.2, Src: random}
	for _, d := range []struct {
		name   string
		sample func() float64
		truth  func(p float64) float64
	}{
		{"normal", normal.Rand, normal.Quantile},
		{"log-normal", logNormal.Rand, logNormal.Quantile},
		// An exponential variable rounded down is geometric, and its quantile is rounded down too.
		{"whole ticks", func() float64 { return math.Floor(exponential.Rand()) }, func(p float64) float64 { return math.Floor(exponential.Quantile(p)) }},
	} {
		for _, stratum := range []struct {
			n int
			p float64
		}{{6, 0.5}, {21, 0.5}, {200, 0.5}, {40, 0.1}, {100, 0.95}, {400, 0.95}} {
			covered := coverage(1000, func() bool {
				e, _, err := stats.QuantileInterval(drawSorted(stratum.n, d.sample), stratum.p, "ns")
				return err == nil && e.Covers(d.truth(stratum.p))
			})
			if covered < 940 {
				t.Errorf("%s, n %d, p %v: %d of 1000 intervals cover the quantile", d.name, stratum.n, stratum.p, covered)
			}
		}
	}
}

// coverage counts in how many trials an interval covers the truth.
func coverage(trials int, covers func() bool) int {
	count := 0
	for range trials {
		if covers() {
			count++
		}
	}
	return count
}

func drawSorted(n int, sample func() float64) []float64 {
	samples := make([]float64, n)
	for i := range samples {
		samples[i] = sample()
	}
	slices.Sort(samples)
	return samples
}

// oneTo returns 1, 2 ... n, so that each sample equals its rank.
func oneTo(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(i + 1)
	}
	return xs
}

func TestThinned(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for limit, want := range map[int][]int{10: all, 11: all, 9: {0, 2, 4, 6, 8}, 5: {0, 2, 4, 6, 8}, 3: {0, 4, 8}, 1: {0}} {
		if got := stats.Thinned(all, limit); !slices.Equal(got, want) {
			t.Errorf("at most %d: %v, want %v", limit, got, want)
		}
	}
	if got := stats.Thinned([]int(nil), 4); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// The samples may be in any order, and stay in it.
func TestQuantileOf(t *testing.T) {
	samples := []float64{4, 1, 3, 2, 5}
	if q := stats.QuantileOf(samples, 0.25); q != 2 || !slices.Equal(samples, []float64{4, 1, 3, 2, 5}) {
		t.Errorf("%v of %v", q, samples)
	}
}
