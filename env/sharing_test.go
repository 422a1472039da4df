package env

import (
	"math/rand/v2"
	"testing"
)

// What is not seen between two probes is simulated: sharing begins and ends at random, and the cores that were
// not shared at either end of a sample were shared for this share of the time between.
func TestUnseenSharing(t *testing.T) {
	for _, c := range []struct{ idle, busy float64 }{{10, 10}, {3, 1}, {1, 3}, {0.3, 0.2}, {0.02, 0.03}} { // in samples
		rng := rand.New(rand.NewPCG(11, 12))
		s := Sharing{Of: 100_000}
		shared, until := false, 0.0
		next := func() {
			shared = !shared
			until += rng.ExpFloat64() * map[bool]float64{true: c.busy, false: c.idle}[shared]
		}
		var unseen, apart float64
		for i := range s.Of {
			at, end := float64(i), float64(i+1)
			for until <= at {
				next()
			}
			before, sharedFor := shared, 0.0
			for until <= end {
				if shared {
					sharedFor += until - at
				}
				at = until
				next()
			}
			if shared {
				sharedFor += end - at
			}
			switch {
			case before || shared:
				s.Samples++
				if before != shared {
					s.Within++
				}
			default:
				unseen, apart = unseen+sharedFor, apart+1
			}
		}
		if got, want := s.Unseen(), unseen/apart; got < 0.95*want-0.01 || got > 1.4*want+0.01 { // where it comes and goes often, more is said
			t.Errorf("%+v: %.4f, simulated %.4f (%+v)", c, got, want, s)
		}
	}
	if got := (Sharing{Of: 10}).Unseen() + (Sharing{Of: 10, Samples: 10}).Unseen(); got != 0 {
		t.Errorf("without changes %v", got)
	}
}
