package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// If the two of each pair are slowed by the same factor, the interval holds the ratio, whatever the
// noise.
func TestPairsCover(t *testing.T) {
	noise := map[string]func(*rand.Rand) float64{
		"normal":      func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() },
		"two modes":   func(r *rand.Rand) float64 { return 0.1 * float64(r.IntN(2)) },
		"heavy tails": func(r *rand.Rand) float64 { return math.Min(1, math.Abs(0.01*math.Tan(math.Pi*(r.Float64()-0.5)))) },
	}
	for name, draw := range noise {
		for n, tries := range map[int]int{6: 1000, 25: 1000, 200: 100} {
			if testing.Short() {
				tries /= 10
			}
			covered, told := 0, 0
			for seed := range uint64(tries) {
				rng := rand.New(rand.NewPCG(seed, 1))
				var p Pairs
				for range n {
					shared := 1 + 2*rng.Float64()
					a, b := shared*(1+draw(rng)), 1.1*shared*(1+draw(rng))
					p.Add(Bounded{Lo: a, Mid: a, Hi: a}, Bounded{Lo: b, Mid: b, Hi: b})
				}
				c := p.Compare(0.01, seed)
				if c.Ratio.Covers(1.1) {
					covered++
				}
				if c.Outcome == Slower {
					told++
				}
			}
			least := int(0.95*float64(tries) - 2.05*math.Sqrt(float64(tries)*0.95*0.05))
			t.Logf("%s, %d pairs: %d of %d covered, %d slower", name, n, covered, tries, told)
			if covered < least {
				t.Errorf("%s, %d pairs: %d of %d covered, want %d", name, n, covered, tries, least)
			}
		}
	}
}

// The interval of the ratio includes the uncertainty of single times.
func TestPairsOfBounds(t *testing.T) {
	var p Pairs
	for range 8 {
		p.Add(Bounded{Lo: 9, Mid: 10, Hi: 11}, Bounded{Lo: 18, Mid: 20, Hi: 22})
	}
	p.Add(Bounded{Hi: 2}, Bounded{Lo: 1, Mid: 1, Hi: 1}) // does not count
	c := p.Compare(0.01, 1)
	if p.Len() != 8 || math.Abs(c.Ratio.Value-2) > 1e-9 || math.Abs(c.Ratio.Lo-18./11) > 1e-9 || math.Abs(c.Ratio.Hi-22./9) > 1e-9 || c.Outcome != Slower {
		t.Errorf("%d pairs: %+v", p.Len(), c)
	}
	j := p.Joint(1)
	if math.Abs(j.Lo-18./11) > 1e-9 || math.Abs(j.Hi-22./9) > 1e-9 {
		t.Errorf("%+v", j)
	}
}

// If there are many pairs whose bounds lie far apart, only those that were disturbed least count, unless
// they show another mode of the program.
func TestLeastDisturbedPairs(t *testing.T) {
	for _, modes := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 2))
		var p Pairs
		for i := range 400 {
			waited, ratio := rng.Float64(), 1+0.01*rng.NormFloat64()
			if i%3 == 0 {
				waited *= 0.001
			} else if modes {
				ratio += 0.2
			}
			p.Add(Bounded{Lo: 1 - 0.2*waited, Mid: 1, Hi: 1 + 0.2*waited, Disturbed: waited}, Bounded{Lo: ratio, Mid: ratio, Hi: ratio})
		}
		c := p.Compare(0.01, 1)
		if chosen := c.Ratio.N == 100; chosen == modes {
			t.Errorf("modes %v: %d of 400 pairs: %+v", modes, c.Ratio.N, c.Ratio)
		}
		if !modes && !(c.Ratio.Covers(1) && c.Ratio.RelativeHalfWidth() < 0.005) {
			t.Errorf("%+v", c.Ratio)
		}
	}
}

// Pairs that are added in two parts give the same bounds of the centre as pairs added in one part.
func TestAppendedPairs(t *testing.T) {
	one := func(x float64) Bounded { return Bounded{Lo: x * 0.99, Mid: x, Hi: x * 1.01} }
	var whole, first, second Pairs
	for i := range 12 {
		x := 1 + 0.01*float64(i)
		whole.Add(one(1), one(x))
		if i < 5 {
			first.Add(one(1), one(x))
		} else {
			second.Add(one(1), one(x))
		}
	}
	first.Append(second)
	lo, hi := whole.LogBounds(0.1)
	if gotLo, gotHi := first.LogBounds(0.1); first.Len() != 12 || gotLo != lo || gotHi != hi {
		t.Errorf("%d pairs, %v to %v, want 12, %v to %v", first.Len(), gotLo, gotHi, lo, hi)
	}
	if middle := math.Log(1.055); !(lo < middle && middle < hi) {
		t.Errorf("%v to %v is beside the centre, %v", lo, hi, middle)
	}
}

// Two subjects wait for other programs for a tenth of their time. It is not known how far that delayed them: if it
// delayed both alike, the ratio is known, and else it is known to a tenth. Where the second one waits for a fifth, the
// ratio lies between that without and with what it waited longer. Rounding stays in all bounds.
func TestPairsDisturbedAlike(t *testing.T) {
	one := func(ns, waited, rounding float64) Bounded {
		return Bounded{Lo: ns * (1 - waited), Mid: ns * (1 - waited/2), Hi: ns, Rounding: rounding}
	}
	for _, c := range []struct {
		waited, rounding, lo, hi float64
	}{{0.1, 0, 1.05, 1.05}, {0.2, 0, 1.05 * 0.8 / 0.9, 1.05}, {0.1, 0.5, 1.05 * (1 - 0.01), 1.05 * (1 + 0.01)}} {
		var first, second []Bounded
		for i := range 20 {
			ns := 100 + float64(i)
			first, second = append(first, one(ns, 0.1, c.rounding)), append(second, one(1.05*ns, c.waited, c.rounding))
		}
		first, second = append(first, Bounded{Hi: 1}), append(second, one(1, 0, 0)) // does not count
		var alike, apart Pairs
		if counted := alike.AddAlike(first, second); len(counted) != 20 || counted[19] != 19 {
			t.Errorf("waits of %v: these count: %v", c.waited, counted)
		}
		for i := range first {
			apart.Add(first[i], second[i])
		}
		ratio := alike.Compare(0, 1).Ratio
		if math.Abs(ratio.Lo-c.lo) > 2e-3 || math.Abs(ratio.Hi-c.hi) > 2e-3 {
			t.Errorf("waits of %v, rounded by %v: %v, expected %v to %v", c.waited, c.rounding, ratio, c.lo, c.hi)
		}
		if wide := apart.Compare(0, 1).Ratio; !(wide.Lo < ratio.Lo-0.02 && wide.Hi > ratio.Hi+0.02) {
			t.Errorf("waits of %v: apart they say %v, alike %v", c.waited, wide, ratio)
		}
	}
}
