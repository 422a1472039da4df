package program

import "context"

// Once runs a command a single time: what the shell's time does, with bounds of what it
// would have taken alone, and with all of its threads followed. The error is a
// *[FailedError] beside the run where the command failed, a *process.StartError where it
// could not be started, or that of ctx with what was counted until then.
func Once(ctx context.Context, c Command, setting Setting) (Run, error) {
	r := newRunner(setting)
	defer r.close()
	w := newNoiseChecks(setting)
	w.look(ctx, c.CPUs)
	m := measurement{setting: setting, run: r.run}
	run, err := m.once(ctx, c, true)
	if run.WallNs > 0 {
		(&series{}).take(context.WithoutCancel(ctx), &run, cpusOf(c, r.cpus)) // also of a program that ctx ended
		run.takeOffDisturbance(w.joined())
		run.Rejected, run.Why = false, nil
	}
	return run, err
}
