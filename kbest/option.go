package kbest

import (
	"context"
	"errors"
)

// Option changes how [Measure] measures.
type Option func(*options)

type options struct {
	ctx     context.Context
	plan    Plan
	setting Setting
	subject Subject
}

// WithContext ends the measurement when ctx ends. What was measured so far is kept.
func WithContext(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// WithPlan replaces [DefaultPlan].
func WithPlan(p Plan) Option { return func(o *options) { o.plan = p } }

// WithSetting gives what the caller knows of the place of measurement.
func WithSetting(s Setting) Option { return func(o *options) { o.setting = s } }

// Named gives the result a name.
func Named(name string) Option { return func(o *options) { o.subject.Name = name } }

// Before prepares each trial by f, untimed. Each trial is then one call. If Before is given several times, the
// functions run in the order given.
func Before(f func()) Option {
	return func(o *options) {
		earlier := o.subject.Before
		o.subject.Before = func() {
			if earlier != nil {
				earlier()
			}
			f()
		}
	}
}

// Measure measures how long a call of f takes on this thread, the call itself included. If f panics, the panic
// reaches the caller and all settings are restored. If there is an error during the measurement, the result
// comes with it, as far as it got.
func Measure(f func(), with ...Option) (*Result, error) {
	if f == nil {
		return nil, errors.New("kbest: there is no function to measure")
	}
	o := options{ctx: context.Background(), plan: DefaultPlan}
	o.subject.Run = calls(f)
	for _, option := range with {
		option(&o)
	}
	if err := o.plan.check(); err != nil {
		return nil, err
	}
	station, release, err := Here(o.ctx, o.setting)
	if err != nil {
		return nil, err
	}
	defer release()
	results, err := station.Measure(o.ctx, o.plan, o.subject)
	if len(results) == 0 {
		return nil, err
	}
	station.judgeCall(o.ctx, o.plan, results[0])
	return results[0], err
}
