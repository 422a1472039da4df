package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The expected values were counted by hand over all 256 choices of signs: the share in which the ranks
// of positive sign have a sum of at least the observed one.
func TestSignedRankTail(t *testing.T) {
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		samples []float64
		centre  float64
		want    float64
	}{
		{up, 0, 1. / 256},
		{up, 8.5, 1},
		{[]float64{-1, 2, 3, 4, 5, 6, 7, 8}, 0, 2. / 256},  // sums 35 and 36
		{[]float64{1, -2, 3, 4, 5, 6, 7, 8}, 0, 3. / 256},  // sums 34, 35 and 36
		{[]float64{-1, -2, 3, 4, 5, 6, 7, 8}, 0, 5. / 256}, // also the sum 33, which is 36-3 and 36-1-2
		{[]float64{1, -1}, 0, 3. / 4},                      // ties share their rank
		{nil, 0, 1},
	} {
		if got := SignedRankTail(c.samples, c.centre); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v about %v: %v, want %v", c.samples, c.centre, got, c.want)
		}
	}
}

// More samples than are counted exactly, with ties and with samples at the centre. The expected values were counted over all
// choices of signs by a program in Python, with whole numbers. The normal distribution without its steps gave 0.00078 for the
// first, 0.0289 for the second, and 0.5 for the last.
func TestSignedRankTailOfTies(t *testing.T) {
	type group struct {
		value float64
		n     int
	}
	for _, c := range []struct {
		groups []group
		want   float64
		most   float64 // the greatest value that is not much too cautious
	}{
		{[]group{{1, 150}, {-1, 100}}, 0.0009416504675380785, 0.00099},
		{[]group{{0, 290}, {1, 8}, {-1, 2}}, 0.0546875, 0.0546875},
		{[]group{{0, 1000}, {1, 150}, {-1, 100}}, 0.0009416504675380785, 0.00099},
		{[]group{{1, 70}, {-1, 50}, {2, 72}, {-2, 48}}, 0.0037070151215709123, 0.0043},
		{[]group{{1, 60}, {-1, 40}, {2, 55}, {-2, 45}, {3, 40}, {-3, 20}}, 0.001380417346220681, 0.00155},
		{[]group{{1, 150}, {-1, 99}, {2, 1}}, 0.0005186543679173824, 0.00055},
		{[]group{{0, 250}}, 1, 1},
	} {
		var samples []float64
		for _, g := range c.groups {
			samples = append(samples, slices.Repeat([]float64{g.value}, g.n)...)
		}
		if got := SignedRankTail(samples, 0); got < c.want*(1-1e-9) || got > c.most*(1+1e-9) {
			t.Errorf("%v: %v, want %v to %v", c.groups, got, c.want, c.most)
		}
	}
}

// The bounds are where the tail probability reaches the given chance, for few samples and for many.
func TestSignedRankBounds(t *testing.T) {
	if lo, hi := SignedRankBounds([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 1./256); lo != 1 || hi != 8 {
		t.Errorf("%v to %v, want the first and the last", lo, hi)
	}
	if lo, hi := SignedRankBounds([]float64{1, 2, 3, 4, 5, 6, 7}, 1./256); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("%v to %v of too few samples", lo, hi)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{15, 60, mostRanked + 1} {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = rng.NormFloat64()
		}
		lo, hi := SignedRankBounds(samples, 0.001)
		for name, above := range map[string]float64{"lower": SignedRankTail(samples, lo-1e-9), "upper": SignedRankTail(negated(samples), -hi-1e-9)} {
			if above > 0.001 || above < 0.0005 {
				t.Errorf("%d samples, just beyond the %s bound: %v, want a little less than 0.001", n, name, above)
			}
		}
	}
}

