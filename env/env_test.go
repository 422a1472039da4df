package env

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// collectorPercent returns the setting of the garbage collector without changing it.
func collectorPercent() int {
	percent := debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	return percent
}

func TestHold(t *testing.T) {
	before := collectorPercent()
	for _, cpus := range [][]int{nil, lastCPU(t)} {
		release, err := Hold(cpus...)
		if err != nil {
			t.Fatal(err)
		}
		if collectorPercent() >= 0 {
			t.Error("the collector may run while it is held")
		}
		if now, err := machine.Affinity(); err == nil && cpus != nil && !slices.Equal(now, cpus) {
			t.Errorf("the thread may run on CPUs %v, want %v", now, cpus)
		}
		release()
		if collectorPercent() != before {
			t.Errorf("the collector is set to %d, want %d as before", collectorPercent(), before)
		}
	}
}

// lastCPU returns one CPU that this thread may use, or none if threads can't be bound.
func lastCPU(t *testing.T) []int {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Log(err)
		return nil
	}
	return cpus[len(cpus)-1:]
}

// If a CPU does not exist, Hold holds nothing.
func TestHoldWithoutItsCPU(t *testing.T) {
	before := collectorPercent()
	if _, err := Hold(1 << 20); err == nil {
		t.Error("a CPU that is not there was given")
	}
	if collectorPercent() != before {
		t.Error("the collector stays held")
	}
}

func TestOpen(t *testing.T) {
	c, err := Open(context.Background(), 2*time.Millisecond, Clocks()...)
	if err != nil {
		t.Fatal(err) // go-time-now exists on each system
	}
	defer c.Close()
	if !(c.TickNs.Lo > 0 && c.TickNs.Lo <= c.TickNs.Value && c.TickNs.Value <= c.TickNs.Hi) || c.AccuracyNs < c.TickNs.Value {
		t.Errorf("a tick of %+v, an accuracy of %v ns", c.TickNs, c.AccuracyNs)
	}
	if hz := c.Rate.Hz.Value; math.Abs(hz*c.TickNs.Value/1e9-1) > 1e-9 {
		t.Errorf("%v Hz and a tick of %v ns", hz, c.TickNs.Value)
	}
}

func TestOpenSaysWhyNot(t *testing.T) {
	var unknown *clock.UnknownName
	if _, err := Open(context.Background(), time.Millisecond, "sundial"); !errors.As(err, &unknown) || unknown.Name != "sundial" {
		t.Errorf("%v", err)
	}
	if c, err := Open(context.Background(), time.Millisecond, "sundial", "go-time-now"); err != nil || c.Name != "go-time-now" {
		t.Errorf("%v, %v: the second was there", c.Clock, err)
	}
	if _, err := Open(context.Background(), time.Millisecond); err == nil || strings.Contains(err.Error(), "%!") {
		t.Errorf("without names: %v", err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := Open(ended, time.Millisecond, "sundial", "hourglass"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// scripted returns a clock with ticks of 1 ns that shows the given readings again and again.
func scripted(readings ...int64) clock.Rated {
	next := 0
	c := clock.New(clock.Clock{Name: "scripted", UnitNs: 1}, func() int64 {
		next++
		return int64(next/len(readings))*readings[len(readings)-1] + readings[next%len(readings)]
	})
	return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: 1, Lo: 1, Hi: 1}}
}

// A clock that shows multiples of 40 ns is read every 10 ns: the median step that is not 0 is 40 ns,
// and most calls take no time.
func TestReadingCost(t *testing.T) {
	c, err := ReadingCost(scripted(0, 0, 0, 0, 40, 40, 40, 40, 80))
	if err != nil || c.AccuracyNs != 40 || c.MinCostNs != 0 || c.MedianCostNs != 0 || c.P95CostNs != 40 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := ReadingCost(scripted(0)); err == nil {
		t.Error("a clock that stands still has a cost")
	}
}

func TestFollowCore(t *testing.T) {
	c, err := Open(context.Background(), 2*time.Millisecond, Clocks()...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	core := FollowCore(c)
	if core.Spin == nil {
		t.Fatal("there is nothing to spin")
	}
	core.Spin()
	if core.CoreHz == nil {
		t.Skip("the core's rate can't be measured here")
	}
	if hz := core.CoreHz(); !(hz > 0) || math.IsInf(hz, 1) || !(core.CoreHzError >= 0) {
		t.Errorf("%v Hz, off by %v", hz, core.CoreHzError)
	}
	if got := testing.AllocsPerRun(10, func() { core.CoreHz(); core.Spin() }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// FollowCore returns no CoreHz for a clock whose tick is not known.
func TestFollowCoreWithoutTick(t *testing.T) {
	c := scripted(0, 1)
	c.TickNs = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	if core := FollowCore(c); core.CoreHz != nil {
		t.Error("it tells a rate")
	}
}
