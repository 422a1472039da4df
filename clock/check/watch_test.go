package check

import (
	"math"
	"testing"

	"chronoscope/stats"
)

// A process whose CPU time is limited sees so few updates of a coarse clock that its accuracy is not known. Such a clock
// was judged as if each of its updates of 4 ms were a fault.
func TestUnknownAccuracyIsNoFault(t *testing.T) {
	for _, accuracy := range []float64{math.NaN(), math.Inf(1)} {
		s := newSimulation(1)
		c := fine()
		c.QuantumNs = 4e6
		s.add("monotonic-coarse", c).AccuracyNs = accuracy
		s.add("counter", fine()).AccuracyNs = accuracy
		r := s.run(t.Context())
		if bad := faults(r); len(bad) > 0 {
			t.Errorf("accuracy %g: %s", accuracy, texts(bad))
		}
		for _, clock := range []string{"monotonic-coarse", "counter"} {
			for _, q := range []Question{Stuck, Stepped, RateChange, Drift, CPUOffset} {
				if of(r, clock, q) != nil {
					t.Errorf("accuracy %g: %s of %s was judged", accuracy, q, clock)
				}
			}
		}
		stuck := fine()
		stuck.Faults.StuckFromNs, stuck.Faults.StuckToNs = -1, math.Inf(1)
		s = newSimulation(1)
		s.add("monotonic-raw", fine())
		s.add("constant", stuck).AccuracyNs = accuracy
		if found := of(s.run(t.Context()), "constant", Stuck); found == nil || found.Verdict != stats.Unusable {
			t.Errorf("accuracy %g: a clock that stands still is not found: %+v", accuracy, found)
		}
		if len(r.Skipped) == 0 {
			t.Error("nothing says what could not be judged")
		}
	}
}
