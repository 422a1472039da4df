package timermeter

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/stats"
)

// Rounding both readings of a difference down lowers the peak to sinc squared, as the comment of
// peakOfDifferences says. The test enumerates the phases of lattices whose spacing is no whole
// number.
func TestPeakOfRoundedDifferences(t *testing.T) {
	for _, quantum := range []float64{2.1234, 3.7182, 10.0149, 41.6667} {
		var d []float64
		for i := range 4000 {
			phase := quantum * float64(i) * math.Phi
			k := float64(1 + i%50)
			d = append(d, math.Floor(phase+k*quantum)-math.Floor(phase))
		}
		got, want := stats.Amplitude(d, 1/quantum), peakOfDifferences(1/quantum)
		if math.Abs(got-want) > 0.05 {
			t.Errorf("quantum %v: peak %.3f, want %.3f", quantum, got, want)
		}
	}
}

// The bounds of the slope equal those from all pairs of readings: a pair that is k quanta apart
// bounds the quantum to (difference ± 1)/k.
func TestSlopesAreBoundedByAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		quantum, phase := 2+100*rng.Float64(), rng.Float64()
		var points []point
		for range 60 {
			k := float64(rng.IntN(1000))
			points = append(points, point{k, math.Floor(phase + k*quantum)})
		}
		wantLo, wantHi := 0.0, math.Inf(1)
		for _, p := range points {
			for _, q := range points {
				if p.k > q.k {
					wantLo = math.Max(wantLo, (p.value-q.value-1)/(p.k-q.k))
					wantHi = math.Min(wantHi, (p.value-q.value+1)/(p.k-q.k))
				}
			}
		}
		lo, hi, band := slopes(points, quantum*(1+1e-5))
		if math.Abs(lo-wantLo) > 1e-7 || math.Abs(hi-wantHi) > 1e-7 || band >= 1 {
			t.Fatalf("quantum %v: [%v, %v] with a band of %v, want [%v, %v]", quantum, lo, hi, band, wantLo, wantHi)
		}
		if quantum < lo || quantum > hi {
			t.Fatalf("[%v, %v] does not hold %v", lo, hi, quantum)
		}
	}
}

// Whatever the readings are, and however few, the search does not fail and returns no interval
// whose lower bound exceeds its upper one.
func FuzzAccuracyOf(f *testing.F) {
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 255, 254, 0, 0, 0, 0, 9})
	f.Add(slices.Repeat([]byte{3, 0, 7}, 100))
	f.Add(slices.Repeat([]byte{26, 26, 1, 25, 52, 78}, 40))
	f.Add(slices.Repeat([]byte{255, 0, 128}, 60))
	f.Fuzz(func(t *testing.T, steps []byte) {
		var r readings
		now := int64(0)
		for i, s := range steps {
			step := int64(int8(s))
			if s&3 == 3 {
				step <<= uint(i % 40)
			}
			now += step
			r = append(r, now)
		}
		if len(r) == 0 || len(r) > 300 {
			return // longer inputs test nothing more, and take longer
		}
		a := accuracyOf(sample{readings: r, stretches: []readings{r}}, 1)
		u := a.Units
		if a.Verdict != "unusable" && !(u.Lo <= u.Value && u.Value <= u.Hi && u.Value > 0) {
			t.Fatalf("%s: %v [%v, %v]", a.Verdict, u.Value, u.Lo, u.Hi)
		}
		if (a.Verdict == "trusted") != (len(a.Reasons) == 0) {
			t.Fatalf("%s, %v", a.Verdict, a.Reasons)
		}
	})
}
