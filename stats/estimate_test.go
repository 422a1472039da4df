package stats_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"chronoscope/stats"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Scripts depend on the names of the fields and on their order.
func TestEstimateInJSON(t *testing.T) {
	for _, test := range []struct {
		estimate stats.Estimate
		want     string
	}{
		{
			stats.Estimate{Value: 41.666, Lo: 41.6, Hi: 41.7, Unit: "ns", Statistic: "quantum", N: 300, Discarded: 4},
			`{"value":41.666,"lo":41.6,"hi":41.7,"confidence":0.95,"unit":"ns","statistic":"quantum","n":300,"discarded":4}`,
		},
		{
			stats.Estimate{Value: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1), Unit: "Hz", Statistic: "slope"},
			`{"value":null,"lo":null,"hi":null,"confidence":0.95,"unit":"Hz","statistic":"slope","n":0,"discarded":0}`,
		},
		{
			stats.Estimate{},
			`{"value":0,"lo":0,"hi":0,"confidence":0.95,"unit":"","statistic":"","n":0,"discarded":0}`,
		},
	} {
		got, err := json.Marshal(test.estimate)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v\nwant %s", got, err, test.want)
		}
	}
}

func TestEstimateSurvivesJSON(t *testing.T) {
	finiteOrNaN := rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()))
	rapid.Check(t, func(t *rapid.T) {
		before := stats.Estimate{
			Value: finiteOrNaN.Draw(t, "value"), Lo: finiteOrNaN.Draw(t, "lo"), Hi: finiteOrNaN.Draw(t, "hi"),
			Unit: rapid.String().Draw(t, "unit"), Statistic: "median",
			N: rapid.IntRange(0, 1e9).Draw(t, "n"), Discarded: rapid.IntRange(0, 1e9).Draw(t, "discarded"),
		}
		text, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after stats.Estimate
		if err := json.Unmarshal(text, &after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("%s: (-before +after)\n%s", text, diff)
		}
	})
}

func TestEstimateRefusesOtherJSON(t *testing.T) {
	for _, text := range []string{`[]`, `3`, `{"value":"three"}`, `{"n":1.5}`, `{`} {
		var e stats.Estimate
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s was read as %+v", text, e)
		}
	}
}

func TestEstimateScaled(t *testing.T) {
	e := stats.Estimate{Value: 4, Lo: 3, Hi: 6, Unit: "ns", Statistic: "median", N: 9, Discarded: 1}
	for _, test := range []struct {
		factor        float64
		value, lo, hi float64
	}{
		{2.5, 10, 7.5, 15},
		{-1, -4, -6, -3},
		{0, 0, 0, 0},
	} {
		got := e.Scaled(test.factor, "ticks")
		want := stats.Estimate{Value: test.value, Lo: test.lo, Hi: test.hi, Unit: "ticks", Statistic: "median", N: 9, Discarded: 1}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("times %v: (-want +got)\n%s", test.factor, diff)
		}
	}
	if e.Value != 4 || e.Unit != "ns" {
		t.Errorf("scaling changed the estimate to %+v", e)
	}
}

// An unknown bound stays unknown after scaling. Scaling by a negative factor swaps the bounds.
func TestEstimateScaledKeepsAnUnknownBound(t *testing.T) {
	e := stats.Estimate{Value: 4, Lo: math.NaN(), Hi: 6}.Scaled(-1, "ns")
	if e.Lo != -6 || !math.IsNaN(e.Hi) {
		t.Errorf("%+v", e)
	}
}

func TestEstimateScaledKeepsWhatItCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.Float64Range(-1e6, 1e6)
		lo := numbers.Draw(t, "lo")
		e := stats.Estimate{Lo: lo, Hi: lo + math.Abs(numbers.Draw(t, "width"))}
		x, factor := numbers.Draw(t, "x"), numbers.Draw(t, "factor")
		if e.Covers(x) && !e.Scaled(factor, "").Covers(x*factor) {
			t.Fatalf("%+v covers %v, but not %v times", e, x, factor)
		}
	})
}

func TestEstimateWidths(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		estimate       stats.Estimate
		half, relative float64
	}{
		{stats.Estimate{Value: 10, Lo: 9, Hi: 13}, 2, 0.2},
		{stats.Estimate{Value: -10, Lo: -13, Hi: -9}, 2, 0.2},
		{stats.Estimate{Value: 0, Lo: -1, Hi: 1}, 1, nan},
		{stats.Estimate{Value: 10, Lo: nan, Hi: 13}, nan, nan},
	} {
		got := []float64{test.estimate.HalfWidth(), test.estimate.RelativeHalfWidth()}
		if diff := cmp.Diff([]float64{test.half, test.relative}, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%+v: (-want +got)\n%s", test.estimate, diff)
		}
	}
}

func TestEstimateCovers(t *testing.T) {
	e := stats.Estimate{Value: 2, Lo: 1, Hi: 3}
	for x, want := range map[float64]bool{1: true, 2: true, 3: true, 0.999: false, 3.001: false} {
		if e.Covers(x) != want {
			t.Errorf("[1, 3] covers %v: %v", x, !want)
		}
	}
	if (stats.Estimate{Lo: math.NaN(), Hi: 3}).Covers(2) || e.Covers(math.NaN()) {
		t.Error("what is not known is covered")
	}
}

func TestFinite(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if f := stats.FloatOf(x); f.Known() || stats.IsFinite(x) {
			t.Errorf("FloatOf(%v) is %v", x, f)
		}
	}
	for _, x := range []float64{0, -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		if f := stats.FloatOf(x); !f.Known() || f.Value() != x || !stats.IsFinite(x) {
			t.Errorf("FloatOf(%v) is %v", x, f)
		}
	}
}

// A TooFewError says what was wanted and how many samples suffice.
func TestTooFewError(t *testing.T) {
	text := (&stats.TooFewError{Want: "a median", Have: 3, Need: 6}).Error()
	for _, part := range []string{"a median", "3", "needs 6 samples or more"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}

// Computed by hand: 10 (8 to 13) minus 3 (2 to 5) is 7, from 7 - sqrt(2² + 2²) to 7 + sqrt(3² + 1²).
func TestLess(t *testing.T) {
	got := stats.Estimate{Value: 10, Lo: 8, Hi: 13, Unit: "ns"}.Less(stats.Estimate{Value: 3, Lo: 2, Hi: 5})
	if got.Value != 7 || math.Abs(got.Lo-4.171573) > 1e-6 || math.Abs(got.Hi-10.162278) > 1e-6 || got.Unit != "ns" {
		t.Error(got)
	}
}
