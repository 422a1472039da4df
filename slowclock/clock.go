package slowclock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Clock is a slow clock: its readings stay the same for a tick, and then change by it.
type Clock struct {
	*clock.Clock
	// TickNs is the time between two changes of the reading, in nanoseconds.
	TickNs float64

	unitsPerTick float64
}

// NewClock returns a clock of known tick. Its unit has to be known as well, and be no longer than
// the tick.
func NewClock(c *clock.Clock, tickNs float64) (Clock, error) {
	if !(c.UnitNs > 0) || !(tickNs >= c.UnitNs*(1-1e-9)) || math.IsInf(tickNs, 0) {
		return Clock{}, fmt.Errorf("%s counts in units of %g ns, and can't tick every %g ns: name a tick of one unit or more, of a clock whose unit is known", c.Name, c.UnitNs, tickNs)
	}
	return Clock{Clock: c, TickNs: tickNs, unitsPerTick: tickNs / c.UnitNs}, nil
}

// Coarsened makes a fine clock slow: it divides the clock's readings by the tick and rounds down.
// So it shows what a program without a better clock sees. The fine clock's rate has to be known.
func Coarsened(fine clock.Rated, tickNs float64) (Clock, error) {
	units := math.Round(tickNs / fine.TickNs.Value)
	if !(units >= 1) || units > math.MaxInt64/2 {
		return Clock{}, fmt.Errorf("%s moves in steps of %g ns, and can't be made to tick every %g ns: name a longer tick", fine.Name, fine.TickNs.Value, tickNs)
	}
	divisor := int64(units)
	description := *fine.Clock
	description.Name = fmt.Sprintf("%s/%d", fine.Name, divisor)
	description.API = fmt.Sprintf("%s, divided by %d", fine.API, divisor)
	description.UnitNs = units * fine.TickNs.Value
	read := fine.Clock.Read
	return NewClock(clock.New(description, func() int64 { return floorDiv(read(), divisor) }), description.UnitNs)
}

// floorDiv divides towards minus infinity, so that every tick is equally long.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ticks converts a difference of readings into ticks. Ticks are not always whole numbers of the
// clock's units, and the kernel stretches them slightly when it adjusts the date.
func (c Clock) ticks(units int64) int64 {
	if c.unitsPerTick == 1 {
		return units
	}
	return int64(math.Round(float64(units) / c.unitsPerTick))
}

// FindTick finds the tick of a clock in its readings: the shortest step that occurs often. It takes
// some ticks, or ends with ctx. The error says that the clock does not tick, or ticks in most of its readings.
func FindTick(ctx context.Context, c *clock.Clock) (Clock, error) {
	const steps, readingsPerLook = 24, 1 << 10
	if !(c.UnitNs > 0) {
		return Clock{}, fmt.Errorf("%s counts in units of unknown length: calibrate it, and divide its readings", c.Name)
	}
	var seen []float64
	readings := 0
	last := c.Read()
	for len(seen) < steps {
		if err := ctx.Err(); err != nil {
			if len(seen) == 0 {
				return Clock{}, errors.Join(fmt.Errorf("%s did not tick while it was watched: take another clock, or watch it for longer", c.Name), err)
			}
			break
		}
		for range readingsPerLook {
			now := c.Read()
			readings++
			if now > last {
				seen = append(seen, float64(now-last))
			}
			last = now
			if len(seen) == steps {
				break
			}
		}
	}
	if len(seen) == steps && readings < 2*steps {
		return Clock{}, fmt.Errorf("%s moves in most of its readings, so that these don't show its tick: take the time of the event with it as it is, or name a tick that is longer than a reading", c.Name)
	}
	// The thread may have lost its CPU for several ticks, and the kernel may have slewed the date.
	// So steps are whole multiples of a tick, except for some parts in a thousand.
	slices.Sort(seen)
	short := seen[:1]
	for len(short) < len(seen) && seen[len(short)] < 1.5*seen[0] {
		short = seen[:len(short)+1]
	}
	return NewClock(c, stats.Median(short)*c.UnitNs)
}
