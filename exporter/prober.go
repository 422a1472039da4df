package exporter

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"
)

// Measurer takes turns, and surveys of mostCPUs or fewer: a [Probe], or a simulated one.
type Measurer interface {
	Turn(context.Context) Turn
	Survey(ctx context.Context, mostCPUs int) Survey
}

// Prober measures at random times within a budget, and hands the results to Metrics.
type Prober struct {
	Measurer Measurer
	Metrics  *Metrics
	// Share is the share of one CPU that the process may use in any hour.
	Share float64
	// Busy reports whether to skip turns now; nil to skip none.
	Busy func() bool
	// UsedCPU returns the CPU time that the process has used.
	UsedCPU func() time.Duration
	// Elapsed returns the time since the start. Pause waits; it ends early with its context.
	Elapsed func() time.Duration
	Pause   func(context.Context, time.Duration)
	Rand    *rand.Rand
	Log     *slog.Logger
}

const (
	// atFirst is the longest delay of the first turn, so that nodes that start together do not measure
	// together.
	atFirst = 5 * time.Second
	// turnsShare is the share of the budget for turns; surveys, scrapes and savings have the rest.
	turnsShare = 0.75
	// surveyEvery is the mean time between surveys.
	surveyEvery = time.Hour
	// usualTurn and usualSurvey are the costs assumed before the first turn and survey, of the latter for each CPU.
	usualTurn   = 200 * time.Millisecond
	usualSurvey = 200 * time.Millisecond
	// surveyedCPUs is the largest number of CPUs whose clocks are checked against one another in a survey. A thread spins
	// on each of them meanwhile. A later survey takes others.
	surveyedCPUs = 4
)

// Run measures until ctx ends: a turn, a survey, and then turns, with a survey before one of them when it is due. A survey
// takes as many CPUs as can be afforded.
func (p Prober) Run(ctx context.Context) {
	purse := newPurse(p.Share)
	turn, survey := usualTurn, usualSurvey
	due := time.Duration(math.MaxInt64) // the next survey, after the first turn
	p.Pause(ctx, scaled(atFirst, p.Rand.Float64()))
	for ctx.Err() == nil {
		purse = purse.at(p.Elapsed(), p.UsedCPU())
		surveys := purse.asOf >= due
		cost, what := turn, "turn"
		cpus := max(1, min(surveyedCPUs, int(purse.most()/max(1, survey))))
		if surveys {
			cost, what = survey*time.Duration(cpus), "survey"
		}
		wait, ever := purse.until(cost)
		switch {
		case !ever:
			p.Metrics.AddFailure(Failure{Step: StepBudget})
			p.Log.Warn("a "+what+" costs more CPU time than the budget lets save: give more", "cost", cost, "budget", p.Share)
			if cost = scaled(cost, 0.9); surveys { // the last one may have been an exception
				survey, due = cost, purse.asOf+scaled(surveyEvery, p.around())
				continue
			}
			turn = cost
			p.Pause(ctx, time.Minute)
		case wait > 0:
			p.Pause(ctx, wait)
		case p.Busy != nil && p.Busy():
			p.Metrics.AddPause()
			p.Pause(ctx, p.gap(turn))
		case surveys:
			survey = p.survey(ctx, survey, cpus)
			due = purse.asOf + scaled(surveyEvery, p.around())
		default:
			turn = p.turn(ctx, turn)
			if due == math.MaxInt64 {
				due = purse.asOf
			}
			p.Pause(ctx, p.gap(turn))
		}
	}
}

// gap returns the time from a turn with this cost to the next one.
func (p Prober) gap(cost time.Duration) time.Duration {
	return scaled(cost, p.around()/(p.Share*turnsShare))
}

// around returns a random factor from 0.5 to 1.5.
func (p Prober) around() float64 { return 0.5 + p.Rand.Float64() }

// turn takes a turn, and returns the cost to expect of the next one.
func (p Prober) turn(ctx context.Context, before time.Duration) time.Duration {
	used := p.UsedCPU()
	t := p.Measurer.Turn(ctx)
	if ctx.Err() != nil {
		return before
	}
	p.Metrics.AddTurn(t)
	p.report(t.Failures)
	return costs(before, p.UsedCPU()-used)
}

// survey makes a survey, and returns the cost to expect of the next one for each CPU.
func (p Prober) survey(ctx context.Context, before time.Duration, cpus int) time.Duration {
	used := p.UsedCPU()
	s := p.Measurer.Survey(ctx, cpus)
	if ctx.Err() != nil {
		return before
	}
	p.Metrics.AddSurvey(s)
	p.report(s.Failures)
	return costs(before, (p.UsedCPU()-used)/time.Duration(max(1, s.CPUs)))
}

// costs returns the cost to expect, given the one expected before and the last one: it rises at once
// and falls slowly.
func costs(before, now time.Duration) time.Duration {
	return max(now, (7*before+now)/8)
}

func (p Prober) report(failures []Failure) {
	for _, f := range failures {
		p.Log.Warn("could not be measured", "step", string(f.Step), "reason", f.Err)
	}
}
