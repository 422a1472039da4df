package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chronoscope/bytecode/analysis"
	"chronoscope/stats"
)

// timingsOf returns timings with the given times, named by their place.
func timingsOf(ns ...float64) []analysis.Timing {
	var all []analysis.Timing
	for i, x := range ns {
		all = append(all, analysis.Timing{Name: fmt.Sprint(i), Ns: x})
	}
	return all
}

// The expected quartiles and mean are from NumPy 1.24.2: numpy.quantile(x, [.25, .5, .75]), numpy.mean(x).
func TestSummarize(t *testing.T) {
	timings := timingsOf(8.7, 0.65, 0.65, 0.66, 0.97, 2.4, 0.97, 0.98, 1.3, 1.31, 2.4, 3.3, 4.5, 13.7)
	s := analysis.Summarize(timings)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"minimum", s.MinNs.Value(), 0.65}, {"first quartile", s.Q1Ns.Value(), 0.97}, {"median", s.MedianNs.Value(), 1.305}, {"third quartile", s.Q3Ns.Value(), 3.075},
		{"maximum", s.MaxNs.Value(), 13.7}, {"mean", s.MeanNs.Value(), 3.035},
		// The upper fence is 3.075 + 1.5 (3.075 - 0.97), which is 6.23.
		{"lower whisker", s.LowerNs.Value(), 0.65}, {"upper whisker", s.UpperNs.Value(), 4.5},
	} {
		near(t, c.what, c.got, c.want, 1e-12)
	}
	if got := names(s.Outliers(timings)); !slices.Equal(got, []string{"13", "0"}) {
		t.Errorf("outliers %v", got)
	}
}

// The fences lie 1.5 times the distance of the quartiles beyond each of them.
func TestIsOutlier(t *testing.T) {
	s := analysis.Summary{Q1Ns: stats.FloatOf(2), Q3Ns: stats.FloatOf(6)}
	for ns, want := range map[float64]bool{-4.01: true, -4: false, 2: false, 12: false, 12.01: true} {
		if s.IsOutlier(ns) != want {
			t.Errorf("%v: %v, want %v", ns, !want, want)
		}
	}
}

func TestSummarizeOfLittle(t *testing.T) {
	if s := analysis.Summarize(nil); s.MinNs.Known() || s.MeanNs.Known() || s.UpperNs.Known() {
		t.Errorf("of nothing: %+v", s)
	}
	if s := analysis.Summarize(timingsOf(2)); s.MinNs.Value() != 2 || s.UpperNs.Value() != 2 || s.MeanNs.Value() != 2 || s.IsOutlier(2) {
		t.Errorf("of one: %+v", s)
	}
}

func TestGroupsAreLabelledFromTheFastest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var ns []float64
	for _, i := range random.Perm(60) {
		ns = append(ns, float64(10*i))
	}
	tree, err := analysis.Cluster(timingsOf(ns...))
	if err != nil {
		t.Fatal(err)
	}
	groups := tree.Groups(1)
	labels := ""
	for i, g := range groups {
		labels += g.Label + " "
		if g.Timings[0].Ns != float64(10*i) {
			t.Errorf("group %s has %v", g.Label, g.Timings)
		}
	}
	if want := "a b c d e f g h i j k l m n o p q r s t u v w x y z aa ab ac ad ae af ag ah ai aj ak al am an ao ap aq ar as at au av aw ax ay az ba bb bc bd be bf bg bh "; labels != want {
		t.Errorf("labels %q", labels)
	}
	if _, err := analysis.Cluster(timingsOf(1, math.Inf(1))); err == nil {
		t.Error("an infinite time is clustered")
	}
}

func TestLargest(t *testing.T) {
	tree, _ := analysis.Cluster(timingsOf(1, 1.1, 5, 9, 9.1, 9.2, 20, 30, 30.1, 40))
	var got []string
	for _, g := range analysis.Largest(tree.Groups(1), 3) {
		got = append(got, fmt.Sprint(g.Label, len(g.Timings)))
	}
	if strings.Join(got, " ") != "a2 c3 e2" {
		t.Errorf("the largest are %v", got)
	}
	if n := len(analysis.Largest(tree.Groups(100), 3)); n != 1 {
		t.Errorf("%d of one group", n)
	}
}

// The six statistics of ten times, and the number of groups at each, were computed by hand.
func TestGranularities(t *testing.T) {
	tree, _ := analysis.Cluster(timingsOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 19))
	want := []analysis.Granularity{
		{Statistic: "minimum", Ns: 1, Groups: 6}, {Statistic: "first quartile", Ns: 3.25, Groups: 4}, {Statistic: "median", Ns: 5.5, Groups: 3},
		{Statistic: "third quartile", Ns: 7.75, Groups: 3}, {Statistic: "mean", Ns: 6.4, Groups: 3}, {Statistic: "maximum", Ns: 19, Groups: 1},
	}
	for i, g := range tree.Granularities() {
		if g.Statistic != want[i].Statistic || g.Groups != want[i].Groups || math.Abs(g.Ns-want[i].Ns) > 1e-12 {
			t.Errorf("%+v, want %+v", g, want[i])
		}
	}
}

