package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The values of the wanted ranks are those that sorting puts there, whatever the order and the ties of
// the values: random, ascending, descending, few different ones, and rising and falling.
func TestPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 61))
	orders := map[string]func(i, n int) float64{
		"random":     func(_, _ int) float64 { return rng.NormFloat64() },
		"ascending":  func(i, _ int) float64 { return float64(i) },
		"descending": func(i, _ int) float64 { return -float64(i) },
		"ties":       func(_, _ int) float64 { return float64(rng.IntN(3)) },
		"one value":  func(_, _ int) float64 { return 7 },
		"a peak":     func(i, n int) float64 { return float64(min(i, n-i)) },
	}
	for name, of := range orders {
		for _, n := range []int{0, 1, 2, 16, 17, 100, 5000} {
			values := make([]float64, n)
			for i := range values {
				values[i] = of(i, n)
			}
			sorted := slices.Sorted(slices.Values(values))
			ranks := []int{-1, n / 7, (n - 1) / 2, n / 2, n - 1, n}
			place(values, ranks)
			for _, rank := range ranks {
				if rank >= 0 && rank < n && values[rank] != sorted[rank] {
					t.Errorf("%s, %d values: %v has rank %d, want %v", name, n, values[rank], rank, sorted[rank])
				}
			}
			if slices.Sort(values); !slices.Equal(values, sorted) {
				t.Errorf("%s, %d values: they are others than before", name, n)
			}
		}
	}
}
