package program

import (
	"context"
	"os"
	"runtime"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
)

// calibration is the time for which the processor's counter is calibrated.
const calibration = 20 * time.Millisecond

// Here completes a setting, in some 50 ms: it calibrates the processor's counter, which is used to watch interrupts,
// and finds out how the kernel counts CPU time. What is not available stays empty. release closes what Here opened. The
// error is that of ctx.
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
	setting.ByTicks = setting.ByTicks || !chargesByClock()
	counter, err := env.Open(ctx, calibration, clock.BareCounters()...)
	if err != nil {
		return setting, release, ctx.Err()
	}
	release = func() { counter.Close() }
	if setting.CounterHz == 0 {
		setting.CounterHz = counter.Rate.Hz.Value
	}
	core := env.FollowCore(counter)
	if setting.CoreHz == nil {
		setting.CoreHz = core.CoreHz
	}
	if setting.Slowed == nil {
		setting.Slowed = core.Slowed
	}
	if setting.Watch == nil {
		setting.Watch = func(ctx context.Context, span time.Duration) machine.Noise { return env.Watch(ctx, counter, span) }
	}
	return setting, release, ctx.Err()
}
