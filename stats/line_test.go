package stats_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// norris is a data set of NIST's Statistical Reference Datasets, linear regression: the calibration of
// ozone monitors, 36 observations, with certified values.
var norris = struct{ x, y []float64 }{
	x: []float64{0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4,
		0.6, 775.5, 666.9, 338.0, 447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3,
		0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3, 229.2, 669.1, 448.9, 0.5},
	y: []float64{0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3,
		0.1, 778.1, 668.8, 339.3, 448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3,
		0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6, 228.9, 668.4, 449.2, 0.2},
}

func TestLeastSquaresGivesTheCertifiedValuesOfNorris(t *testing.T) {
	line, err := stats.LeastSquares(norris.x, norris.y)
	if err != nil {
		t.Fatal(err)
	}
	const t975 = 2.0322445093177 // R: qt(0.975, 34)
	near(t, "slope", line.Slope.Value, 1.00211681802045, 1e-12)
	near(t, "intercept", line.Intercept.Value, -0.262323073774029, 1e-11)
	near(t, "residual standard deviation", line.ResidualSD, 0.884796396144373, 1e-11)
	near(t, "half-width of the slope", line.Slope.HalfWidth(), t975*0.000429796848199937, 1e-11)
	near(t, "half-width of the intercept", line.Intercept.HalfWidth(), t975*0.232818234301152, 1e-9)
	near(t, "line at 100", line.At(100), -0.262323073774029+100.211681802045, 1e-9)
	if line.Slope.Statistic != "slope" || line.Slope.N != 36 {
		t.Errorf("the slope is %+v", line.Slope)
	}
}

func TestTheilSenIsNearTheCertifiedSlopeOfNorris(t *testing.T) {
	line, err := stats.TheilSen(norris.x, norris.y)
	if err != nil {
		t.Fatal(err)
	}
	if !line.Slope.Covers(1.00211681802045) || line.Slope.HalfWidth() > 0.005 {
		t.Errorf("the slope is %+v", line.Slope)
	}
}

// The points are those of the example in Sen 1968. The slopes of all 21 pairs are written out and
// sorted; the middle one is 4.
func TestTheilSenOfAllPairsByHand(t *testing.T) {
	x := []float64{1, 2, 3, 4, 10, 12, 18}
	y := []float64{9, 15, 19, 20, 45, 55, 78}
	var slopes []float64
	for i := range x {
		for j := range i {
			slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
		}
	}
	slices.Sort(slopes)
	line, err := stats.TheilSen(x, y)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", line.Slope.Value, 4, 1e-15)
	// z sqrt(Var S) = 1.96 sqrt(7 x 6 x 19 / 18) = 13.05; (21 - 13.05)/2 = 3.98.
	near(t, "lo", line.Slope.Lo, slopes[3-1], 0)
	near(t, "hi", line.Slope.Hi, slopes[19-1], 0)
	// y - 4x, sorted, is 4 5 5 6 7 7 7.
	near(t, "intercept", line.Intercept.Value, 6, 1e-12)
}

// If the true slope is 0, every order of the errors is equally likely, whatever their distribution. The
// test tries all orders.
func TestTheilSenCoversOverAllOrders(t *testing.T) {
	for n := 6; n <= 8; n++ {
		covered, all := 0, 0
		permute(oneTo(n), func(y []float64) {
			line, err := stats.TheilSen(oneTo(n), y)
			if err != nil {
				t.Fatal(err)
			}
			all++
			if line.Slope.Covers(0) {
				covered++
			}
		})
		if float64(covered) < stats.Confidence*float64(all) {
			t.Errorf("n %d: %d of %d orders are covered", n, covered, all)
		}
	}
}

// permute calls f with every order of xs.
func permute(xs []float64, f func([]float64)) {
	var place func(k int)
	place = func(k int) {
		if k == len(xs) {
			f(xs)
			return
		}
		for i := k; i < len(xs); i++ {
			xs[k], xs[i] = xs[i], xs[k]
			place(k + 1)
			xs[k], xs[i] = xs[i], xs[k]
		}
	}
	place(0)
}

func TestLineCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	random := rand.New(rand.NewPCG(1968, 1))
	normal := func() float64 { return random.NormFloat64() }
	interrupted := func() float64 {
		if random.Float64() < 0.1 {
			return math.Exp(8 * random.Float64())
		}
		return normal()
	}
	cauchy := distuv.StudentsT{Sigma: 1, Nu: 1, Src: random}
	for _, s := range []struct {
		name  string
		fit   func(x, y []float64) (stats.Line, error)
		noise func() float64
	}{
		{"least squares, normal", stats.LeastSquares, normal},
		{"Theil-Sen, normal", stats.TheilSen, normal},
		{"Theil-Sen, interrupted", stats.TheilSen, interrupted},
		{"Theil-Sen, Cauchy", stats.TheilSen, cauchy.Rand},
	} {
		for _, n := range []int{6, 12, 60} {
			covered := coverage(2000, func() bool {
				x, y := noisyLine(n, s.noise)
				line, err := s.fit(x, y)
				return err == nil && line.Slope.Covers(3)
			})
			if covered < 1880 {
				t.Errorf("%s, n %d: %d of 2000 intervals cover the slope", s.name, n, covered)
			}
		}
	}
}

