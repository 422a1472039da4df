package cli

import (
	"context"
	"math"
	"os"
	"runtime"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/stats"
)

// surroundings are what is known of the CPUs on which the benchmarks run, by one of
// them.
type surroundings struct {
	setting gobench.Setting
	counter *clock.Clock // nil where there is none
	rate    clock.Rate
	cpu     int // -1 where the system does not tell
}

// surroundings traces the noise of the CPUs, and measures the core's rate. What can't be
// had is left out, with a caveat.
func (e *benchExperiment) surroundings(ctx context.Context) (*surroundings, error) {
	here := &surroundings{cpu: -1, setting: gobench.Setting{CPUs: runtime.NumCPU(), CoreHz: stats.Estimate{Value: math.NaN()}}}
	cpus, err := e.set.cpus, error(nil)
	if len(cpus) == 0 {
		cpus, err = machine.Affinity()
	}
	if err == nil {
		here.cpu, here.setting.CPUs = cpus[len(cpus)-1], len(cpus)
	}
	e.bar.show(0, "tracing the machine's noise")
	if err := e.openCounter(ctx, here); err != nil {
		return here, err
	}
	if here.counter == nil {
		e.caveat("the processor's counter can't be read here: what interrupts the CPUs, and the core's rate, are not known")
		return here, nil
	}
	here.setting.CoreHz = here.coreHz()
	trace, err := activity.Record(ctx, here.counter, 1e9/here.rate.Hz.Value, activity.Options{
		CPU: here.cpu, Duration: usualDuration(e.common), Root: os.DirFS("/"),
	})
	switch {
	case ctx.Err() != nil:
		return here, ctx.Err()
	case err != nil:
		e.caveat("what interrupts the CPUs is not known: %v", err)
	default:
		here.setting.Noise = trace.Noise(activity.Analyse(trace))
	}
	return here, nil
}

// openCounter opens and calibrates the processor's counter.
func (e *benchExperiment) openCounter(ctx context.Context, here *surroundings) error {
	for _, name := range []string{"tsc", "cntvct"} {
		c, err := clock.Open(name)
		if err != nil {
			continue
		}
		here.rate, err = clock.Calibrate(ctx, c, nil, 100*time.Millisecond)
		if err != nil {
			c.Close()
			return err
		}
		here.counter = c
		e.header.Machine.TSCHz = stats.Finite(here.rate.Hz.Value)
		e.header.Caveats = append(e.header.Caveats, here.rate.Caveats...)
		return nil
	}
	return nil
}

// coreHz is the core's rate now; NaN where that is not known.
func (h *surroundings) coreHz() stats.Estimate {
	if h.cpu >= 0 {
		if restore, err := machine.Pin([]int{h.cpu}); err == nil {
			defer restore()
		}
	}
	hz, err := clock.CoreRate(h.counter, h.rate)
	if err != nil {
		return stats.Estimate{Value: math.NaN()}
	}
	return hz
}

// lookAgain widens the core's rate to what it is by now.
func (h *surroundings) lookAgain() {
	if h.counter == nil {
		return
	}
	before, now := h.setting.CoreHz, h.coreHz()
	before.Value = (before.Value + now.Value) / 2
	before.Lo, before.Hi = math.Min(before.Lo, now.Lo), math.Max(before.Hi, now.Hi)
	h.setting.CoreHz = before
}

func (h *surroundings) close() {
	if h.counter != nil {
		h.counter.Close()
	}
}
