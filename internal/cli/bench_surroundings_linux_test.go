package cli

import (
	"context"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// A device interrupts one of the CPUs only. The looks at the noise were all on the last one, so that what it took there was
// taken off whatever CPU the benchmark had, and what it took elsewhere was not.
func TestEachCPUIsWatched(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skip("there are no two CPUs:", err)
	}
	began, readOn := time.Now(), map[int]bool{}
	readings := clock.New(clock.Clock{Name: "readings", Kind: clock.KindWall}, func() int64 {
		if cpu, err := machine.CurrentCPU(); err == nil {
			readOn[cpu] = true
		}
		return int64(time.Since(began))
	})
	here := &surroundings{cpu: cpus[len(cpus)-1], cpus: cpus, counter: clock.Rated{Clock: readings, TickNs: stats.Estimate{Value: 1}}}
	checks := here.checks()
	for i := range cpus {
		clear(readOn)
		checks.Watch(context.Background(), time.Microsecond)
		if want := cpus[len(cpus)-1-i]; len(readOn) != 1 || !readOn[want] {
			t.Errorf("look %d of %v was on %v, want %d", i, cpus, readOn, want)
		}
	}
}