func TestLeastSquaresCoversTheIntercept(t *testing.T) {
	random := rand.New(rand.NewPCG(1968, 2))
	covered := coverage(1000, func() bool {
		x, y := noisyLine(10, random.NormFloat64)
		line, err := stats.LeastSquares(x, y)
		return err == nil && line.Intercept.Covers(-7)
	})
	if covered < 940 {
		t.Errorf("%d of 1000 intervals cover the intercept", covered)
	}
}

// 600 points have more pairs than TheilSen uses.
func TestTheilSenOfAChoiceOfPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	random := rand.New(rand.NewPCG(1968, 3))
	covered := coverage(100, func() bool {
		line, err := stats.TheilSen(noisyLine(600, random.NormFloat64))
		return err == nil && line.Slope.Covers(3)
	})
	if covered < 91 {
		t.Errorf("%d of 100 intervals cover the slope", covered)
	}

	x, y := noisyLine(2000, random.NormFloat64)
	once, _ := stats.TheilSen(x, y)
	again, _ := stats.TheilSen(x, y)
	if once.Slope != again.Slope {
		t.Errorf("%+v, then %+v", once.Slope, again.Slope)
	}
	// For normal noise, least squares has the shortest interval. That of all pairs is about 2 %
	// wider, and the choice of pairs adds 2 % more.
	least, _ := stats.LeastSquares(x, y)
	if once.Slope.HalfWidth() > 1.1*least.Slope.HalfWidth() {
		t.Errorf("half-width %v, by least squares %v", once.Slope.HalfWidth(), least.Slope.HalfWidth())
	}
}

// noisyLine returns points of y = -7 + 3x with noise; the distances in x vary.
func noisyLine(n int, noise func() float64) (x, y []float64) {
	for i := range n {
		xi := float64(i) + 0.3*math.Sin(float64(i))
		x = append(x, xi)
		y = append(y, -7+3*xi+noise())
	}
	return x, y
}

func TestLinesRefuse(t *testing.T) {
	for name, fit := range map[string]func(x, y []float64) (stats.Line, error){
		"least squares": stats.LeastSquares, "Theil-Sen": stats.TheilSen,
	} {
		var few *stats.TooFewError
		if _, err := fit(oneTo(2), oneTo(2)); !errors.As(err, &few) {
			t.Errorf("%s of two points: %v", name, err)
		}
		if _, err := fit(nil, nil); !errors.As(err, &few) {
			t.Errorf("%s of nothing: %v", name, err)
		}
		if _, err := fit(repeat(4, 10), oneTo(10)); err == nil {
			t.Errorf("%s has a slope where all x are equal", name)
		}
		if _, err := fit(oneTo(10), oneTo(9)); err == nil {
			t.Errorf("%s takes 10 x and 9 y", name)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			if _, err := fit(append(oneTo(9), bad), oneTo(10)); err == nil {
				t.Errorf("%s takes an x of %v", name, bad)
			}
			if _, err := fit(oneTo(10), append(oneTo(9), bad)); err == nil {
				t.Errorf("%s takes a y of %v", name, bad)
			}
		}
	}
}

// With x in two groups of five, the interval is that of Mann, Whitney and Wilcoxon for a shift. The
// two-sided 5 % critical value of U for 5 and 5 samples is 2 in every table, so the bounds are the
// third of the 25 differences from either end.
func TestTheilSenOfTwoGroupsIsTheRankSumInterval(t *testing.T) {
	a := []float64{1, 2, 4, 8, 16}
	b := []float64{103, 109, 127, 181, 343}
	var shifts []float64
	for _, ai := range a {
		for _, bi := range b {
			shifts = append(shifts, bi-ai)
		}
	}
	slices.Sort(shifts)
	line, err := stats.TheilSen(append(repeat(0, 5), repeat(1, 5)...), append(a, b...))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lo", line.Slope.Lo, shifts[3-1], 0)
	near(t, "hi", line.Slope.Hi, shifts[23-1], 0)
}

// With ties in x, few pairs have a slope. The result then has a value without bounds, or with bounds
// that lie within the slopes.
func TestTheilSenWithTies(t *testing.T) {
	line, err := stats.TheilSen([]float64{0, 0, 0, 0, 0, 1}, []float64{0, 1, 2, 3, 4, 10})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", line.Slope.Value, 8, 0)
	if !math.IsNaN(line.Slope.Lo) || !math.IsNaN(line.Slope.Hi) {
		t.Errorf("five slopes, which hold the truth in 4 of 6 orders, bound it by [%v, %v]", line.Slope.Lo, line.Slope.Hi)
	}
}

// One point in 100,000 has another x. A random choice of pairs includes it a few times or never, and
// TheilSen must end in both cases.
func TestTheilSenOfHardlyAnySlope(t *testing.T) {
	x := append(repeat(0, 99_999), 1)
	line, err := stats.TheilSen(x, repeat(5, 100_000))
	if err == nil && line.Slope.Value != 0 {
		t.Errorf("the slope of a level line is %+v", line.Slope)
	}
}
