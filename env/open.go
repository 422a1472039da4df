package env

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Clocks returns the names of the clocks with which to measure time, the best first: counters, which
// are cheap to read and which nothing adjusts, before the system's clocks.
func Clocks() []string {
	return append(clock.BareCounters(), "monotonic-raw", "monotonic", "go-time-now")
}

// Open opens the first of the named clocks that can be used, and finds the length of its tick:
// the clock's unit if the operating system reports scaled time, otherwise the result of a
// calibration that takes the given time. The accuracy of the result is one tick, and its cost is
// unknown; [ReadingCost] measures both. The caller closes the clock.
//
// The error is that of the last clock that was tried, or that of ctx if ctx has ended.
func Open(ctx context.Context, calibration time.Duration, names ...string) (clock.Rated, error) {
	var last error
	for _, name := range names {
		c, err := clock.Open(name)
		if err == nil {
			var rated clock.Rated
			if rated, err = Rate(ctx, c, calibration); err == nil {
				return rated, nil
			}
			c.Close()
		}
		if ctx.Err() != nil {
			return clock.Rated{}, ctx.Err()
		}
		last = err
	}
	switch len(names) {
	case 0:
		return clock.Rated{}, errors.New("no clock to open: name some, such as those of env.Clocks")
	case 1:
		return clock.Rated{}, last
	}
	return clock.Rated{}, fmt.Errorf("none of the clocks %s can be used; the last one: %w", strings.Join(names, ", "), last)
}

// Rate finds the length of the tick of an open clock, as [Open] does.
func Rate(ctx context.Context, c *clock.Clock, calibration time.Duration) (clock.Rated, error) {
	if c.UnitNs > 0 {
		unit := stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs, Unit: "ns", Statistic: "given"}
		hz := stats.Estimate{Value: 1e9 / c.UnitNs, Lo: 1e9 / c.UnitNs, Hi: 1e9 / c.UnitNs, Unit: "Hz", Statistic: "given"}
		of, err := clock.NewRate(hz)
		return clock.Rated{Clock: c, TickNs: unit, Rate: of, AccuracyNs: c.UnitNs}, err
	}
	of, err := clock.Calibrate(ctx, c, nil, calibration)
	if err != nil {
		return clock.Rated{}, err
	}
	tick := of.Tick()
	return clock.Rated{Clock: c, TickNs: tick, Rate: of, AccuracyNs: tick.Hi}, nil
}

// costReadings is a number of readings that is enough for the 95th percentile of a reading's cost.
const costReadings = 4096

// ReadingCost measures the cost of a reading of the clock. It takes the median step between readings
// that differ as an upper bound of the clock's accuracy. The least step would be wrong, because some
// processors raise a reading that would repeat by one tick. ReadingCost returns an error if the clock
// did not move in [costReadings] readings.
func ReadingCost(c clock.Rated) (clock.Rated, error) {
	ticks := make([]int64, costReadings)
	c.Chain(0, ticks)
	var steps, moves []float64
	for i := 1; i < len(ticks); i++ {
		step := c.Ns(ticks[i] - ticks[i-1])
		steps = append(steps, step)
		if step > 0 {
			moves = append(moves, step)
		}
	}
	if len(moves) == 0 {
		return c, fmt.Errorf("%s did not move in %d readings: it is too coarse, choose another clock", c.Name, costReadings)
	}
	slices.Sort(steps)
	c.AccuracyNs = stats.Median(moves)
	c.MinCostNs, c.MedianCostNs, c.P95CostNs = steps[0], stats.Quantile(steps, 0.5), stats.Quantile(steps, 0.95)
	return c, nil
}
