package cli

import (
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// A synchronised clock is the default reference only where it tells a rate, and never of a clock that the
// same service steers. Otherwise the default is monotonic-raw, which nobody steers.
func TestDefaultReference(t *testing.T) {
	of := func(name string, kind clock.Kind, offPPM float64) clock.Rated {
		c := clock.New(clock.Clock{Name: name, Kind: kind, CountsSleep: clock.Yes, UnitNs: 1}, func() int64 { return 0 })
		return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: 1, Lo: 1 - offPPM/1e6, Hi: 1 + offPPM/1e6}, AccuracyNs: 1}
	}
	clocks := []clock.Rated{of("tsc", clock.KindCounter, 1), of("monotonic", clock.KindWall, 0), of("monotonic-raw", clock.KindWall, 0)}
	for _, c := range []struct {
		counter, asked string
		offPPM         float64 // of the synchronised clock
		want, says     string
	}{
		{"tsc", "", 20, fidelity.Synchronised, ""},
		{"tsc", "", 13_900, "monotonic-raw", "realtime-synchronised is no reference for so short a test: it tells a rate to ± 1.4 % only, and ± 0.020 % is needed"},
		{"tsc", fidelity.Synchronised, 13_900, fidelity.Synchronised, ""},
		{"monotonic", "", 20, "monotonic-raw", ""},
	} {
		plan := fidelity.Plan{OtherNs: []float64{1e9}, OtherRepeats: 10}
		e := trustExperiment{plan: plan, flags: &fidelityFlags{reference: c.asked, workloads: []fidelity.Workload{{Name: fidelity.Fibonacci}}}}
		call := &call{header: &record.Header{Machine: &machine.Machine{Clocksource: "tsc"}}}
		counter, err := pick(clocks, nil, "--counter", c.counter)
		if err != nil {
			t.Fatal(err)
		}
		independent := []fidelity.Reference{{Rated: of(fidelity.Synchronised, clock.KindWall, c.offPPM)}}
		got, err := e.reference(call, counter, clocks, nil, independent)
		if said := strings.Join(call.header.Caveats, "; "); err != nil || got.Name != c.want || !strings.Contains(said, c.says) || (said != "") != (c.says != "") {
			t.Errorf("%s, %v ppm: %v, %v, %q; want %s, %q", c.counter, c.offPPM, got.Clock, err, said, c.want, c.says)
		}
		if lasts := e.plan.Lasts(e.flags.workloads); lasts != 10*time.Second {
			t.Fatal(lasts)
		}
	}
}
