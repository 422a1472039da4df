package kbest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Setting is what is known beforehand of where is measured. The zero value knows
// nothing.
type Setting struct {
	// Clock to measure with; where it holds none, a counter is calibrated.
	Clock clock.Rated
	// Noise of the CPU, as a trace of its activity shows it.
	Noise machine.Noise
}

// preferred are clocks to measure with, the best first: counters that cost little
// and that nobody steers, before what the system offers.
var preferred = []string{"tsc", "cntvct", "monotonic-raw", "monotonic", "go-time-now"}

// Times to look at a clock and at the core, before a measurement.
const (
	calibration  = 5 * time.Millisecond
	costReadings = 4096
	coreChainNs  = 6e3
	coreChains   = 3 // of which the fastest counts
	coreTries    = 64
	// coreCalibrations of the chain show how far each is off.
	coreCalibrations = 3
)

// Here is the station of the calling goroutine: it locks it to its thread, opens
// what the kernel counts of that, calibrates a counter where none is given, and
// keeps the garbage collector from running within a trial, until release is called
// on the same goroutine: defer it, so that it is also called when a subject panics.
// What can't be had is left out of the station. It takes some 30 ms.
func Here(ctx context.Context, setting Setting) (station *Station, release func(), err error) {
	var undo []func()
	release = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
		undo = nil
	}
	runtime.LockOSThread()
	undo = append(undo, runtime.UnlockOSThread)
	s := &Station{Clock: setting.Clock, Noise: setting.Noise}
	if s.Clock.Clock == nil {
		if s.Clock, err = rated(ctx); err != nil {
			release()
			return nil, nil, err
		}
		undo = append(undo, func() { s.Clock.Close() })
	}
	if thread, err := machine.OpenThread(); err == nil {
		undo = append(undo, func() { thread.Close() })
		s.Use = thread.Look
	}
	if counter, err := clock.Open("perf-cycles"); err == nil {
		undo = append(undo, func() { counter.Close() })
		s.Counted = counter.Read
	}
	undo = append(undo, s.askForTurns())
	s.timeCore()
	undo = append(undo, s.holdCollector())
	return s, release, nil
}

// rated opens and calibrates the first of the preferred clocks that is there.
func rated(ctx context.Context) (clock.Rated, error) {
	var last error
	for _, name := range preferred {
		c, err := clock.Open(name)
		if err == nil {
			var r clock.Rated
			if r, err = rate(ctx, c); err == nil {
				return r, nil
			}
			c.Close()
		}
		if ctx.Err() != nil {
			return clock.Rated{}, ctx.Err()
		}
		last = err
	}
	return clock.Rated{}, fmt.Errorf("kbest: none of the clocks %v can be used: the last said: %w; give a clock", preferred, last)
}

// rate measures what is needed of a clock. The typical step between readings that
// differ bounds the accuracy from above; the least does not, as some processors
// raise a reading that would repeat by one tick.
func rate(ctx context.Context, c *clock.Clock) (clock.Rated, error) {
	r := clock.Rated{Clock: c, TickNs: stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs, Unit: "ns"}}
	if c.UnitNs == 0 {
		calibrated, err := clock.Calibrate(ctx, c, nil, calibration)
		if err != nil {
			return r, err
		}
		hz := calibrated.Hz
		r.TickNs = stats.Estimate{Value: 1e9 / hz.Value, Lo: 1e9 / hz.Hi, Hi: 1e9 / hz.Lo, Unit: "ns", Statistic: hz.Statistic, N: hz.N}
	}
	ticks := make([]int64, costReadings)
	c.Chain(0, ticks)
	var steps, moves []float64
	for i := 1; i < len(ticks); i++ {
		step := r.Ns(ticks[i] - ticks[i-1])
		steps = append(steps, step)
		if step > 0 {
			moves = append(moves, step)
		}
	}
	if len(moves) == 0 {
		return r, fmt.Errorf("kbest: %s did not move in %d readings: it is too coarse", c.Name, costReadings)
	}
	slices.Sort(steps)
	r.AccuracyNs = stats.Median(moves)
	r.MinCostNs, r.MedianCostNs, r.P95CostNs = steps[0], stats.Quantile(steps, 0.5), stats.Quantile(steps, 0.95)
	return r, nil
}

