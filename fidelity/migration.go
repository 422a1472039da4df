package fidelity

import (
	"context"
	"errors"

	"chronoscope/clock"
	"chronoscope/machine"
)

// prepareMigration moves the thread through all its CPUs and one further in each sample, so that a
// sample ends on another CPU than it started on, and each CPU has its turn.
func prepareMigration(_ context.Context, s *Sampler) (Task, error) {
	cpus, err := machine.Affinity()
	if err != nil {
		return Task{}, cannotMove(err)
	}
	if len(cpus) < 2 {
		err := errors.New("this thread may use one CPU only")
		return Task{}, unavailable(Migration, clock.NotSupportedHere, err, "let the process use more CPUs")
	}
	restore, err := machine.Pin(cpus[:1])
	if err != nil {
		return Task{}, cannotMove(err)
	}
	work, at := compute(), 0
	run := func(ns float64) error {
		moves := len(cpus) + 1
		for range moves {
			at = (at + 1) % len(cpus)
			if err := machine.SetAffinity(cpus[at : at+1]); err != nil {
				return err
			}
			work(ns / float64(moves))
		}
		return nil
	}
	return attempt(s, run, restore), nil
}

func cannotMove(err error) error {
	reason := clock.PermissionDenied
	if errors.Is(err, errors.ErrUnsupported) {
		reason = clock.OtherSystem
	}
	return unavailable(Migration, reason, err, "")
}
