package timermeter

import (
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Ranking is the rating of all clocks, as documents hold it.
type Ranking struct {
	Clocks      []Rating      `json:"clocks"` // best first
	Best        Best          `json:"best"`
	Unavailable []Unavailable `json:"unavailable"`
	// Runtimes are those whose timers were ranked beside this program's.
	Runtimes []Runtime `json:"runtimes"`
	// Counters are the counters whose rate was measured.
	Counters []CounterRate `json:"counters"`
}

// Best names the clock to use for each purpose; nil where none is fit.
type Best struct {
	Wall      *string `json:"wall"`      // for intervals: nobody sets it
	CPU       *string `json:"cpu"`       // of the thread that reads it
	Timestamp *string `json:"timestamp"` // in UTC
	Counter   *string `json:"counter"`   // of time, and of no events
}

// Unavailable is a clock that can't be read here.
type Unavailable struct {
	Name   string  `json:"name"`
	Reason string  `json:"reason"`
	Remedy *string `json:"remedy"` // nil where nothing helps
}

// Ranking is the result with the clocks to use.
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

// tied clocks differ in quality by about their repeatability.
const tied = 0.015

// BestOf chooses one clock for each purpose: a wall clock that nobody sets and that stands
// still while the machine is suspended, the CPU time of the thread that reads it, a timestamp
// of UTC, and a counter of time. Of those that are fit the best in quality is taken, and among
// clocks that are tied with it the most usual one, the first in [clock.Names], so that two
// rankings of one machine give the same advice.
//
// Other runtimes' clocks are looked at only where none of this program's was ranked: a
// program can't read those of another runtime.
func BestOf(clocks []Rating) Best {
	own := slices.ContainsFunc(clocks, isOwn)
	choose := func(fit func(Rating) bool) *string {
		fits := slices.DeleteFunc(slices.Clone(clocks), func(c Rating) bool {
			return own && !isOwn(c) || c.Verdict == stats.Unusable || c.Quality.Or(0) == 0 || !fit(c)
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

// isOwn tells the clocks that this program reads itself.
func isOwn(c Rating) bool { return c.Runtime == "go" }

// mostUsual is the name of the most usual clock among those tied with the
// best.
func mostUsual(fits []Rating) *string {
	best := 0.0
	for _, c := range fits {
		best = max(best, c.Quality.Value())
	}
	names := clock.Names()
	place := func(c Rating) int { // of other runtimes the best comes first
		if i := slices.Index(names, c.Name); i >= 0 {
			return i
		}
		return len(names)
	}
	var chosen *Rating
	for i, c := range fits {
		if c.Quality.Value() > best-tied && (chosen == nil || place(c) < place(*chosen)) {
			chosen = &fits[i]
		}
	}
	if chosen == nil {
		return nil
	}
	return &chosen.Name
}

// Advice says with what to measure durations of a range.
type Advice struct {
	Purpose string `json:"purpose"` // "wall", "cpu" or "timestamp"
	// FromNs and ToNs bound the durations; ToNs is missing where nothing limits it.
	FromNs float64     `json:"from_ns"`
	ToNs   stats.Float `json:"to_ns"`
	Method string      `json:"method"`
	Clock  string      `json:"clock"`
	// ExpectedError is the most that the clock itself may be off by, as a share of
	// a duration of FromNs; interrupts and preemption come on top.
	ExpectedError float64 `json:"expected_error"`
}

// Advice is for each of the best clocks whose accuracy is bounded.
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

// goodError is the relative error that advice promises.
const goodError = 0.01

// errorNs is how far two readings of the clock around some work may be off: each reading may
// lie one accuracy from the truth, and the cost of calls varies by what p95 lies above the
// least.
func (r Rating) errorNs() float64 {
	return r.Accuracy.Hi + stats.FloatOf(r.Cost.P95Ns.Value()-r.Cost.MinNs.Value()).Or(0)
}
