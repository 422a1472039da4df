package cli

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/fstest"
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

// On a processor with two kinds of cores additions take 25 % longer on one kind. Every repetition was on a shared core.
func TestKindsOfCoresAreNotShared(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skip("there are no two CPUs:", err)
	}
	cpus = cpus[:2]
	root := fstest.MapFS{}
	for i, cpu := range cpus {
		root[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpu_capacity", cpu)] = &fstest.MapFile{Data: fmt.Appendln(nil, 1024>>i)}
	}
	shared := -1
	slowed := slowest(root, append(cpus, 1<<20), func() float64 {
		here, err := machine.Affinity()
		if err != nil || len(here) != 1 {
			t.Fatal("the probe is not on one CPU:", here, err)
		}
		times := 1.0
		if here[0] == cpus[1] {
			times = 1.25
		}
		if here[0] == shared {
			times *= 1.4
		}
		return times - 1
	})
	for _, c := range []struct {
		shared int
		want   float64
	}{{-1, 0}, {cpus[0], 0.4}, {cpus[1], 0.4}, {-1, 0}} {
		if shared = c.shared; math.Abs(slowed()-c.want) > 1e-9 {
			t.Errorf("CPU %d of %v is shared: slowed by %v, want %v", c.shared, cpus, slowed(), c.want)
		}
	}
	root = fstest.MapFS{"sys/devices/cpu_core/cpus": {Data: fmt.Appendln(nil, cpus[0])}, "sys/devices/cpu_atom/cpus": {Data: []byte("4000\n")}}
	if got := slowest(root, cpus, func() float64 { return 0.2 })(); got != 0 {
		t.Errorf("the second CPU came later, and its kind is not known: slowed by %v, want 0", got)
	}
}
