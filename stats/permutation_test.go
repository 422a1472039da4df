package stats

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// tied returns samples with few different values, as a coarse clock gives.
func tied(rng *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(rng.IntN(4) - 1)
	}
	return values
}

// midrank returns a value's rank among all values, where ties share their mean rank.
func midrank(all []float64, v float64) float64 {
	below, same := 0, 0
	for _, x := range all {
		if x < v {
			below++
		} else if x == v {
			same++
		}
	}
	return float64(below) + float64(same+1)/2
}

// The P value equals the one from a list of all ways to assign the values to the sets.
func TestPermutationTestByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b := tied(rng, 1+rng.IntN(6)), tied(rng, 1+rng.IntN(6))
		all := append(append([]float64{}, a...), b...)
		mean := float64(len(a)) * float64(len(all)+1) / 2
		deviation := func(chosen uint) float64 {
			sum := 0.0
			for i, v := range all {
				if chosen>>i&1 == 1 {
					sum += midrank(all, v)
				}
			}
			return math.Abs(sum - mean)
		}
		far, ways, extreme := deviation(1<<len(a)-1), 0, 0
		for chosen := range uint(1) << len(all) {
			if bits.OnesCount(chosen) != len(a) {
				continue
			}
			ways++
			if deviation(chosen) >= far-1e-9 {
				extreme++
			}
		}
		got, err := PermutationTest(a, b, 1)
		if want := float64(extreme) / float64(ways); err != nil || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v against %v: P = %v, %v; %d of %d ways are as extreme", a, b, got, err, extreme, ways)
		}
	}
}

// The P value of paired differences equals the one from a list of all choices of signs.
func TestPairedPermutationTestByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		d := tied(rng, 1+rng.IntN(10))
		sizes := make([]float64, len(d))
		for i := range d {
			sizes[i] = math.Abs(d[i])
		}
		statistic := func(flipped uint) float64 {
			sum := 0.0
			for i, v := range d {
				term := 0.0
				if v != 0 {
					term = math.Copysign(midrank(sizes, sizes[i]), v)
				}
				if flipped>>i&1 == 1 {
					term = -term
				}
				sum += term
			}
			return math.Abs(sum)
		}
		extreme := 0
		for flipped := range uint(1) << len(d) {
			if statistic(flipped) >= statistic(0)-1e-9 {
				extreme++
			}
		}
		got, err := PairedPermutationTest(d, 1)
		if want := float64(extreme) / math.Exp2(float64(len(d))); err != nil || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: P = %v, %v; want %v", d, got, err, want)
		}
	}
}

// If permutations are not counted, the P value is about that of the normal distribution.
func TestDrawnPermutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a, b := make([]float64, 200), make([]float64, 300)
	for i := range a {
		a[i] = math.Round(20*rng.NormFloat64()) + 3
	}
	for i := range b {
		b[i] = math.Round(20 * rng.NormFloat64())
	}
	// With this many values the tie-corrected normal approximation is accurate.
	all := append(append([]float64{}, a...), b...)
	n, m, total := float64(len(a)), float64(len(b)), float64(len(all))
	sum, square := 0.0, 0.0
	for i, v := range all {
		r := midrank(all, v)
		square += (r - (total+1)/2) * (r - (total+1)/2)
		if i < len(a) {
			sum += r
		}
	}
	z := math.Abs(sum-n*(total+1)/2) / math.Sqrt(n*m/total/(total-1)*square)
	want := math.Erfc(z / math.Sqrt2)
	got, err := PermutationTest(a, b, 7)
	if limit := 5 * math.Sqrt(want*(1-want)/drawnPermutations); err != nil || math.Abs(got-want) > limit {
		t.Errorf("P = %v, %v; want %v within %v", got, err, want, limit)
	}
	if again, _ := PermutationTest(a, b, 7); again != got {
		t.Errorf("%v and then %v from one seed", got, again)
	}
	differences := make([]float64, 1000)
	for i := range differences {
		differences[i] = rng.NormFloat64() + 1
	}
	if p, err := PairedPermutationTest(differences, 1); err != nil || p != 1.0/(drawnPermutations+1) {
		t.Errorf("P = %v, %v of differences that are plain", p, err)
	}
}

// Beyond exact counting the P value of two large sets is that of the normal distribution, which has no least value: with drawn
// permutations no P was below 1 in 10,000. The expected values are from SciPy 1.10.1: scipy.stats.mannwhitneyu(a, b,
// alternative='two-sided', method='asymptotic').
func TestPermutationTestOfLargeSets(t *testing.T) {
	values := func(n int, of func(int) float64) (all []float64) {
		for i := range n {
			all = append(all, of(i))
		}
		return all
	}
	sevenths := func(i int) float64 { return float64(i / 7) }
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		"no ties": {values(60, func(i int) float64 { return float64(3 * i) }), values(80, func(i int) float64 { return float64(2*i) + 40.5 }), 0.0008861068632417923},
		"ties":    {values(60, sevenths), values(60, func(i int) float64 { return sevenths(i) + 3 }), 5.086713915536114e-08},
		"far":     {values(90, sevenths), values(90, func(i int) float64 { return sevenths(i) + 9 }), 5.148748942326702e-26},
		"strays":  {values(60, func(i int) float64 { return math.Max(0, float64(i-50)) }), values(50, func(i int) float64 { return float64(i * i % 11) }), 1.3768141761074802e-12},
		"same":    {values(60, sevenths), values(60, sevenths), 1},
		"all one": {make([]float64, 60), make([]float64, 60), 1},
	} {
		if p, err := PermutationTest(c.a, c.b, 1); err != nil || math.Abs(p-c.want) > 1e-9*c.want {
			t.Errorf("%s: P = %v, want %v: %v", name, p, c.want, err)
		}
	}
	// Ten of 50 values differ from all others: 2 of the ways to choose ten of 100 (scipy.stats.hypergeom) are as extreme. The
	// distance between two sums is then half a set's size, and a correction of half a rank would give a P of 0.0009.
	few := append(make([]float64, 40), slices.Repeat([]float64{1}, 10)...)
	if p, err := PermutationTest(make([]float64, 50), few, 1); err != nil || p < 0.0011868393451716574 || p > 0.003 {
		t.Errorf("ten that differ: P = %v: %v", p, err)
	}
}

