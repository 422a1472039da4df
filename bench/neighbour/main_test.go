package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of simulated pairs with a true cost of 0.4 %, in rare turns that delay a run by 6 %, about 95 % of the intervals
// hold it.
func TestRatioOfMeans(t *testing.T) {
	const tries, pairs, cost, chance = 1000, 1500, 0.06, 0.004 / 0.06
	rng := rand.New(rand.NewPCG(1, 0))
	covered := 0
	for range tries {
		var a, b []float64
		for range pairs {
			drift := 1 + 0.02*rng.NormFloat64() // both of a pair see it
			a = append(a, drift*(1+0.01*rng.ExpFloat64()))
			slow := drift * (1 + 0.01*rng.ExpFloat64())
			if rng.Float64() < chance {
				slow *= 1 + cost
			}
			b = append(b, slow)
		}
		ratio, lo, hi, n := ratioOfMeans(a, b)
		if n != pairs || math.Abs(ratio-1.004) > 0.01 {
			t.Fatalf("%v of %d pairs", ratio, n)
		}
		if lo <= 1.004 && 1.004 <= hi {
			covered++
		}
	}
	if covered < 920 || covered > 975 { // binomial: 950 +- 7
		t.Errorf("%d of %d intervals hold the true ratio", covered, tries)
	}
}
