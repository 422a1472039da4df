package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// simulatedTimer is a timer that a probe simulates, with its true properties.
type simulatedTimer struct {
	name                      string
	unitNs, quantumNs, costNs float64
	digits                    int
}

// Timers of any quantum and cost behind the protocol are ranked within 1 % of the truth, or not
// trusted (the probe is a process, and may also have to wait for a CPU). Some are finer than their
// cost, and time themselves; others are coarser, and another timer times them. They count in whole
// units and in fractions of one.
func TestSimulatedProbe(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	timers := []simulatedTimer{
		{"reference", 1, 0.5, 20, 1}, {"fine", 1, 0.4, 25, 3}, {"ten", 1, 10, 25, 0}, {"third", 1, 41.6667, 300, 0},
		{"slow", 1, 10, 3000, 0}, {"micro", 1000, 1000, 40, 0}, {"coarse", 1, 4e6, 25, 0}, {"millis", 1e6, 15e6, 7, 3},
	}
	rng := rand.New(rand.NewPCG(1, 9))
	between := func(least, most float64) float64 { return least * math.Pow(most/least, rng.Float64()) }
	for i := range clocktest.Cases(t, 4) {
		quantumNs := between(2, 1e6)
		unitNs := []float64{1, quantumNs}[i%2]
		timers = append(timers, simulatedTimer{fmt.Sprintf("random%d", i), unitNs, quantumNs, between(5, 3000), 0})
	}
	command := python + " ../probe/testdata/simulated.py"
	for _, s := range timers {
		command += fmt.Sprintf(" %s:%.17g:%.17g:%g:%d", s.name, s.unitNs, s.quantumNs, s.costNs, s.digits)
	}
	var d record.Clocks
	if err := json.Unmarshal(output(t, "clocks", "--format", "json", "--probe", command, "go-time-now"), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Runtimes) != 1 || d.Runtimes[0].Name != "simulated" || d.Runtimes[0].Version != "1" {
		t.Errorf("runtimes %+v", d.Runtimes)
	}
	for _, s := range timers {
		c, err := rated(d, "simulated/"+s.name)
		if err != nil {
			t.Error(err, d.Unavailable)
			continue
		}
		if off := c.Accuracy.Value/s.quantumNs - 1; math.Abs(off) > 0.01 && c.Verdict == stats.Trusted {
			t.Errorf("%s: accuracy %g ns (%g to %g), want %g, %s %q", s.name, c.Accuracy.Value, c.Accuracy.Lo, c.Accuracy.Hi, s.quantumNs, c.Verdict, c.Reasons)
		}
		if !c.Cost.MedianNs.Known() {
			t.Errorf("%s: no cost: %q", s.name, c.Reasons)
			continue
		}
		if off := c.Cost.MedianNs.Value()/s.costNs - 1; math.Abs(off) > 0.01 && c.Verdict == stats.Trusted {
			t.Errorf("%s: cost %g ns, want %g", s.name, c.Cost.MedianNs.Value(), s.costNs)
		}
		if d.Machine.CoreHz == nil || c.Quality.Or(0) == 0 {
			continue // the core's rate is not known, or the machine disturbed the simulation
		}
		cycles := *d.Machine.CoreHz / 1e9
		want := timermeter.Quality(s.quantumNs*cycles, s.costNs*cycles, c.Spread.Value())
		if !(math.Abs(c.Quality.Value()/want-1) <= 0.01) && c.Verdict == stats.Trusted {
			t.Errorf("%s: quality %.4f, want %.4f, with a cost of %g ns", s.name, c.Quality.Value(), want, c.Cost.MedianNs.Value())
		}
	}
}
