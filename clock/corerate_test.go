package clock

import (
	"runtime"
	"strings"
	"testing"
)

// No core runs below 10 MHz or above 20 GHz. This holds on any machine, even under emulation and
// load.
func TestCoreRateIsThatOfACore(t *testing.T) {
	c, err := Open("monotonic-raw")
	if err != nil || coreOperationCycles == 0 {
		t.Skip("nothing to time the chain with: ", err)
	}
	defer c.Close()
	hz, err := CoreRate(c, rateOf(t, 1e9))
	if err != nil {
		t.Skip(err)
	}
	if hz.Unit != "Hz" || !(hz.Lo <= hz.Value && hz.Value <= hz.Hi) || hz.Lo < 1e7 || hz.Hi > 2e10 {
		t.Errorf("the core's rate is %+v", hz)
	}
}

// CoreRate returns an error for a simulated clock that does not advance during a chain.
func TestCoreRateRefusesACoarseClock(t *testing.T) {
	if coreOperationCycles == 0 {
		t.Skip("no chain on " + runtime.GOARCH)
	}
	c := New(Clock{Name: "standing"}, func() int64 { return 5 })
	if _, err := CoreRate(c, rateOf(t, 1e9)); err == nil || !strings.Contains(err.Error(), "standing") {
		t.Errorf("the error is %v", err)
	}
}

func TestCoreRateOfAKnownCore(t *testing.T) {
	if coreOperationCycles == 0 {
		t.Skip("no chain on " + runtime.GOARCH)
	}
	// Each operation of a chain takes 1 tick on this core, and a reading takes 40 ticks: the
	// core's rate is coreOperationCycles times the rate of the ticks.
	now, chains := int64(0), 0
	c := New(Clock{Name: "simulated"}, func() int64 { now++; return now })
	c.start = func() int64 { return now }
	c.end = func() int64 {
		now += 40 + int64(coreShortRounds*coreRoundOperations*(1+chains%2))
		chains++
		return now
	}
	hz, err := CoreRate(c, rateOf(t, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	if want := 1e9 * float64(coreOperationCycles); hz.Value != want || !hz.Covers(want) {
		t.Errorf("the core's rate is %+v, want %g", hz, want)
	}
}
