package timermeter

import (
	"math"
	"testing"

	"chronoscope/clock/clocktest"
)

// A counter whose readings a hypervisor traps is as fine as before, but expensive, and its rank is
// accordingly lower.
func TestTrappedCounterRanksLow(t *testing.T) {
	for seed := range uint64(10) {
		m := clocktest.NewMachine(seed)
		timer := counter(m)
		trapped := &clocktest.Clock{Machine: m, QuantumNs: 100, UnitNs: 1, Cost: clocktest.Constant(1500)}
		direct := &clocktest.Clock{Machine: m, QuantumNs: 100, UnitNs: 1, Cost: clocktest.Constant(25)}
		ratings, err := Rank(background, []Candidate{candidate("trapped", trapped, timer), candidate("direct", direct, timer)}, QuickPlan, bench(m, timer, seed))
		if err != nil || len(ratings) != 2 {
			t.Fatalf("seed %d: %d ratings, %v", seed, len(ratings), err)
		}
		if last := ratings[1]; last.Name != "trapped" || math.Abs(last.Cycles.Cost.Value()-4500) > 500 {
			t.Errorf("seed %d: last is %s, whose reading takes %v cycles", seed, last.Name, last.Cycles.Cost)
		}
	}
}
