package timermeter

import (
	"math"
	"testing"

	"chronoscope/stats"
)

// The expected values were computed by hand: of 20 rounds, four are calm. The least is taken, and
// the interval reaches to the third value, or half a cycle if that is more. The median cost and
// spread are those of the disturbed rounds.
func TestLeastDisturbed(t *testing.T) {
	rounds := []round{{24.2, 0.90}, {24, 0.98}, {24.1, 0.95}, {24.3, 0.97}}
	for range 16 {
		rounds = append(rounds, round{31, 0.5})
	}
	r := Rating{Cycles: Cycles{Accuracy: stats.FloatOf(40)}}
	got := r.leastDisturbed(rounds, 4)
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got/want-1) < 1e-12) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("cost", got.Cost.Value, 24)
	near("cost up to", got.Cost.Hi, 24.2)
	near("cost from", got.Cost.Lo, 24*24/24.2)
	near("quality", got.Quality.Value, math.Pow(40*24*4, -0.1)*math.Sqrt(0.98))
	near("quality from", got.Quality.Lo, math.Pow(40*24.2*4, -0.1)*math.Sqrt(0.95))
	near("half a cycle", r.leastDisturbed(rounds, 1).Cost.Hi, 24.5)
	near("an unknown rate of the core", r.leastDisturbed(rounds, math.NaN()).Cost.Hi, 24.2)
	if r.leastDisturbed(rounds[:9], 4) != nil {
		t.Error("nine rounds are too few")
	}
	stepped := false
	r.Monotonic = &stepped
	if q := r.leastDisturbed(rounds, 4).Quality.Value; q != 0 {
		t.Errorf("the quality of a clock that steps back: %g", q)
	}
}
