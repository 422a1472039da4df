package env

import (
	"math"
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

// Work takes 30 % longer while something shares the core, which is simulated as above. Samples of which both ends are shared
// were not shared all the time, and others were for a part: the medians say rather more. Where sharing comes and goes within
// samples, nothing tells.
func TestCostsOfSharing(t *testing.T) {
	const slower = 0.3
	for _, c := range []struct {
		idle, busy float64 // in samples
		told       bool
	}{{10, 10, true}, {3, 1, true}, {1, 3, true}, {1, 1, true}, {0.1, 0.1, false}, {0.02, 0.03, false}} {
		rng := rand.New(rand.NewPCG(13, 14))
		shared, until := false, 0.0
		var samples []Probed
		for i := range 20_000 {
			at, end, sharedFor := float64(i), float64(i+1), 0.0
			probe := map[bool]float64{true: 0.5}
			p := Probed{SlowedBefore: probe[shared]}
			for at < end {
				if until <= at {
					until = at + rng.ExpFloat64()*map[bool]float64{false: c.idle, true: c.busy}[shared]
				}
				next := min(end, until)
				if shared {
					sharedFor += next - at
				}
				if at = next; at == until {
					shared = !shared
				}
			}
			p.SlowedAfter, p.Ns = probe[shared], 1+slower*sharedFor
			samples = append(samples, p)
		}
		if got := SharingOf(samples, 4, 0.01).Costs; c.told && !(got > 0.85*slower && got < 1.5*slower) || !c.told && !math.IsNaN(got) {
			t.Errorf("%+v: costs %v, simulated %v", c, got, slower)
		}
	}
}
