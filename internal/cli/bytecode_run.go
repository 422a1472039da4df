package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"chronoscope/bytecode"
	"chronoscope/clock"
)

// bytecodeExperiment is one call of the command.
type bytecodeExperiment struct {
	flags *bytecodeFlags
	*call
}

// run times the instructions in each virtual machine and mode. If one of them fails and others
// don't, there is a caveat. If ctx ends, run returns what was measured until then with ctx's error.
func (e *bytecodeExperiment) run(ctx context.Context) ([]*bytecode.Result, error) {
	plans, err := e.plans(ctx)
	if err != nil {
		return nil, err
	}
	var results []*bytecode.Result
	var failure error
	for i, o := range plans {
		o.Progress = func(p bytecode.Progress) {
			share := (float64(i) + p.Done) / float64(len(plans))
			e.bar.show(share, fmt.Sprintf("%s, %v left", p.Doing, (p.Left+expected(plans[i+1:])).Round(time.Second)))
		}
		r, err := e.runOne(ctx, o)
		if r != nil {
			results = append(results, r)
		}
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		if err != nil {
			failure = err
			came := "was not timed"
			if r != nil {
				came = "was timed in part"
			}
			e.caveat("%s %s: %v", o.Java.Path, came, err)
		}
	}
	if len(results) == 0 {
		return nil, failure
	}
	return results, nil
}

// runOne times the instructions in one virtual machine and mode. If an earlier run did not finish,
// it continues with what that has measured.
func (e *bytecodeExperiment) runOne(ctx context.Context, o bytecode.Options) (*bytecode.Result, error) {
	store, err := openBytecodeStore(e.header.Machine, o)
	if err != nil {
		e.caveat("nothing is kept, so that an interrupted run begins anew: %v", err)
	}
	if !e.flags.restart {
		if o.Continue = store.load(); o.Continue != nil {
			e.caveat("an earlier run did not come to its end, and this one went on with it: begin anew with --restart")
		}
	}
	r, err := bytecode.Run(ctx, o)
	if err == nil && ctx.Err() == nil {
		store.forget()
	} else if r != nil {
		e.keep(store, r.Series)
	}
	return r, err
}

// keep stores what an unfinished run has measured, and says where.
func (e *bytecodeExperiment) keep(store *bytecodeStore, series *bytecode.Series) {
	if store == nil || series == nil {
		return
	}
	said := "what was measured is kept in " + store.file + ": start again to go on, with --restart to begin anew"
	if err := store.save(series); err != nil {
		said = err.Error()
	}
	e.caveat("%s", said)
}

// plans returns the requested runs: for each virtual machine its interpreter first.
func (e *bytecodeExperiment) plans(ctx context.Context) ([]bytecode.Options, error) {
	paths := e.flags.javas
	if len(paths) == 0 {
		paths = []string{""}
	}
	var plans []bytecode.Options
	for _, path := range paths {
		e.bar.show(0, "looking for Java")
		java, err := findJava(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, mode := range e.flags.modes {
			plans = append(plans, e.plan(java, bytecode.Mode(mode), e.flags.duration/time.Duration(len(paths))))
		}
	}
	return plans, nil
}

// findJava finds a virtual machine. The error says what is wrong, and what helps.
func findJava(ctx context.Context, path string) (bytecode.Java, error) {
	java, err := bytecode.FindJava(ctx, path)
	var none *clock.Unavailable
	if errors.As(err, &none) {
		return java, fmt.Errorf("there is no Java to be timed: %s: %s", none.Detail, none.Remedy)
	}
	return java, err
}

// referenceShare is the reference's share of the time if other methods are compared with it on
// separate executions: the comparison can't be more repeatable than the reference is.
const referenceShare = 1. / 6

// plan returns the plan of measuring one virtual machine in one mode for the time d. Compiled code
// is too short for any clock but the reference, which needs little time.
func (e *bytecodeExperiment) plan(java bytecode.Java, mode bytecode.Mode, d time.Duration) bytecode.Options {
	o := bytecode.Options{
		Java: java, Instructions: e.flags.instructions, Methods: e.flags.methods(), Mode: mode, Pairs: e.flags.pairs,
		Length: e.flags.length, CPUs: e.cpus, Load: e.flags.load, Seed: e.seed,
	}
	if mode != bytecode.Interpreter {
		o.Methods = []bytecode.Method{bytecode.TSC}
	}
	o.ReferenceDuration = min(bytecode.DefaultReferenceDuration, d/3)
	if !o.ReferenceAlone() && slices.Contains(e.flags.choice().Pairings, bytecode.Unpaired) {
		o.ReferenceDuration = max(o.ReferenceDuration, time.Duration(referenceShare*float64(d)))
	}
	o.Duration = d - o.ReferenceDuration
	return o
}

// expected estimates how long runs will take.
func expected(plans []bytecode.Options) time.Duration {
	var all time.Duration
	for _, o := range plans {
		all += o.ReferenceDuration
		if !o.ReferenceAlone() {
			all += o.Duration
		}
	}
	return all
}
