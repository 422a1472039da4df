package validate

import (
	"context"
	"fmt"
	"os"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/kbest"
)

// watched is about the running time of the lab's thread during a trace of the CPU's noise. watchedAtLeast is the least
// duration of the trace.
const (
	watched        = 300 * time.Millisecond
	watchedAtLeast = time.Second
)

// openLab turns this process into a lab. Its threads are already bound to one CPU, beside the
// competitors of the regime.
func openLab(ctx context.Context, o opening) (l *lab, release func(), err error) {
	station, release, err := kbest.Here(ctx, kbest.Setting{})
	if err != nil {
		return nil, nil, err
	}
	l = &lab{station: station, references: map[Work]*reference{}, seed: o.Seed}
	l.look = l.lookAt(o)
	l.watch(ctx)
	tickNs := 1e9 / o.TickHz
	l.gettimeofday = openAccount("gettimeofday", 0)
	l.times = openAccount("times", tickNs)
	l.getrusage = openAccount("getrusage-self", tickNs)
	for _, w := range o.Works {
		if l.references[w], err = l.refer(w); err != nil {
			release()
			return nil, nil, fmt.Errorf("validate: the line of %s through short runs: %w", w, err)
		}
	}
	return l, release, nil
}

// refer measures how long short runs of the work w take. Traced work is the chain in short steps.
func (l *lab) refer(w Work) (*reference, error) {
	plain, err := newReference(l.station.Clock, w.do)
	if err != nil || w != Traced {
		return plain, err
	}
	return newTracedReference(plain)
}

// openAccount opens a clock of the system. Its updates are one unit apart, or one tick of the
// kernel if that is longer.
func openAccount(name string, tickNs float64) account {
	c, err := clock.Open(name)
	if err != nil {
		return account{}
	}
	return account{read: c.Read, unitNs: c.UnitNs, tickNs: max(c.UnitNs, tickNs)}
}

// watch traces what the CPU loses. If that fails, the lab keeps the previous trace.
func (l *lab) watch(ctx context.Context) {
	if losses, err := l.look(ctx); err == nil {
		l.losses = losses
	}
}

// lookAt returns the function that traces the lab's CPU.
func (l *lab) lookAt(o opening) func(context.Context) (Losses, error) {
	options := activity.Options{
		CPU: o.CPU, Root: os.DirFS("/"), Duration: watching(o.Regime), TickHz: o.TickHz, Virtual: o.Virtual,
	}
	return func(ctx context.Context) (Losses, error) {
		t, err := activity.Record(ctx, l.station.Clock.Clock, l.station.Clock.TickNs.Value, options)
		if err != nil {
			return Losses{}, err
		}
		return lossesOf(t), nil
	}
}