// timeCore calibrates a short chain against the core's rate, where that can be
// measured: a few times in turn, since the rate may change in between.
func (s *Station) timeCore() {
	tick := s.Clock.TickNs
	rate, err := clock.NewRate(stats.Estimate{Value: 1e9 / tick.Value, Lo: 1e9 / tick.Hi, Hi: 1e9 / tick.Lo})
	if err != nil {
		return
	}
	rounds := s.roundsFor(coreChainNs)
	s.Spin = func() { clock.Spin(rounds) }
	var cycles []float64
	for range coreCalibrations {
		core, err := clock.CoreRate(s.Clock.Clock, rate)
		if err != nil {
			return
		}
		cycles = append(cycles, s.fastChainNs(rounds)*core.Value/1e9)
		s.CoreHzError = math.Max(s.CoreHzError, core.RelativeHalfWidth())
	}
	slices.Sort(cycles)
	chain := stats.Quantile(cycles, 0.5)
	s.CoreHzError += (cycles[len(cycles)-1] - cycles[0]) / 2 / chain
	s.CoreHz = func() float64 { return chain / s.chainNs(rounds, coreChains) * 1e9 }
}

// fastChainNs is what a chain takes when the core is fast, which is when its rate
// was measured.
func (s *Station) fastChainNs(rounds int) float64 {
	var chains []float64
	for range coreTries {
		chains = append(chains, s.chainNs(rounds, coreChains))
	}
	slices.Sort(chains)
	return stats.Quantile(chains, 0.1)
}

// roundsFor is how many rounds of a chain take so long.
func (s *Station) roundsFor(ns float64) int {
	const probe = 1000
	return max(1, int(probe*ns/s.chainNs(probe, coreTries)))
}

// chainNs is the least that a chain takes in so many tries.
func (s *Station) chainNs(rounds, tries int) float64 {
	least := inf
	for range tries {
		start := s.Clock.Start()
		clock.Spin(rounds)
		least = math.Min(least, s.Clock.Ns(s.Clock.End()-start))
	}
	return math.Max(least, s.Clock.TickNs.Value)
}

// askForTurns finds out whether this thread may ask for long time slices.
func (s *Station) askForTurns() (restore func()) {
	usual, err := machine.AskForTurns(machine.LongTurns)
	if err != nil {
		return func() {}
	}
	restore = func() { _, _ = machine.AskForTurns(usual) }
	restore()
	var asked bool
	s.Turns = func(long bool) {
		turns := usual
		if long {
			turns = machine.LongTurns
		}
		if long != asked {
			_, _ = machine.AskForTurns(turns) // what it really gets shows in the samples
		}
		asked = long
	}
	return restore
}

// mostGarbage is how much may be left lying before it is collected between two
// trials; several times as much ends in a collection within one, which is then
// rejected.
const mostGarbage = 128 << 20

// holdCollector lets the garbage collector run between trials only, as long as a
// trial does not allocate more than the machine may have.
func (s *Station) holdCollector() (restore func()) {
	seen := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/heap/objects:bytes"}}
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	read := func(i int) uint64 {
		metrics.Read(seen)
		if seen[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return seen[i].Value.Uint64()
	}
	runtime.GC()
	atFirst := read(1)
	restore = machine.HoldCollector(int64(atFirst) + 8*mostGarbage)
	s.Collections = func() int64 { return int64(read(0)) }
	s.Allocated = func() int64 {
		metrics.Read(allocated)
		if allocated[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(allocated[0].Value.Uint64())
	}
	s.Settle = func() {
		if read(1) > atFirst+mostGarbage {
			runtime.GC()
		}
	}
	return restore
}
