package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Whenever the sleep is called, and whatever the true rate: it is among those
// that the reading may stand for.
func TestTrueRatesHoldTheTruth(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 912))
		interval := time.Duration(1 + rng.IntN(20e6))
		sleep := time.Duration(1 + rng.Int64N(int64(100*interval)))
		mhz := 10 + 5000*rng.Float64()
		// The counter goes on at each multiple of the interval.
		called := time.Duration(rng.Int64N(int64(interval)))
		wanted := int64(math.Ceil(float64(sleep) / float64(interval)))
		woken := time.Duration(wanted) * interval
		slept := woken - called
		above, longest, err := SleepRange(sleep, interval)
		if err != nil || slept <= above || slept > longest {
			t.Errorf("seed %d: slept for %v of (%v, %v], %v", seed, slept, above, longest, err)
		}
		reading := mhz * float64(slept) / float64(sleep)
		slowest, fastest, err := TrueRates(reading, sleep, interval)
		if err != nil || mhz < slowest*(1-1e-12) || mhz > fastest*(1+1e-12) {
			t.Errorf("seed %d: %v MHz out of [%v, %v), %v", seed, mhz, slowest, fastest, err)
		}
	}
}

func TestTrueRatesOfOneInterval(t *testing.T) {
	if slowest, fastest, err := TrueRates(500, 10*time.Millisecond, 10*time.Millisecond); err != nil || slowest != 500 || !math.IsInf(fastest, 1) {
		t.Errorf("%v, %v, %v", slowest, fastest, err)
	}
}

func TestTrueRatesRefusals(t *testing.T) {
	for _, c := range []struct {
		reading         float64
		sleep, interval time.Duration
	}{{0, 1, 1}, {-1, 1, 1}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1}, {1, 0, 1}, {1, -1, 1}, {1, 1, 0}, {1, 1, -1}, {1, math.MaxInt64, math.MaxInt64 - 1}} {
		if slowest, fastest, err := TrueRates(c.reading, c.sleep, c.interval); err == nil {
			t.Errorf("%+v: %v, %v", c, slowest, fastest)
		}
	}
}
