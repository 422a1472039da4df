package check

import (
	"math"
	"testing"
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
		if len(r.Skipped) == 0 {
			t.Error("nothing says what could not be judged")
		}
	}
}
