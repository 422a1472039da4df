package kbest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/repeat"
	"chronoscope/stats"
)

// Measure measures the subjects in turn, one trial each, until each is known as well as the plan asks for or
// its trials are spent. It returns a result for each subject, in their order, also if there is an error. The
// error is ctx's, if ctx ends the measurement, joined with a *TooSlowError for each subject with a single call
// that took too long. A panic of a subject reaches the caller.
//
// The caller must keep the goroutine on one thread, as [Here] does.
func (s *Station) Measure(ctx context.Context, plan Plan, subjects ...Subject) ([]*Result, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	if s.Clock.Clock == nil || !(s.Clock.TickNs.Value > 0) {
		return nil, errors.New("kbest: the station has no clock with a known tick")
	}
	if !(s.Clock.AccuracyNs > 0) {
		return nil, errors.New("kbest: the station's clock has no accuracy: give how far apart its values lie, TickNs at the least")
	}
	for i := range subjects {
		if subjects[i].Run == nil {
			return nil, fmt.Errorf("kbest: subject %d (%q) has no Run to measure", i, subjects[i].Name)
		}
	}
	m := measurement{station: s, plan: plan, overhead: s.overhead()}
	for i := range subjects {
		m.series = append(m.series, newSeries(s, &subjects[i], plan))
	}
	m.warmUp(ctx)
	m.run(ctx)
	return m.results(ctx)
}

// measurement is the measurement of several subjects in turn.
type measurement struct {
	station  *Station
	plan     Plan
	overhead overhead
	series   []*series
	loops    map[*series]stats.Estimate
	looks    looks
	// neighbours has one element for each window, and between one for each time between two windows.
	neighbours, between []Neighbours
	// watched is the time from the first trial to the last.
	watched time.Duration
}

func (m *measurement) warmUp(ctx context.Context) {
	for _, s := range m.series {
		if ctx.Err() != nil {
			return
		}
		s.warmUp(m.overhead)
	}
	m.loops = m.emptyLoops(ctx)
	if ctx.Err() == nil && slices.ContainsFunc(m.series, func(s *series) bool { return !s.done }) {
		m.station.takeLook(m.overhead, &m.looks)
	}
}

// emptyLoops measures the subjects' loops without their work, by the same scheme.
func (m *measurement) emptyLoops(ctx context.Context) map[*series]stats.Estimate {
	loops := map[*series]stats.Estimate{}
	for _, s := range m.series {
		if s.subject.Empty == nil || ctx.Err() != nil {
			continue
		}
		empty := newSeries(m.station, &Subject{Name: s.subject.Name, Run: s.subject.Empty, Setup: s.subject.Setup}, m.plan)
		empty.warmUp(m.overhead)
		for !empty.done && !empty.spent() && empty.trials < emptyLooks && ctx.Err() == nil {
			empty.trial()
		}
		if loop := m.conclude(empty); !math.IsNaN(loop.Estimate.Value) {
			loops[s] = loop.Estimate
		}
	}
	return loops
}

// run makes the trials in rounds: one trial of each subject.
func (m *measurement) run(ctx context.Context) {
	spread := m.newSpreading()
	open, _ := m.station.openWindow()
	unfinished := func() [][]*series {
		busy := slices.DeleteFunc(slices.Clone(m.series), func(s *series) bool { return s.done })
		if len(busy) == 0 {
			return nil
		}
		if early := spread.next(busy); early > 0 {
			m.closeWindow(open)
			m.station.Pause(ctx, early)
			m.warmAgain(busy)
			open = m.nextWindow()
		} else if m.station.Neighbours != nil && open.over(m.station) {
			m.closeWindow(open)
			open = m.nextWindow()
		}
		return repeat.Alone(busy)
	}
	repeat.InTurn(m.rng(), unfinished, func(_ int, s *series) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.trial()
		last := &s.samples[len(s.samples)-1]
		last.burst, last.window = spread.burst, len(m.neighbours)
		if m.looks.due(s.ranNs-s.surveyedNs, s.tookNs) {
			m.station.takeLook(m.overhead, &m.looks)
		}
		s.done = s.spent() || s.due() && m.suffices(s)
		return nil
	})
	m.closeWindow(open)
	m.watched = spread.elapsed()
}

// warmAgain runs the subjects untimed, since caches and the core cooled down in a pause.
func (m *measurement) warmAgain(busy []*series) {
	for _, s := range busy {
		m.station.take(s.subject, s.n)
	}
}

// suffices reports whether the subject is known as well as the plan asks for.
func (m *measurement) suffices(s *series) bool {
	r := m.conclude(s)
	return r.Verdict == stats.Trusted && r.from.meanwhile <= m.plan.Precision &&
		(r.Converged || r.Estimate.Statistic != MinK)
}

func (m *measurement) results(ctx context.Context) ([]*Result, error) {
	var results []*Result
	problems := []error{ctx.Err()}
	for _, s := range m.series {
		r := m.conclude(s)
		if ctx.Err() != nil {
			r.Lower(stats.Suspect, "it was interrupted after %d trials", len(s.samples))
		}
		if s.tooSlow != nil {
			problems = append(problems, s.tooSlow)
			r.Lower(stats.Unusable, "%v", s.tooSlow)
		}
		results = append(results, r)
	}
	return results, errors.Join(problems...)
}

func (m *measurement) rng() *rand.Rand { return rand.New(rand.NewPCG(m.plan.Seed, 0xbe57)) }
