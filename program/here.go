package program

import (
	"context"
	"math"
	"os"
	"runtime"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
)

// How long Here looks at things.
const (
	calibration = 20 * time.Millisecond
	// roughly is how long the counter is calibrated to begin with, to some parts in 10,000:
	// enough to watch by, while it is calibrated well.
	roughly = time.Millisecond
	// glance is how long the CPU is watched between two looks at what the kernel counts.
	glance = 500 * time.Microsecond
)

// Here fills in what the setting does not say, within some 40 ms: it calibrates the
// processor's counter, by which it lets interrupts be watched, and finds how the kernel counts
// CPU time. What can't be had stays empty. release gives back what was opened. The error is
// that of ctx.
func Here(ctx context.Context, given Setting) (setting Setting, release func(), err error) {
	setting, release = given, func() {}
	if setting.Root == nil {
		setting.Root = os.DirFS("/")
	}
	if setting.CPUs == 0 {
		setting.CPUs = runtime.NumCPU()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if setting.Counting == (Counting{}) {
		setting.Counting = counting()
	}
	counter, rate := openCounter(ctx)
	if counter == nil {
		return setting, release, ctx.Err()
	}
	release = func() { counter.Close() }
	finer := make(chan clock.Rate, 1)
	go func() {
		if better, err := clock.Calibrate(ctx, counter, nil, calibration); err == nil {
			finer <- better
		}
		close(finer)
	}()
	if better, ok := <-finer; ok {
		rate = better
	}
	if setting.CounterHz == 0 {
		setting.CounterHz = rate.Hz.Value
	}
	if setting.CoreHz == nil {
		setting.CoreHz = coreHz(counter, rate)
	}
	if setting.Watch == nil {
		setting.Watch = func(ctx context.Context, span time.Duration) machine.Noise { return watch(ctx, counter, rate, span) }
	}
	return setting, release, ctx.Err()
}

// openCounter opens the processor's counter and calibrates it roughly; nil where there is none.
func openCounter(ctx context.Context) (*clock.Clock, clock.Rate) {
	for _, name := range []string{"tsc", "cntvct"} {
		c, err := clock.Open(name)
		if err != nil {
			continue
		}
		rate, err := clock.Calibrate(ctx, c, nil, roughly)
		if err == nil {
			return c, rate
		}
		c.Close()
	}
	return nil, clock.Rate{}
}

// Rounds of the chain by which the core's rate is followed, and how often it is tried.
const chainRounds, chainTries = 4000, 5

// coreHz measures the core's rate once, and afterwards tells it by a chain of operations
// that takes some microseconds; nil where it can't be measured.
func coreHz(c *clock.Clock, rate clock.Rate) func() float64 {
	hz, err := clock.CoreRate(c, rate)
	if err != nil {
		return nil
	}
	chain := func() float64 {
		least := math.Inf(1)
		for range chainTries {
			begun := c.Start()
			clock.Spin(chainRounds)
			least = math.Min(least, float64(c.End()-begun))
		}
		return least
	}
	fast := math.Inf(1)
	for range 10 {
		fast = math.Min(fast, chain())
	}
	return func() float64 { return hz.Value * fast / chain() }
}

// watch watches for so long what takes the CPU away from this thread.
func watch(ctx context.Context, c *clock.Clock, rate clock.Rate, span time.Duration) machine.Noise {
	thread, err := machine.OpenThread()
	if err != nil {
		return machine.Noise{}
	}
	defer thread.Close()
	perNs := rate.Hz.Value / 1e9
	gaps, lengths := make([]clock.Gap, 1024), make([]float64, 0, 1024)
	var seen watched
	before, err := thread.Look()
	lookedAt := c.Read()
	for begun := time.Now(); err == nil && time.Since(begun) < span && ctx.Err() == nil; {
		from := c.Read()
		found, to := c.Gaps(from, clock.Watch{Threshold: int64(200 * perNs), Long: math.MaxInt64, Until: from + int64(float64(glance)*perNs)}, gaps)
		var after machine.ThreadUse
		after, err = thread.Look()
		now := c.Read()
		lengths = lengths[:0]
		for _, g := range gaps[:found] {
			lengths = append(lengths, float64(g.Ticks())/perNs)
		}
		seen.take(stretch{use: after.Since(before), ranNs: float64(to-from) / perNs, passedNs: float64(now-lookedAt) / perNs, gapsNs: lengths})
		before, lookedAt = after, now
	}
	return seen.noise()
}