// Of sequences without a difference that are looked at repeatedly, no more give a wrong result than the
// chance allows. With a fixed test at each look, more do.
func TestLooksHoldTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const chance, sequences, longest = 0.05, 4000, 60
	looks := LooksFor(chance)
	if looks.First < 8 || looks.First > 12 {
		t.Fatalf("the first look is at %d samples", looks.First)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	wrong, bounded, naive := 0, 0, 0
	for range sequences {
		samples := make([]float64, longest)
		for i := range samples { // heavy tails
			samples[i] = rng.NormFloat64() / math.Max(0.1, rng.Float64())
		}
		if looks.Above(samples, 0) <= chance {
			wrong++
		}
		if looks.Lowest(samples, chance) > 0 {
			bounded++
		}
		if slices.ContainsFunc(looks.upTo(longest), func(n int) bool { return SignedRankTail(samples[:n], 0) <= chance }) {
			naive++
		}
	}
	t.Logf("%d of %d are wrong, and %d if each look has the whole chance", wrong, sequences, naive)
	if most := chance*sequences + 3*math.Sqrt(chance*sequences); float64(wrong) > most || wrong < 20 {
		t.Errorf("%d of %d are wrong, want at most %.0f, and no fewer than 20", wrong, sequences, most)
	}
	if wrong != bounded {
		t.Errorf("%d by their P value, %d by their bound: both say the same", wrong, bounded)
	}
	if naive < 2*wrong {
		t.Errorf("%d are wrong without sharing the chance: nothing is to be mended", naive)
	}
}

// There are looks at the given numbers of samples and at the end.
func TestLooks(t *testing.T) {
	l := Looks{First: 10}
	if got := l.upTo(25); !slices.Equal(got, []int{10, 14, 19, 25}) {
		t.Errorf("looks %v", got)
	}
	for n, want := range map[int]bool{9: false, 10: true, 11: false, 14: true, 25: false, 27: true} {
		if l.Due(n) != want {
			t.Errorf("due at %d: %v", n, !want)
		}
	}
	for n, want := range map[int]int{0: 0, 9: 0, 10: 10, 13: 10, 14: 14, 25: 19} {
		if got := l.Last(n); got != want {
			t.Errorf("the last look at %d samples is at %d, want %d", n, got, want)
		}
	}
	if got := l.upTo(9); !slices.Equal(got, []int{9}) {
		t.Errorf("looks %v of a sequence that ended early", got)
	}
	if got := l.upTo(0); got != nil {
		t.Errorf("looks %v of nothing", got)
	}
	apart := []float64{3, 4, 5, 3, 4, 5, 3, 4, 5, 3}
	if lo, hi := l.Lowest(apart, 0.01), l.Highest(apart, 0.01); lo != 3 || hi != 5 {
		t.Errorf("%v to %v", lo, hi)
	}
	if p := l.Above(apart, 0); math.Abs(p-1/(0.3*1024)) > 1e-9 {
		t.Errorf("P = %v, want that of ten of ten divided by the first share", p)
	}
}

// Each look has more samples than the one before it, whatever the number at the first one. With none, looks never ended.
func TestLooksRise(t *testing.T) {
	for _, first := range []int{-1, 0, 1, 2, 3, 4, 10} {
		l := Looks{First: first}
		for j := range 20 {
			if l.at(j+1) <= l.at(j) || l.at(0) != max(3, first) {
				t.Fatalf("first %d: looks %d and %d are at %d and %d", first, j, j+1, l.at(j), l.at(j+1))
			}
		}
	}
}

// The looks use all of the chance, and no more.
func TestSharesOfLooks(t *testing.T) {
	sum := 0.
	for j := range 10_000 {
		if shareOfLook(j) <= 0 {
			t.Fatalf("look %d has no share", j)
		}
		sum += shareOfLook(j)
	}
	if sum > 1 || sum < 0.9999 {
		t.Errorf("the shares add up to %v", sum)
	}
}

// The expected values are those of Holm's own example and of R's p.adjust(c(0.01, 0.02, 0.03, 0.04), "BH").
func TestAdjusted(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	if got := Holm([]float64{0.04, 0.01, 0.03, 0.005}); !slices.EqualFunc(got, []float64{0.06, 0.03, 0.06, 0.02}, near) {
		t.Errorf("Holm: %v", got)
	}
	if got := FalseDiscoveryRates([]float64{0.01, 0.02, 0.03, 0.04}); !slices.EqualFunc(got, []float64{0.04, 0.04, 0.04, 0.04}, near) {
		t.Errorf("false discovery rates: %v", got)
	}
	if got := FalseDiscoveryRates([]float64{0.9, 0.001}); !slices.EqualFunc(got, []float64{0.9, 0.002}, near) {
		t.Errorf("false discovery rates: %v", got)
	}
	// The fifteen tests of their paper (1995, section 4), of which at a rate of 5 % the four least are discoveries.
	paper := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	for i, rate := range FalseDiscoveryRates(paper) {
		if (rate <= 0.05) != (i < 4) {
			t.Errorf("test %d of the paper: %v", i, rate)
		}
	}
}

