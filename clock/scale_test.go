package clock

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactNs returns ticks / hz in nanoseconds, rounded half away from zero, in exact arithmetic
// and limited to the range of int64.
func exactNs(ticks int64, hz float64) *big.Rat {
	ns := new(big.Rat).Mul(big.NewRat(ticks, 1), big.NewRat(1e9, 1))
	return ns.Quo(ns, new(big.Rat).SetFloat64(hz))
}

func checkNs(t interface{ Fatalf(string, ...any) }, ticks int64, hz float64) {
	s, err := newScale(hz)
	if err != nil {
		t.Fatalf("newScale(%g): %v", hz, err)
	}
	got, want := s.ns(ticks), exactNs(ticks, hz)
	limit := new(big.Rat).SetInt64(math.MaxInt64)
	if new(big.Rat).Abs(want).Cmp(limit) >= 0 {
		if got != math.MaxInt64 && got != -math.MaxInt64 || (got < 0) != (ticks < 0) {
			t.Fatalf("%d ticks at %g Hz = %d ns, want the end of the range", ticks, hz, got)
		}
		return
	}
	off, _ := new(big.Rat).Sub(new(big.Rat).SetInt64(got), want).Float64()
	allowed := 0.5 + math.Abs(float64(got))/(1<<62)
	if math.Abs(off) > allowed {
		t.Fatalf("%d ticks at %g Hz = %d ns, off by %g", ticks, hz, got, off)
	}
}

func TestTicksScaleAsInExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hz := math.Pow(10, rapid.Float64Range(0, 12).Draw(t, "log10 Hz"))
		ticks := rapid.Int64().Draw(t, "ticks")
		checkNs(t, ticks, hz)
	})
}

func TestTicksScaleAtTheEdges(t *testing.T) {
	rates := []float64{1, 2, 3, 24e6, 1e9 / 41.666, 1e9, math.Nextafter(1e9, 2e9), 1 << 30, 2.596120121e9, 4e9, 1e12}
	ticks := []int64{0, 1, -1, 2, 3, 999, 1 << 31, 1 << 53, 1<<62 - 1, math.MaxInt64, -math.MaxInt64, math.MinInt64}
	for _, hz := range rates {
		for _, n := range ticks {
			checkNs(t, n, hz)
		}
	}
}

func TestOneTickOfANanosecondIsOne(t *testing.T) {
	s, err := newScale(1e9)
	if err != nil {
		t.Fatal(err)
	}
	for _, ticks := range []int64{0, 1, -7, 1 << 40} {
		if got := s.ns(ticks); got != ticks {
			t.Errorf("%d ticks of 1 ns are %d ns", ticks, got)
		}
	}
}

func TestImpossibleRatesAreRefused(t *testing.T) {
	for _, hz := range []float64{0, -1, 0.5, 1e13, math.Inf(1), math.NaN()} {
		if _, err := newScale(hz); err == nil {
			t.Errorf("a rate of %g Hz is accepted", hz)
		}
	}
}
