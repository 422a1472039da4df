package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval of pairs that share what slows the machine holds the ratio, whatever the noise.
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
					p.Add(Bounded{a, a, a}, Bounded{b, b, b})
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

// What is not known of single times is in the ratio.
func TestPairsOfBounds(t *testing.T) {
	var p Pairs
	for range 8 {
		p.Add(Bounded{9, 10, 11}, Bounded{18, 20, 22})
	}
	p.Add(Bounded{0, 1, 2}, Bounded{1, 1, 1}) // of no use
	c := p.Compare(0.01, 1)
	if p.Len() != 8 || math.Abs(c.Ratio.Value-2) > 1e-9 || math.Abs(c.Ratio.Lo-18./11) > 1e-9 || math.Abs(c.Ratio.Hi-22./9) > 1e-9 || c.Outcome != Slower {
		t.Errorf("%d pairs: %+v", p.Len(), c)
	}
	j := p.Joint(1)
	if math.Abs(j.Lo-18./11) > 1e-9 || math.Abs(j.Hi-22./9) > 1e-9 {
		t.Errorf("%+v", j)
	}
}
