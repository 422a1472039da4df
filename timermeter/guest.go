package timermeter

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Guest is another language runtime whose timers are ranked together with this process's clocks.
type Guest struct {
	// Name is the name by which the guest is known before it has told its own.
	Name string
	// Open starts the guest. Its error may be a [*clock.Unavailable].
	Open func(ctx context.Context) (*Company, error)
}

// Company is a runtime that was started, with its timers.
type Company struct {
	Runtime
	Timers []Foreign
	// Ranks reports whether a timer is to be ranked; nil means all. The timers that are not
	// ranked may still time calls of the others.
	Ranks func(Foreign) bool
	// Unavailable are the runtime's timers that can't be read.
	Unavailable []*clock.Unavailable
	Close       func()
}

// Runtime describes a language runtime that reads timers.
type Runtime struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Warmup says what the runtime did before it was measured; it may be empty.
	Warmup string `json:"warmup"`
}

// receive starts each guest in turn, ranks its timers, and ends it before it starts the next one,
// because runtimes have threads of their own that would disturb one another.
func (l *local) receive(ctx context.Context, s Surroundings, b Bench) error {
	if given := l.request.CPUs; len(given) > 0 && len(s.CPUs) > 1 {
		if s.CPUs = given; len(given) == 1 && len(l.request.Guests) > 0 {
			l.caveat("thread safety is not known of other runtimes: their threads may use CPU %d only, and a check needs two", given[0])
		}
	}
	for i, g := range l.request.Guests {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.Progress = l.part(i+1, g.Name)
		b.Progress(0, "starting it")
		company, err := g.Open(ctx)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			l.leaveOut(g.Name, err)
			continue
		}
		err = l.rankGuest(ctx, company, s, b)
		company.Close()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// part returns the progress function of one of the parties that are ranked one after the other.
// Party 0 is this process, the others are the guests.
func (l *local) part(i int, name string) func(share float64, doing string) {
	parties := float64(1 + len(l.request.Guests))
	return func(share float64, doing string) {
		if name != "" {
			doing = name + ": " + doing
		}
		l.request.Progress((float64(i)+share)/parties, doing)
	}
}

// leaveOut records why a guest, or one of its timers, is not ranked.
func (l *local) leaveOut(name string, err error) {
	missing, ok := errors.AsType[*clock.Unavailable](err)
	if !ok {
		missing = &clock.Unavailable{Name: name, Reason: clock.Refused, Detail: err.Error()}
	}
	l.result.Unavailable = append(l.result.Unavailable, missing)
}

func (l *local) rankGuest(ctx context.Context, company *Company, s Surroundings, b Bench) error {
	l.result.Runtimes = append(l.result.Runtimes, company.Runtime)
	l.result.Unavailable = append(l.result.Unavailable, company.Unavailable...)
	var all []*remoteTimer
	for _, f := range company.Timers {
		all = append(all, newRemoteTimer(ctx, f, l.nowNs, l.pause))
	}
	b.Progress(0, "finding its finest timer")
	reference, r := l.finest(ctx, all, s.Time)
	var candidates []Candidate
	for _, a := range all {
		if company.Ranks == nil || company.Ranks(a.Foreign) {
			candidates = append(candidates, a.candidate(s, reference, r))
		}
	}
	ratings, err := Rank(ctx, candidates, onTheWay(l.request.Plan), b)
	for _, a := range all {
		if a.err != nil && ctx.Err() == nil {
			l.leaveOut(a.Clock.Name, a.err)
		}
	}
	l.sayUnjudged(ctx, ratings, len(s.CPUs) > 1)
	l.result.Ratings = append(l.result.Ratings, ratings...)
	slices.SortStableFunc(l.result.Ratings, ByQuality)
	return err
}

// onTheWay returns the plan for timers whose readings take most of their time in the round trip
// between the two processes.
func onTheWay(p Plan) Plan {
	p.Patience.CalmNs *= 16
	return p
}

// finest returns the timer with the least sum of accuracy and cost, which then times calls of the
// others. It excludes timers that count events, step back, contradict the reference time, or show
// CPU time, which does not include waits. It returns nil if no timer remains.
func (l *local) finest(ctx context.Context, all []*remoteTimer, time clock.Rated) (best *remoteTimer, r Reference) {
	least := math.Inf(1)
	for _, a := range all {
		if a.Clock.Kind == clock.KindCPU || countsEvents(&a.Clock) {
			continue
		}
		subject := a.subject()
		sampler := NewSampler(subject, l.nowNs, onTheWay(QuickPlan).Patience, l.rng)
		var held testimony
		witness := a.witness(time)
		held.ask(witness)
		sampler.Sample(ctx)
		held.ask(witness)
		found := sampler.Accuracy()
		accuracy := found.Units.Value * a.TickNs
		if held.contradicts(witness, a.TickNs, accuracy) {
			continue
		}
		sum := accuracy + costByItself(subject)
		if a.err == nil && found.Verdict != stats.Unusable && sum < least {
			best, least, r = a, sum, Reference{UnitNs: a.TickNs, AccuracyNs: accuracy}
		}
	}
	return best, r
}

// costByItself returns the median difference of consecutive readings.
func costByItself(s Subject) float64 {
	ticks := make([]int64, callsPerChunk)
	s.Chain(0, ticks)
	var d []float64
	for i := 1; i < len(ticks); i++ {
		d = append(d, float64(ticks[i]-ticks[i-1])*s.UnitNs)
	}
	return stats.Median(d)
}

// pause waits for a random time. It does not sleep, because all short sleeps take the same time.
func (l *local) pause(upToNs float64) {
	for until := l.nowNs() + l.rng.Float64()*upToNs; l.nowNs() < until; {
	}
}

// sayNotHanded adds a caveat that names the clocks whose thread safety is not known, and says why.
func (l *local) sayNotHanded(ratings []Rating) {
	because := map[string][]string{}
	var order []string
	for _, r := range ratings {
		why := "the machine was too busy for threads to hand over more than a few readings"
		if r.notHanded != nil {
			why = r.notHanded.Error()
		}
		if because[why] == nil {
			order = append(order, why)
		}
		because[why] = append(because[why], r.Name)
	}
	for _, why := range order {
		l.caveat("thread safety is not known of %s: %s", strings.Join(because[why], ", "), why)
	}
}
