package cli

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"chronoscope/clock"
	"chronoscope/machine"
)

// How often something else used a core decides how grave that is.
func TestSharedCoresFinding(t *testing.T) {
	for want, c := range map[machine.Severity]struct {
		shared [2]float64
		says   string
	}{
		machine.OK:      {[2]float64{0, 0.01}, "nothing else uses the cores"},
		machine.Note:    {[2]float64{0.05, 0}, "in 5.0 % of the looks something else used the core of CPU 0, and independent instructions took 50 % longer"},
		machine.Warning: {[2]float64{0, 0.7}, "in 70 % of the looks something else used the core of CPU 1"},
	} {
		got := sharedCoresFinding([]probedCore{{0, c.shared[0], 0.5}, {1, c.shared[1], 0.5}})
		if got.Severity != want || !strings.HasPrefix(got.Seen, c.says) || (got.Fix == "") != (want == machine.OK) {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

// A core of this machine can be probed wherever there are independent additions.
func TestProbeCores(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || clock.AdditionsInRound == 0 {
		t.Skipf("CPUs %v, %v, on %s", cpus, err, runtime.GOARCH)
	}
	cores, err := probeCores(context.Background(), cpus[:1])
	if err != nil || len(cores) != 1 || cores[0].shared < 0 || cores[0].shared > 1 || cores[0].slowed < 0 {
		t.Errorf("%+v, %v", cores, err)
	}
}
