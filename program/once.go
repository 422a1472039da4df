package program

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"

	"chronoscope/process"
)

// Once runs a command a single time, like the shell's time, and bounds its time alone. The run is not traced: a debugger, a
// leak sanitizer or sudo(8) would fail, here or in a process that the command starts, and no second run could tell why. Only a
// metric that traced runs alone have is reason to trace it, unless the file gives rights (set-user-ID) that the program would
// lose then.
// If this process was stopped meanwhile, the run is rejected.
// If the command fails, the error is a *[FailedError], next to the run. If it could not be started, the error is a
// *process.StartError. If ctx ends, it is that of ctx, next to what was counted until then.
func Once(ctx context.Context, c Command, setting Setting) (Run, error) {
	r := newRunner(setting)
	defer r.close()
	w := setting.checks()
	w.Look(ctx, c.CPUs)
	m := measurement{setting: setting, run: r.run}
	run, err := m.once(ctx, c, c.needsTracer() && (os.Geteuid() == 0 || !givesRights(c.Path)))
	if run.WallNs > 0 {
		(&series{}).take(context.WithoutCancel(ctx), &run, cpusOf(c, r.cpus)) // also if ctx ended the program
		if run.Continued > 0 {
			return run, err
		}
		run.takeOffDisturbance(w.Typical(float64(run.CPUNs())), displacedBytes(run.MaxRSSBytes), math.Inf(1))
		run.Rejected, run.Why = false, nil
	}
	return run, err
}

// givesRights reports whether a program has other rights than whoever runs it, by its file's mode.
func givesRights(program string) bool {
	path, err := exec.LookPath(program)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0
}

// once makes one run, with its preparation and conclusion.
func (m *measurement) once(ctx context.Context, c Command, traced bool) (run Run, err error) {
	keptNs := m.concludedNs
	m.concludedNs = 0
	waitNs, err := c.prepare(ctx)
	if keptNs += waitNs; err != nil {
		return Run{}, err
	}
	limited, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeoutCause(limited, c.Timeout, errTimeout)
		defer end(nil)
	}
	kept, output := c.keep()
	run, err = m.run(limited, kept.watched(m.endStarved(limited, c.spentNs, end)), traced)
	run.startKeptNs = float64(run.StartWaitNs + keptNs)
	if run.WallNs > 0 {
		run.read = output.read(c.Metrics)
		for i, m := range c.Metrics {
			if missing := run.read[i].missing; missing != nil {
				run.Why = append(run.Why, m.Name+": "+missing.Error())
			}
		}
	}
	var ended error
	if ctx.Err() == nil {
		ended = context.Cause(limited)
	}
	cancel()
	err = c.failure(run.Run, cmp.Or(ended, err))
	if ctx.Err() == nil {
		waitNs, after := c.conclude(ctx)
		m.concludedNs, err = waitNs, cmp.Or(err, after)
	}
	return run, err
}

// watched returns the command with a function that is called, too, when it has started; nil for none.
func (c Command) watched(by func(pid int)) Command {
	started := c.Started
	switch {
	case started == nil:
		c.Started = by
	case by != nil:
		c.Started = func(pid int) {
			started(pid)
			by(pid)
		}
	}
	return c
}

// prepare runs what comes before a run, and returns how long that waited for a CPU.
func (c Command) prepare(ctx context.Context) (waitNs int64, err error) {
	return c.aside(ctx, c.Prepare, "its preparation")
}

// conclude runs what follows a run, and returns how long that waited for a CPU.
func (c Command) conclude(ctx context.Context) (waitNs int64, err error) {
	return c.aside(ctx, c.Conclude, "what follows it")
}

// aside runs what belongs to the command and is not timed; nil for nothing.
func (c Command) aside(ctx context.Context, other *process.Command, what string) (waitNs int64, err error) {
	if other == nil {
		return 0, nil
	}
	if waitNs, err = beside(ctx, *other); err != nil {
		return waitNs, &FailedError{Name: c.Name, What: what, Err: err}
	}
	return waitNs, nil
}

// failure returns how a run failed: by what ended it, as errTimeout, or by its exit status. Other errors stay as they
// are.
func (c Command) failure(run process.Run, err error) error {
	var starved *StarvedError
	switch {
	case errors.Is(err, errTimeout) || errors.As(err, &starved):
		return &FailedError{Name: c.Name, What: TheCommand, Err: err}
	case err == nil && run.Failure() != nil:
		return &FailedError{Name: c.Name, What: TheCommand, Err: run.Failure()}
	}
	return err
}
