package clock

import (
	"math"
	"runtime"
	"testing"
	"time"

	"chronoscope/stats"
)

// Ten times as many rounds take longer, and no round takes no time, so the additions are
// executed.
func TestAdditionsTakeTime(t *testing.T) {
	if AdditionsInRound == 0 {
		t.Skip("no additions on " + runtime.GOARCH)
	}
	const rounds = 1_000_000
	Additions(0)
	Additions(-1)
	began := time.Now()
	Additions(rounds)
	// No core executes 100 additions per nanosecond.
	if took := time.Since(began); took < rounds*AdditionsInRound/100 {
		t.Errorf("%d additions took %v", rounds*AdditionsInRound, took)
	}
}

// The probe measures no rate above what the core can reach, and it needs a clock that advances.
func TestPortProbe(t *testing.T) {
	c, err := Open("monotonic-raw")
	if err != nil || AdditionsInRound == 0 {
		t.Skip("nothing to time the additions with: ", err)
	}
	defer c.Close()
	p, err := NewPortProbe(Rated{Clock: c, TickNs: stats.Estimate{Value: 1}})
	if err != nil {
		t.Skip(err)
	}
	if n := testing.AllocsPerRun(10, func() { p.Slowed() }); n > 0 {
		t.Errorf("a look allocates %v times", n)
	}
	if slowed := p.Slowed(); math.IsNaN(slowed) || math.IsInf(slowed, 0) || slowed < -1 {
		t.Errorf("the additions are slowed by %v", slowed)
	}
	if _, err := NewPortProbe(Rated{Clock: New(Clock{Name: "standing"}, func() int64 { return 5 }), TickNs: stats.Estimate{Value: 1}}); err == nil {
		t.Error("a clock that stands still tells whether the core is shared")
	}
}

// A core makes 1 to 10 additions a cycle; any other number is an error.
func TestAdditionsPerCycle(t *testing.T) {
	if n := AdditionsPerCycle(); !math.IsNaN(n) && (n < 1 || n > 10) {
		t.Errorf("%v additions a cycle", n)
	}
}