// Of pairs of equal large sets, whatever their ties, no more than 1 in 1,000 have a P of 0.001 or less.
func TestFalseAlarmsOfLargeSets(t *testing.T) {
	const n, cases, chance = 45, 6000, 1e-3 // 43 is the largest size that is counted
	for name, draw := range map[string]func(*rand.Rand) float64{
		"no ties":       (*rand.Rand).NormFloat64,
		"coarse":        func(rng *rand.Rand) float64 { return float64(rng.IntN(4)) },
		"two values":    func(rng *rand.Rand) float64 { return float64(rng.IntN(2)) },
		"one in ten":    func(rng *rand.Rand) float64 { return float64(rng.IntN(10) / 9) },
		"some scatter":  func(rng *rand.Rand) float64 { return math.Max(0, float64(rng.IntN(1200)-1000)) },
		"a few strays":  func(rng *rand.Rand) float64 { return 100 + math.Max(0, math.Round(rng.NormFloat64())) },
		"long tail":     func(rng *rand.Rand) float64 { return math.Exp(3 * rng.NormFloat64()) },
		"mostly zeroes": func(rng *rand.Rand) float64 { return math.Max(0, float64(rng.IntN(60)-57)) },
	} {
		rng := rand.New(rand.NewPCG(11, 12))
		alarms := 0
		for range cases {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i], b[i] = draw(rng), draw(rng)
			}
			if p, err := PermutationTest(a, b, 1); err != nil {
				t.Fatal(err)
			} else if p <= chance {
				alarms++
			}
		}
		if t.Logf("%s: %d of %d", name, alarms, cases); alarms > chance*cases {
			t.Errorf("%s: %d of %d pairs of equal sets have a P of at most %v", name, alarms, cases, chance)
		}
	}
}

// With a small set beside a large one permutations are still drawn, and no P is below 1 in 10,000.
func TestDrawnPermutationsOfASmallSet(t *testing.T) {
	small, large := slices.Repeat([]float64{1}, 10), make([]float64, 2000)
	if p, err := PermutationTest(small, large, 1); err != nil || p != 1.0/(drawnPermutations+1) {
		t.Errorf("P = %v: %v", p, err)
	}
}

// The only two values above the others are among the 40 of one set. Of all ways, 780 in 145,530 put both there: 0.0054. By the
// normal distribution it was 0.0003.
func TestPermutationsOfUnbalancedSets(t *testing.T) {
	small, large := make([]float64, 40), make([]float64, 500)
	small[3], small[7] = 1, 1
	if p, err := PermutationTest(small, large, 1); err != nil || p < 0.004 || p > 0.007 {
		t.Errorf("P = %v: %v", p, err)
	}
}

func TestPermutationTestRefuses(t *testing.T) {
	var few *TooFewError
	if p, err := PermutationTest(nil, []float64{1}, 1); !errors.As(err, &few) || !math.IsNaN(p) {
		t.Errorf("no samples: %v, %v", p, err)
	}
	if p, err := PairedPermutationTest(nil, 1); !errors.As(err, &few) || !math.IsNaN(p) {
		t.Errorf("no pairs: %v, %v", p, err)
	}
	if p, err := PermutationTest([]float64{math.NaN()}, []float64{1}, 1); err == nil || !math.IsNaN(p) {
		t.Errorf("NaN: %v, %v", p, err)
	}
	if p, err := PairedPermutationTest([]float64{1, math.NaN()}, 1); err == nil || !math.IsNaN(p) {
		t.Errorf("NaN: %v, %v", p, err)
	}
	if p, err := PairedPermutationTest([]float64{0, 0, 0}, 1); err != nil || p != 1 {
		t.Errorf("no difference anywhere: P = %v, %v", p, err)
	}
}

// Ties share their mean rank, infinite values included; -0 and 0 are a tie. Expected by hand.
func TestTwiceMidranks(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   []int
	}{
		{nil, []int{}},
		{[]float64{3, 1, 2}, []int{6, 2, 4}},
		{[]float64{1, inf, inf}, []int{2, 5, 5}},
		{[]float64{-inf, 7, inf, 7}, []int{2, 5, 8, 5}},
		{[]float64{0, math.Copysign(0, -1), 5e-324}, []int{3, 3, 6}},
	} {
		if got, err := TwiceMidranks(c.values); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v: %v", c.values, got, c.want, err)
		}
	}
	if _, err := TwiceMidranks([]float64{1, math.NaN()}); err == nil {
		t.Error("NaN has a rank")
	}
}
