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

// If permutations are drawn instead of counted, the P value is the same except for chance.
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
