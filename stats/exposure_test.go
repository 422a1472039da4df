package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The samples are of a program that takes 1 alone and (1 + slower) at an exposure of 1. Its neighbours
// are there all the time, come and go, are hardly there, or do not slow it.
func TestExposureOf(t *testing.T) {
	const cases, samples, worst = 400, 40, 1.0
	for _, c := range []struct {
		name    string
		exposed func(rng *rand.Rand) float64
		slower  float64
		// most and mostUnseen bound the medians of the results, with a small margin.
		most, mostUnseen float64
	}{
		{"always there, slow", func(rng *rand.Rand) float64 { return 0.95 + 0.04*rng.Float64() }, 0.4, 0.5, 0.5},
		{"always there, no matter", func(rng *rand.Rand) float64 { return 0.95 + 0.04*rng.Float64() }, 0, 0.5, 0.5},
		{"the same all the time", func(rng *rand.Rand) float64 { return 1 }, 0.4, 0.501, 0.501},
		{"comes and goes, slow", func(rng *rand.Rand) float64 { return math.Round(rng.Float64()) }, 0.4, 0.31, 0.001},
		{"comes and goes, no matter", func(rng *rand.Rand) float64 { return math.Round(rng.Float64()) }, 0, 0.015, 0.001},
		{"more or less, slow", func(rng *rand.Rand) float64 { return rng.Float64() }, 0.4, 0.25, 0.11},
		{"more or less, no matter", func(rng *rand.Rand) float64 { return 0.3 + 0.7*rng.Float64() }, 0, 0.03, 0.02},
		{"hardly more or less, slow", func(rng *rand.Rand) float64 { return 0.6 + 0.4*rng.Float64() }, 0.4, 0.5, 0.5},
		{"calm", func(rng *rand.Rand) float64 { return 0.004 * rng.ExpFloat64() }, 0.4, 0.006, 0.006},
	} {
		var lost, unseen []float64
		holds := 0
		for seed := range cases {
			rng := rand.New(rand.NewPCG(uint64(seed), 0xe4))
			x, y, alone := make([]float64, samples), make([]float64, samples), make([]float64, samples)
			sum := 0.0
			for i := range x {
				x[i] = c.exposed(rng)
				sum += x[i]
				alone[i] = math.Exp(0.01 * rng.NormFloat64())
				y[i] = (1 + c.slower*x[i]) * alone[i]
			}
			e := ExposureOf(x, y, worst)
			at := sum / samples
			if math.Abs(e.Mean-at) > 1e-9 {
				t.Fatalf("%s: mean %v, want %v", c.name, e.Mean, at)
			}
			if added := 1 - Median(alone)/Median(y); e.Lost.Hi >= 0.98*added && e.Lost.Lo <= 1.02*added+0.001 {
				holds++
			}
			lost, unseen = append(lost, e.Lost.Hi), append(unseen, e.Unseen)
		}
		t.Logf("%-26s lost %.4f, unseen %.4f; holds what was added in %d of %d", c.name, Median(lost), Median(unseen), holds, cases)
		if Median(lost) > c.most || Median(unseen) > c.mostUnseen {
			t.Errorf("%s: lost %.4f, unseen %.4f, want at most %v and %v", c.name, Median(lost), Median(unseen), c.most, c.mostUnseen)
		}
		if holds < 0.93*cases {
			t.Errorf("%s: holds what was added in %d of %d", c.name, holds, cases)
		}
	}
	if e := ExposureOf(nil, nil, worst); e != (Exposure{}) {
		t.Errorf("no samples: %+v", e)
	}
	if e := ExposureOf([]float64{0.5, 0.5, 1}, []float64{1, 1, 1}, worst); math.Abs(e.Lost.Hi-1./3) > 1e-9 || e.Unseen != e.Lost.Hi || e.Lost.Lo != 0 {
		t.Errorf("three samples: %+v", e)
	}
}

// Times that are differences may be negative. It said "slowed by up to -154 %".
func TestExposureOfDifferences(t *testing.T) {
	x := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
	y := []float64{-4, -9, -5, -8, -1, 9, 8, 7, 12}
	if e := ExposureOf(x, y, 1); !(e.Lost.Lo >= 0 && e.Lost.Hi <= 0.9/1.9+1e-9) {
		t.Errorf("%+v: an exposure of at most 0.9 adds at most 90 %%", e.Lost)
	}
}
