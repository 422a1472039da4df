package timermeter

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Ranking holds the ratings of all clocks in the form in which documents hold them.
type Ranking struct {
	Clocks      []Rating      `json:"clocks"` // best first
	Best        Best          `json:"best"`
	Unavailable []Unavailable `json:"unavailable"`
	// Runtimes are the runtimes whose timers were ranked together with this program's.
	Runtimes []Runtime `json:"runtimes"`
	// Counters are the counters whose rate was measured.
	Counters []CounterRate `json:"counters"`
}

// Best names the clock to use for each purpose; nil if no clock is fit for it.
type Best struct {
	Wall      *string `json:"wall"`      // for intervals; it can't be set
	CPU       *string `json:"cpu"`       // the CPU time of the thread that reads it
	Timestamp *string `json:"timestamp"` // in UTC
	Counter   *string `json:"counter"`   // counts time, not events
}

// Unavailable is a clock that can't be read here.
type Unavailable struct {
	Name   string  `json:"name"`
	Reason string  `json:"reason"`
	Remedy *string `json:"remedy"` // nil if nothing helps
}

// Ranking returns the result together with the clocks to use.
func (l *Local) Ranking() Ranking {
	r := Ranking{
		Clocks: append([]Rating{}, l.Ratings...), Best: BestOf(l.Ratings), Unavailable: []Unavailable{},
		Runtimes: append([]Runtime{}, l.Runtimes...), Counters: append([]CounterRate{}, l.Counters...),
	}
	for _, u := range l.Unavailable {
		one := Unavailable{Name: u.Name, Reason: string(u.Reason)}
		if u.Detail != "" {
			one.Reason += ": " + u.Detail
		}
		if u.Remedy != "" {
			one.Remedy = &u.Remedy
		}
		r.Unavailable = append(r.Unavailable, one)
	}
	return r
}

// tied is the difference in quality below which two clocks are tied. It is about how well a
// ranking repeats.
const tied = 0.015

// BestOf chooses one clock for each purpose: a wall clock that can't be set and that stands still
// while the machine is suspended, the CPU time of the thread that reads it, a timestamp in UTC, and
// a counter of time. Among the fit clocks whose quality is tied with the best, it takes the most
// usual one, the first in [clock.Names], so that two rankings of one machine give the same advice.
// If the core's rate is not known, it takes the quality on a usual core.
//
// Clocks of other runtimes are considered only if no clock of this program was ranked, because a
// program can't read the clocks of another runtime.
func BestOf(clocks []Rating) Best {
	own := slices.ContainsFunc(clocks, isOwn)
	choose := func(fit func(Rating) bool) *string {
		fits := slices.DeleteFunc(slices.Clone(clocks), func(c Rating) bool {
			return own && !isOwn(c) || c.Verdict == stats.Unusable || !(c.worth() > 0) || !fit(c)
		})
		return mostUsual(fits)
	}
	return Best{
		Wall:      choose(func(c Rating) bool { return c.Kind == clock.KindWall && !c.Settable && c.CountsSuspend != clock.Yes }),
		CPU:       choose(func(c Rating) bool { return c.Kind == clock.KindCPU && c.Scope == clock.ScopeThread }),
		Timestamp: choose(func(c Rating) bool { return c.Calendar }),
		Counter:   choose(func(c Rating) bool { return c.Kind == clock.KindCounter && c.Scope != clock.ScopeThread }),
	}
}

func isOwn(c Rating) bool { return c.Runtime == "go" }

// mostUsual returns the name of the clock that comes first in [clock.Names] among those whose quality is tied with
// the best. It returns nil if there is none.
func mostUsual(fits []Rating) *string {
	best := 0.0
	for _, c := range fits {
		best = max(best, c.worth())
	}
	fits = slices.DeleteFunc(slices.Clone(fits), func(c Rating) bool { return c.worth() <= best-tied })
	if len(fits) == 0 {
		return nil
	}
	names := clock.Names()
	place := func(c Rating) uint { return uint(slices.Index(names, c.Name)) } // those without a place come last
	chosen := slices.MinFunc(fits, func(a, b Rating) int { return cmp.Compare(place(a), place(b)) })
	return &chosen.Name
}

// Advice says which method and clock to use for durations within a range.
type Advice struct {
	Purpose string `json:"purpose"` // "wall", "cpu" or "timestamp"
	// FromNs and ToNs bound the durations; ToNs is missing if there is no upper limit.
	FromNs float64     `json:"from_ns"`
	ToNs   stats.Float `json:"to_ns"`
	Method string      `json:"method"`
	Clock  string      `json:"clock"`
	// ExpectedError is the largest error of the clock itself, as a share of a duration of FromNs.
	// Interrupts and preemption add to it.
	ExpectedError float64 `json:"expected_error"`
}

// Advice returns advice for each of the best clocks whose accuracy is bounded.
func (r Ranking) Advice() []Advice {
	all := []Advice{}
	for _, best := range []struct {
		purpose string
		name    *string
	}{{"wall", r.Best.Wall}, {"cpu", r.Best.CPU}, {"timestamp", r.Best.Timestamp}} {
		i := slices.IndexFunc(r.Clocks, func(c Rating) bool { return best.name != nil && c.Name == *best.name })
		if i >= 0 && stats.IsFinite(r.Clocks[i].errorNs()) {
			all = append(all, Advice{
				Purpose: best.purpose, Clock: *best.name, Method: "two readings around the work, less the clock's own cost",
				FromNs: math.Ceil(r.Clocks[i].errorNs() / goodError), ExpectedError: goodError,
			})
		}
	}
	return all
}

// goodError is the relative error that the advice promises.
const goodError = 0.01

// errorNs returns the largest error of the difference of two readings of the clock around some
// work: each reading may be off by one accuracy, and the cost of the calls varies from the least to
// the 95th percentile.
func (r Rating) errorNs() float64 {
	return r.Accuracy.Hi + stats.FloatOf(r.Cost.P95Ns.Value()-r.Cost.MinNs.Value()).Or(0)
}
