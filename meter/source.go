package meter

import (
	"errors"
	"fmt"
	"math"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Source is a clock with the properties that a meter needs. It comes from
// [KernelTick], [Counter] or [Own.Source].
type Source struct {
	clock *clock.Clock
	// tickNs is the length of a tick, perTick the difference that it makes to a reading.
	tickNs  float64
	perTick int64
	// unused is the number of upper bits of a reading that mean nothing.
	unused int
	// eachCall says that the tick is much shorter than any call, so that each call is timed.
	eachCall bool
	// vouched is the caller's statement why the clock is unbiased.
	vouched string
	// costNs is the clock's own cost inside of an interval; nil if it has to be measured.
	costNs *stats.Estimate
	// fine is a finer clock, in nanoseconds, which is read at rare calls to see at which place in the tick they
	// fall, and whether the coarse clock keeps time.
	fine func() int64
	// sameTime says that clock and fine show the same time, except that clock changes at its ticks only. So they
	// never drift apart.
	sameTime bool
}

// epoch is the zero of the finer clock.
var epoch = time.Now()

func goMonotonic() int64 { return int64(time.Since(epoch)) }

// KernelTick returns the clock that the kernel advances at each of its ticks, every 1 to 10 ms:
// CLOCK_MONOTONIC_COARSE (clock_gettime(2)), the cheapest clock there is. The error is a
// [*clock.Unavailable] if the system has none.
func KernelTick() (Source, error) { return kernelTick() }

// Counter returns a source whose ticks are shorter than the calls, such as the processor's counter. The
// caller has to have measured its rate and its agreement between CPUs. Each call is timed, so that
// there is a distribution as well.
func Counter(rated clock.Rated) (Source, error) {
	tick := rated.TickNs.Value
	switch {
	case rated.Clock == nil:
		return Source{}, errors.New("meter: a source without a clock: open one with clock.Open")
	case rated.Scope == clock.ScopeThread:
		return Source{}, fmt.Errorf("meter: %s counts for one thread, and a goroutine may stop on another than it started on: choose a clock of the machine", rated.Name)
	case !(tick > 0) || math.IsInf(tick, 0):
		return Source{}, fmt.Errorf("meter: a tick of %v ns for %s: calibrate it first (clock.Calibrate)", tick, rated.Name)
	}
	return Source{clock: rated.Clock, tickNs: tick, perTick: 1, eachCall: true, fine: goMonotonic}, nil
}

// Own is a coarse clock that the caller provides, for systems whose kernel offers none.
//
// A variable that a goroutine advances is not suitable. The goroutine runs while the measured code does not, so
// that the variable changes between calls rather than within them: the mean comes out far too small, or zero on
// a single processor, and nothing in the counts shows it.
type Own struct {
	// Name tells the clock from others; snapshots of one name and tick add up.
	Name string
	// Read returns a number that grows by one with each tick. Many goroutines call it at once.
	Read func() int64
	// Tick is the length of a tick.
	Tick time.Duration
	// Bits is the number of bits of a reading that wraps; 0 if readings never wrap. Calls
	// have to be shorter than half the time between two wraps.
	Bits int
	// Unbiased is the caller's statement why the clock advances whether or not
	// the measured code runs, such as "an interrupt handler advances it". The caveats
	// of every report contain it.
	Unbiased string
}

// Source checks the fields and returns the source. It can't check whether the clock is unbiased.
func (o Own) Source() (Source, error) {
	switch {
	case o.Read == nil:
		return Source{}, fmt.Errorf("meter: clock %q has no Read", o.Name)
	case o.Tick <= 0:
		return Source{}, fmt.Errorf("meter: clock %q has a tick of %v: say how long it is", o.Name, o.Tick)
	case o.Bits < 0 || o.Bits == 1 || o.Bits > 64:
		return Source{}, fmt.Errorf("meter: clock %q has readings of %d bits: choose 2 to 64, or 0 where it never wraps", o.Name, o.Bits)
	case o.Unbiased == "":
		return Source{}, fmt.Errorf("meter: clock %q: say in Unbiased why it advances whether or not the measured code runs; one that a goroutine advances does not", o.Name)
	}
	c := clock.New(clock.Clock{
		Name: o.Name, Runtime: "go", API: "of the caller", Kind: clock.KindWall,
		Scope: clock.ScopeProcess, UnitNs: float64(o.Tick),
	}, o.Read)
	unused := 0
	if o.Bits > 0 {
		unused = 64 - o.Bits
	}
	return Source{clock: c, tickNs: float64(o.Tick), perTick: 1, unused: unused, vouched: o.Unbiased, fine: goMonotonic}, nil
}

// between returns the difference of two readings; if readings wrap, the one nearer to 0.
func (s *Source) between(from, to int64) int64 { return (to - from) << s.unused >> s.unused }

// ticks converts a difference of readings to the nearest whole number of ticks. whole is false if it is
// off by more than an eighth of a tick, which shows that the clock's tick is not the given one.
func (s *Source) ticks(moved int64) (ticks int64, whole bool) {
	ticks = (moved + s.perTick/2) / s.perTick
	off := moved - ticks*s.perTick
	return ticks, 8*max(off, -off) <= s.perTick
}
