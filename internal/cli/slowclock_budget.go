package cli

import (
	"context"
	"slices"
	"time"

	"chronoscope/slowclock"
)

// budget is the time of a slowclock command. Preparation, calibration and waiting are part of it,
// and the methods share the rest.
type budget struct {
	now func() time.Time
	end time.Time
	// methods is how many measurements still have to share the time.
	methods int
}

// budget starts the time limit of a command: --max-time for each measurement. Bernoulli and discrete are
// one measurement with two results; a plan needs one measurement.
func (t *slowFlags) budget(now func() time.Time) *budget {
	wants := func(m slowclock.Method) bool { return slices.Contains(t.methods, string(m)) }
	methods := countTrue(wants(slowclock.CounterClock), wants(slowclock.Bernoulli) || wants(slowclock.Discrete), wants(slowclock.Classic))
	if t.plan {
		methods = 1
	}
	return &budget{now: now, end: now().Add(time.Duration(methods) * t.maxTime), methods: methods}
}

// left returns the remaining time.
func (b *budget) left() time.Duration { return b.end.Sub(b.now()) }

// share calls a measurement with its share of the remaining time. The measurement may exceed it by
// a tenth to finish its round; then it is cut short. A result that was cut short says so itself;
// that is no error.
func (b *budget) share(ctx context.Context, measure func(context.Context, time.Duration) error) error {
	d := max(1, b.left()/time.Duration(max(1, b.methods)))
	b.methods--
	within, cancel := b.within(ctx, d+d/10)
	defer cancel()
	if err := measure(within, d); within.Err() == nil || ctx.Err() != nil {
		return err
	}
	return nil
}

// within returns a context that ends after d.
func (b *budget) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	timed, cancel := context.WithTimeout(ctx, d)
	return deadline{timed, b.now, b.now().Add(d)}, cancel
}

// deadline is a context that checks the time itself. The timer of [context.WithTimeout] fires late
// on a loaded machine if spinning threads hold the CPUs of Go's scheduler.
type deadline struct {
	context.Context
	now func() time.Time
	at  time.Time
}

func (d deadline) Err() error {
	if err := d.Context.Err(); err != nil {
		return err
	}
	if d.now().Before(d.at) {
		return nil
	}
	return context.DeadlineExceeded
}
