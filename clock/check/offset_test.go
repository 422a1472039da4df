package check

import (
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/clock"
)

// In a tournament each player meets each other player once, and nobody plays twice in a round.
func TestTournament(t *testing.T) {
	for n := range 40 {
		met := map[[2]int]int{}
		for _, round := range tournament(n) {
			busy := map[int]bool{}
			for _, pair := range round {
				if pair[0] >= pair[1] || pair[0] < 0 || pair[1] >= n || busy[pair[0]] || busy[pair[1]] {
					t.Fatalf("%d players: %v in %v", n, pair, round)
				}
				busy[pair[0]], busy[pair[1]] = true, true
				met[pair]++
			}
		}
		for a := range n {
			for b := a + 1; b < n; b++ {
				if met[[2]int{a, b}] != 1 {
					t.Errorf("%d players: %d and %d meet %d times", n, a, b, met[[2]int{a, b}])
				}
			}
		}
		if want := n - 1 + n%2; n > 1 && len(tournament(n)) != want {
			t.Errorf("%d players: %d rounds, want %d", n, len(tournament(n)), want)
		}
	}
}

// A pair whose game was stopped before both CPUs had handed over was not asked directly.
func TestPairsWithoutReadings(t *testing.T) {
	both := &limits{upper: []limit{{0, 10}, {1e9, 10}}, lower: []limit{{0, -10}, {1e9, -10}}}
	o := newOffsets("tsc", []int{0, 1, 2}, map[[2]int]*limits{{0, 1}: both, {1, 2}: both, {0, 2}: {upper: []limit{{5, 10}}}}, 1)
	if want := "2 of 3 pairs of CPUs were asked directly, the others are bounded by way of third CPUs"; o.coverage() != want {
		t.Errorf("%q, want %q", o.coverage(), want)
	}
}

// The tightest bound of a pair equals that of the best chain, which the test finds by trying all
// chains.
func TestDifferencesAreTheBestChains(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 2 + rng.IntN(4)
		x := make([]float64, n)
		for i := range x {
			x[i] = 100 * rng.NormFloat64()
		}
		d := newDifferences(n)
		for range n * n {
			if i, j := rng.IntN(n), rng.IntN(n); i != j {
				d.bound(i, j, x[j]-x[i]-10*rng.Float64(), x[j]-x[i]+10*rng.Float64())
			}
		}
		direct := append([]float64(nil), d.most...)
		if !d.close() {
			t.Fatalf("seed %d: contradictory", seed)
		}
		for i := range n {
			for j := range n {
				if i == j {
					continue
				}
				want := bestChain(direct, n, i, j, 1<<i)
				if _, hi := d.between(i, j); math.Abs(hi-want) > 1e-9 && hi != want {
					t.Errorf("seed %d: x%d - x%d is at most %v, want %v", seed, j, i, hi, want)
				}
			}
		}
	}
}

// bestChain returns the least sum of bounds over all chains from i to j that visit no unknown
// twice.
func bestChain(most []float64, n, i, j, seen int) float64 {
	best := most[i*n+j]
	for k := range n {
		if seen&(1<<k) == 0 && k != j {
			best = math.Min(best, most[i*n+k]+bestChain(most, n, k, j, seen|1<<k))
		}
	}
	return best
}

func TestDifferencesThatContradict(t *testing.T) {
	d := newDifferences(3)
	d.bound(0, 1, 10, 20)
	d.bound(1, 2, 10, 20)
	d.bound(0, 2, 50, 60)
	if d.close() {
		t.Error("20 and 20 make no 50")
	}
	lone := newDifferences(3)
	lone.bound(0, 1, 1, 2)
	if lo, hi := lone.between(0, 2); !lone.close() || !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("what nothing is known of lies between %v and %v", lo, hi)
	}
}

// The expected limits were computed by hand: CPU 0 reads 100, CPU 1 reads 350, CPU 0 reads 200,
// in ticks of 2 ns. CPU 1 was read between the two others, so that it is ahead by 300 to 500 ns.
func TestLimitsOfARoundTrip(t *testing.T) {
	g := game{pair: [2]int{0, 1}, startNs: 7000, handed: []Handed{{0, 100}, {1, 350}, {0, 200}}}
	l, roundTripNs := limitsOf(g, 2, 0)
	if len(l.upper) != 1 || l.upper[0] != (limit{7000, 500}) || len(l.lower) != 1 || l.lower[0] != (limit{7200, 300}) || roundTripNs != 200 {
		t.Errorf("%+v, round trip %v", l, roundTripNs)
	}
	l, _ = limitsOf(g, 2, 10)
	if l.upper[0].offsetNs != 510 || l.lower[0].offsetNs != 290 {
		t.Errorf("with an accuracy of 10 ns: %+v", l)
	}
}

// The expected bounds were computed by hand: the offset is between 0 and 10 at time 0 and
// between 30 and 40 at time 10. The slope is 2 to 4, and at time 4 the line is between 12 and 22.
func TestLimitsOfTwoTimes(t *testing.T) {
	l := limits{upper: []limit{{0, 10}, {10, 40}}, lower: []limit{{0, 0}, {10, 30}}}
	if lo, hi := l.skew(); lo != 2 || hi != 4 {
		t.Errorf("skew from %v to %v", lo, hi)
	}
	if lo, hi := l.at(4); lo != 12 || hi != 22 {
		t.Errorf("at 4 from %v to %v", lo, hi)
	}
	if lo, hi := l.at(11); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("after all of them from %v to %v", lo, hi)
	}
}

// Hand-overs that take milliseconds, as on a busy machine, show neither that two CPUs show the
// same time nor that they run equally fast. fidelity once called a skew trusted that was known
// to ± 12,481 ppm.
func TestSlowHandOversTellNothing(t *testing.T) {
	for _, c := range []struct {
		handOverNs float64
		findings   int
	}{{200, 2}, {6e6, 0}} {
		s := newSubject(clock.Rated{Clock: &clock.Clock{Name: "counter"}})
		l := &limits{}
		for _, at := range []float64{0, 0.1e9, 0.4e9, 0.5e9} {
			l.upper = append(l.upper, limit{at, c.handOverNs})
			l.lower = append(l.lower, limit{at, -c.handOverNs})
		}
		s.across.pairs[[2]int{0, 1}] = l
		r := &Report{}
		r.judgeOffsets(s, []int{0, 1})
		if len(r.Findings) != c.findings || len(r.Skipped) != 2-c.findings {
			t.Errorf("hand-overs of %v ns: %d findings %+v, want %d; %d skipped, want %d", c.handOverNs, len(r.Findings), r.Findings, c.findings, len(r.Skipped), 2-c.findings)
		}
	}
}
