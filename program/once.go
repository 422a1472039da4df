package program

import (
	"context"
	"math"
)

// Once runs a command a single time, like the shell's time, and bounds its time alone. All of its threads are followed.
// If the command fails, the error is a *[FailedError], next to the run. If it could not be started, the error is a
// *process.StartError. If ctx ends, it is that of ctx, next to what was counted until then.
func Once(ctx context.Context, c Command, setting Setting) (Run, error) {
	r := newRunner(setting)
	defer r.close()
	w := setting.checks()
	w.Look(ctx, c.CPUs)
	m := measurement{setting: setting, run: r.run}
	run, err := m.once(ctx, c, true)
	if run.WallNs > 0 {
		(&series{}).take(context.WithoutCancel(ctx), &run, cpusOf(c, r.cpus)) // also if ctx ended the program
		run.takeOffDisturbance(w.Typical(float64(run.CPUNs())), displacedBytes(run.LargestRSSBytes), math.Inf(1))
		run.Rejected, run.Why = false, nil
	}
	return run, err
}
