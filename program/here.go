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

// calibration is how long the processor's counter is calibrated.
const calibration = 20 * time.Millisecond

// Here fills in what the setting does not say, within some 50 ms: it calibrates the
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
	counter, err := env.Open(ctx, calibration, clock.BareCounters()...)
	if err != nil {
		return setting, release, ctx.Err()
	}
	release = func() { counter.Close() }
	if setting.CounterHz == 0 {
		setting.CounterHz = counter.Rate.Hz.Value
	}
	if setting.CoreHz == nil {
		setting.CoreHz = env.FollowCore(counter).CoreHz
	}
	if setting.Watch == nil {
		setting.Watch = func(ctx context.Context, span time.Duration) machine.Noise { return env.Watch(ctx, counter, span) }
	}
	return setting, release, ctx.Err()
}