// One large value among smaller ones makes no sequence greater: 19 of 20 repetitions that allocate less were called beyond
// the limit because of one stray.
func TestAboveUnpairedByRanks(t *testing.T) {
	first, second := make([]float64, 20), make([]float64, 20)
	for i := range first {
		first[i], second[i] = 1000, 990
	}
	second[11] = 1575
	looks := LooksFor(0.01)
	if p := looks.AboveUnpaired(first, second); p != 1 {
		t.Errorf("greater with P = %v", p)
	}
	if p := looks.AboveUnpaired(second, first); !(p < 1e-4) {
		t.Errorf("less with P = %v only", p)
	}
}

// 95 of 100 sequences show a difference that Visible names, with normal and with heavy-tailed noise.
// Fewer show it with half as many samples, so Visible is not far too cautious.
func TestVisibleIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const chance, sequences, scatter = 0.01 / 40, 400, 0.04
	looks := LooksFor(chance)
	reach := looks.Reach(chance, 1000)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, difference := range []float64{0.02, 0.03, 0.05} {
		n, ok := reach.Needed(difference / scatter)
		seen, early := 0, 0
		for range sequences {
			samples := make([]float64, n)
			for i := range samples {
				samples[i] = difference + scatter*rng.NormFloat64()
			}
			if looks.Above(samples, 0) <= chance {
				seen++
			}
			if looks.Above(samples[:n/2], 0) <= chance {
				early++
			}
		}
		t.Logf("%v needs %d: seen in %d of %d, with half of them in %d", difference, n, seen, sequences, early)
		if !ok || seen < 370 || early > 300 {
			t.Errorf("%v: seen in %d of %d with %d samples, in %d with half of them", difference, seen, sequences, n, early)
		}
	}
	if got, ok := reach.Needed(1e-6); ok {
		t.Errorf("%d samples show a millionth", got)
	}
	if v := reach.Visible(looks.First - 1); !math.IsInf(v, 1) {
		t.Errorf("%v is visible before the first look", v)
	}
}

// Scatter is below the true scatter for at most a quarter of the cases, and at most about twice the true
// scatter on average.
func TestScatterOfPairs(t *testing.T) {
	const cases, scatter = 400, 0.03
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{8, 30} {
		less, sum := 0, 0.
		for range cases {
			var p Pairs
			for range n {
				x := math.Exp(scatter * rng.NormFloat64())
				p.Add(Bounded{Lo: 1, Mid: 1, Hi: 1}, Bounded{Lo: x, Mid: x, Hi: x})
			}
			if s := p.Scatter(); s < scatter {
				less++
			} else {
				sum += s / scatter
			}
		}
		t.Logf("%d pairs: %d of %d are below the truth", n, less, cases)
		if less > cases/4 || sum/cases > 2 {
			t.Errorf("%d pairs: %d of %d are below the truth, the others %.2g times as much", n, less, cases, sum/cases)
		}
	}
}

// The probability that all counts of one sequence exceed all counts of the other by chance is one
// divided by the number of ways to choose half of all counts, for either side. At the first look it is
// divided by 0.3.
func TestCountsThatDiffer(t *testing.T) {
	l := Looks{First: 10}
	first, second := slices.Repeat([]float64{1}, 8), slices.Repeat([]float64{2}, 8)
	if p := l.AboveUnpaired(first, second); math.Abs(p-2/(0.3*12870)) > 1e-9 {
		t.Errorf("P = %v, want 2 of 12,870, divided by 0.3", p)
	}
	if p := l.AboveUnpaired(second, first); p != 1 {
		t.Errorf("P = %v of fewer", p)
	}
	if p := l.AboveUnpaired(first, first); p != 1 {
		t.Errorf("P = %v of equal counts", p)
	}
}
