package stats

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

// The fast transform agrees with the sum that defines the periodogram, which the test computes.
func TestTransformIsThePeriodogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var d []float64
	for range 300 {
		d = append(d, float64(100+rng.IntN(20000)))
	}
	slices.Sort(d)
	s := Transform(d, 100, 20000, 1)
	if s.Points != len(d) {
		t.Fatalf("%d points, want %d", s.Points, len(d))
	}
	for i := 0; i < len(s.Amplitudes); i += 97 {
		var sum complex128
		for _, x := range d {
			sum += cmplx.Exp(complex(0, 2*math.Pi*float64(i)*s.Step*x))
		}
		if want := cmplx.Abs(sum) / float64(len(d)); math.Abs(s.Amplitudes[i]-want) > 1e-6 {
			t.Fatalf("at frequency %d: %v, want %v", i, s.Amplitudes[i], want)
		}
	}
}

// If a third of the points lie on a lattice, the spectrum shows its frequency, and Climb finds it to a
// small fraction of what the span of 300 can resolve.
func TestSummitsOfPartialLattice(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		quantum := 3 + 5*rng.Float64()
		var x []float64
		for k := range 300 {
			x = append(x, 1000*rng.Float64()*quantum/3, 1000*rng.Float64()*quantum/3, float64(k)*quantum+0.01*rng.NormFloat64())
		}
		slices.Sort(x)
		spec := Transform(x, 0, 300*quantum, 0.01)
		tops, height := spec.Summits(0.05, 3)
		if len(tops) == 0 || height < spec.Chance() {
			t.Fatalf("seed %d: no summit above chance", seed)
		}
		f, _ := Climb(func(f float64) float64 { return Amplitude(x, f) }, tops[0].F, spec.Step, 300*quantum)
		if math.Abs(f*quantum-1) > 1e-3 {
			t.Errorf("seed %d: spacing %.6f, want %.6f", seed, 1/f, quantum)
		}
	}
}

// The first fiftieth of a comb's points shows its frequency roughly. Follow refines it over all points to
// a small fraction of what their span can resolve, among ten times as many points that belong to no
// comb.
func TestFollow(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		quantum := 3 + 5*rng.Float64()
		span := 3000 * quantum
		var x []float64
		for k := range 3000 {
			x = append(x, float64(k)*quantum+0.05*rng.NormFloat64())
			for range 10 {
				x = append(x, span*rng.Float64())
			}
		}
		slices.Sort(x)
		extent := span / 8
		f := Follow(x, 1/quantum+(2*rng.Float64()-1)/(4*extent), extent)
		if off := (f*quantum - 1) * 3000; math.Abs(off) > 0.1 {
			t.Errorf("seed %d: off by %.3f of a period over the span", seed, off)
		}
	}
	if f := Follow([]float64{5}, 0.25, 10); f != 0.25 {
		t.Errorf("one point moves the frequency to %v", f)
	}
}

func TestHighest(t *testing.T) {
	s := Spectrum{Step: 0.5, Amplitudes: []float64{9, 1, 3, 2, 5, 4}} // at 0, 0.5 ... 2.5
	for _, c := range []struct {
		f, reach float64
		want     Summit
	}{{1, 0.5, Summit{1, 3}}, {1.2, 0, Summit{1, 3}}, {2.2, 0.9, Summit{2, 5}}, {0.2, 5, Summit{2, 5}}, {4, 0.5, Summit{}}} {
		if got := s.Highest(c.f, c.reach); got != c.want {
			t.Errorf("within %v of %v: %v, want %v", c.reach, c.f, got, c.want)
		}
	}
}