// The expected values are from SciPy 1.10.1: scipy.stats.linregress and scipy.stats.t.ppf(.975, 9).
func TestCompare(t *testing.T) {
	x := []float64{0.65, 0.97, 1.29, 3.27, 3.5, 4.5, 8.7, 9.1, 11.1, 12.5, 13.7}
	y := []float64{0.66, 0.96, 1.31, 3.30, 3.45, 4.61, 8.72, 9.05, 11.3, 12.41, 13.75}
	f, err := analysis.Compare(pairsOf(x, y))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "r", f.PearsonR, 0.9998655342255873, 1e-12)
	near(t, "slope", f.Line.Slope.Value, 1.0018177390020906, 1e-12)
	near(t, "intercept", f.Line.Intercept.Value, 0.0103697310850146, 1e-12)
	near(t, "half the slope's interval", f.Line.Slope.HalfWidth(), 2.2621571627409915*0.005476866322464068, 1e-12)
	near(t, "half the intercept's interval", f.Line.Intercept.HalfWidth(), 2.2621571627409915*0.04280342806780769, 1e-11)
	near(t, "median error", f.MedianError, 0.010416666666666676, 1e-12)
	near(t, "greatest error", f.MaxError, 0.02386117136659443, 1e-12)
	sum := 0.0
	for i, r := range f.ResidualsNs {
		sum += r
		near(t, "a residual", r, y[i]-0.0103697310850146-1.0018177390020906*x[i], 1e-12)
	}
	near(t, "the residuals' sum", sum, 0, 1e-12)
}

func pairsOf(x, y []float64) []analysis.Pair {
	var pairs []analysis.Pair
	for i := range x {
		pairs = append(pairs, analysis.Pair{Name: fmt.Sprint(i), Ns: x[i], ReferenceNs: y[i]})
	}
	return pairs
}

// The slope shows in which direction the two methods differ: if a method reports 1/1.232 of the
// reference, the slope is 1.232, as in Lambert 2008.
func TestSlopeOfTooLittle(t *testing.T) {
	x, y := []float64{1, 2, 5, 9}, []float64{1.232, 2.464, 6.16, 11.088}
	f, err := analysis.Compare(pairsOf(x, y))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", f.Line.Slope.Value, analysis.Lambert.Slope, 1e-12)
	near(t, "error", f.MedianError, 1-1/1.232, 1e-12)
}

func TestCompareOfLittle(t *testing.T) {
	for what, pairs := range map[string][]analysis.Pair{
		"nothing": nil, "two": pairsOf([]float64{1, 2}, []float64{1, 2}), "equal times": pairsOf([]float64{1, 1, 1}, []float64{1, 2, 3}),
		"no number": pairsOf([]float64{1, math.NaN(), 1}, []float64{1, 2, 3}),
	} {
		if _, err := analysis.Compare(pairs); err == nil {
			t.Errorf("%s is compared", what)
		}
	}
	// A reference of zero has no relative error, but it counts for the line.
	f, err := analysis.Compare(pairsOf([]float64{0.1, 1, 2, 3}, []float64{0, 1, 2, 3}))
	if err != nil || f.MaxError != 0 || len(f.ResidualsNs) != 4 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestStrays(t *testing.T) {
	pairs := pairsOf([]float64{1.5, 2.2, 5.1, 9.5, 10}, []float64{1, 2, 5, 10, 10})
	if got := analysis.Strays(pairs, 2, 0.03); len(got) != 1 || got[0].Name != "3" {
		t.Errorf("strays above 2 ns: %+v", got)
	}
	if got := analysis.Strays(pairs, 1, 0.03); len(got) != 2 || got[0].Name != "1" || got[1].Name != "3" {
		t.Errorf("strays above 1 ns: %+v", got)
	}
}

func TestPredict(t *testing.T) {
	times := map[string]stats.Estimate{"iload_0": {Value: 1, Lo: 0.9, Hi: 1.2}, "iadd": {Value: 2, Lo: 1.9, Hi: 2.1}}
	e, err := analysis.Predict([]string{"iload_0", "iload_0", "iadd"}, times)
	if err != nil || e.N != 3 || e.Unit != "ns" {
		t.Fatalf("%+v, %v", e, err)
	}
	near(t, "the sum", e.Value, 4, 1e-12)
	near(t, "its least", e.Lo, 3.7, 1e-12)
	near(t, "its most", e.Hi, 4.5, 1e-12)
	if _, err := analysis.Predict([]string{"iadd", "imul", "imul", "idiv"}, times); err == nil || !strings.Contains(err.Error(), "imul, idiv:") {
		t.Errorf("without times: %v", err)
	}
}

// The whole analysis of all 137 instructions takes far less than a second.
func BenchmarkAnalysis(b *testing.B) {
	random := rand.New(rand.NewPCG(137, 0))
	var ns []float64
	for range 137 {
		ns = append(ns, math.Exp(random.NormFloat64()))
	}
	for b.Loop() {
		tree, _ := analysis.Cluster(timingsOf(ns...))
		tree.Granularities()
		analysis.Compare(pairsOf(ns, ns))
	}
}
