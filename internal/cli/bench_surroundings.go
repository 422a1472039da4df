package cli

import (
	"context"
	"io/fs"
	"math"
	"os"
	"runtime"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// surroundings is what is known of the CPUs on which the benchmarks run. The core's rate is measured on one of them, and their
// noise on each in turn.
type surroundings struct {
	setting  gobench.Setting
	counter  clock.Rated       // its Clock is nil if there is none
	launcher *process.Launcher // nil until processes is called
	cpu      int               // -1 if the system does not tell
	cpus     []int             // all of them; empty if the system does not tell
	looks    int               // at the noise, so far
}

// surroundings looks at the noise of the CPUs, and measures the core's rate. If one of these can't be measured,
// there is a caveat.
func (e *benchExperiment) surroundings(ctx context.Context) (*surroundings, error) {
	here := &surroundings{cpu: -1, setting: gobench.Setting{CPUs: runtime.NumCPU(), CoreHz: stats.Estimate{Value: math.NaN()}}}
	cpus, err := e.cpus, error(nil)
	if len(cpus) == 0 {
		cpus, err = machine.Affinity()
	}
	if err == nil {
		here.cpus, here.cpu, here.setting.CPUs = cpus, cpus[len(cpus)-1], len(cpus)
	}
	e.bar.show(0, "looking at the machine's noise")
	if here.counter, err = e.openCounter(ctx); err != nil {
		return here, err
	}
	if here.counter.Clock == nil {
		e.caveat("the processor's counter can't be read here: what interrupts the CPUs, and the core's rate, are not known")
		return here, nil
	}
	here.setting.CoreHz = here.coreHz()
	here.setting.Checks = here.checks()
	here.setting.Checks.Look(ctx, nil)
	if !here.setting.Checks.Known() && ctx.Err() == nil {
		e.caveat("what interrupts the CPUs is not known: no look at one of them succeeded, as where the kernel does not count a thread's waits and switches")
	}
	return here, ctx.Err()
}

// checks returns looks at the noise, none of which was made yet; nil if the counter can't be read. A benchmark may run on any
// of its CPUs, and a device may interrupt one of them only: so the looks take the CPUs in turn, from the last to the first.
func (h *surroundings) checks() *env.NoiseChecks {
	if h.counter.Clock == nil {
		return nil
	}
	return &env.NoiseChecks{Watch: func(ctx context.Context, span time.Duration) machine.Noise {
		if n := len(h.cpus); n > 0 {
			cpu := h.cpus[n-1-h.looks%n]
			h.looks++
			if release, err := env.Thread(cpu); err == nil {
				defer release()
			}
		}
		return env.Watch(ctx, h.counter, span)
	}}
}

// settingNow returns the setting for another measurement, which looks at the noise anew.
func (h *surroundings) settingNow() gobench.Setting {
	setting := h.setting
	setting.Checks = h.checks()
	return setting
}

// coreHz returns the core's present rate; NaN if it is not known.
func (h *surroundings) coreHz() stats.Estimate {
	if h.cpu >= 0 {
		if release, err := env.Thread(h.cpu); err == nil {
			defer release()
		}
	}
	hz, err := clock.CoreRate(h.counter.Clock, h.counter.Rate)
	if err != nil {
		return stats.Estimate{Value: math.NaN()}
	}
	return hz
}

// slowed returns a function that probes each of the CPUs. The function returns by what share independent
// instructions take longer there than on a core that nothing shares: the largest share of any CPU, NaN if
// unknown. slowed returns nil if there is no probe.
func (h *surroundings) slowed() func() float64 {
	if h.counter.Clock == nil || len(h.cpus) == 0 {
		return nil
	}
	probe, err := clock.NewPortProbe(h.counter)
	if err != nil {
		return nil
	}
	return slowest(os.DirFS("/"), h.cpus, probe.Slowed)
}

// slowest returns a function that calls slowed on each of the CPUs. The function returns the largest result, of those that
// are compared with a core of the CPU's kind; NaN if there is none. Files are read below root.
func slowest(root fs.FS, cpus []int, slowed func() float64) func() float64 {
	slowedOn := env.SlowedByKind(root, slowed)
	return func() float64 {
		most := math.NaN()
		for _, cpu := range cpus {
			if release, err := env.Thread(cpu); err == nil {
				if share := slowedOn(cpu); share > most || math.IsNaN(most) {
					most = share
				}
				release()
			}
		}
		return most
	}
}

// lookAgain measures the core's rate again, and widens its interval to include both results.
func (h *surroundings) lookAgain() {
	if h.counter.Clock == nil {
		return
	}
	before, now := h.setting.CoreHz, h.coreHz()
	before.Value = (before.Value + now.Value) / 2
	before.Lo, before.Hi = math.Min(before.Lo, now.Lo), math.Max(before.Hi, now.Hi)
	h.setting.CoreHz = before
}

// processes returns p with a launcher, and with probes that tell what else runs on this machine.
func (h *surroundings) processes(p gobench.Processes) gobench.Processes {
	if h.launcher == nil {
		h.launcher = process.NewLauncher()
	}
	p.Slowed, p.Launcher, p.DuetCPUs = h.slowed(), h.launcher, h.cpus
	p.Others, _ = process.OpenOthers() // nil if they can't be seen
	p.Quota = machine.OpenThrottling(os.DirFS("/"))
	return p
}

func (h *surroundings) close() {
	if h.launcher != nil {
		h.launcher.Close()
	}
	if h.counter.Clock != nil {
		h.counter.Close()
	}
}
