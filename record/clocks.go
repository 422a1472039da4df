package record

import (
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// Clocks is the document of the ranking of clocks.
type Clocks struct {
	Header
	Ranking
}

// Ranking is the part of a document that ranks the clocks.
type Ranking struct {
	Clocks      []Clock       `json:"clocks"` // best first
	Best        Best          `json:"best"`
	Unavailable []Unavailable `json:"unavailable"`
	// Runtimes are those whose timers were ranked beside this program's.
	Runtimes []Runtime `json:"runtimes"`
	// Counters are the counters whose rate was measured.
	Counters []Counter `json:"counters"`
}

// Clock is one clock's rating. What could not be had is null, for a reason
// that stands in Reasons.
type Clock struct {
	Name       string         `json:"name"`
	Runtime    string         `json:"runtime"`
	API        string         `json:"api"`
	Kind       clock.Kind     `json:"kind"`
	UnitNs     *float64       `json:"unit_ns"`
	Accuracy   stats.Estimate `json:"accuracy"`
	Cost       Cost           `json:"cost"`
	Spread     *float64       `json:"spread"`
	Quality    *float64       `json:"quality"`
	Cycles     Cycles         `json:"cycles"`
	Monotonic  *bool          `json:"monotonic"`
	ThreadSafe *bool          `json:"thread_safe"`
	Stable     *bool          `json:"stable"`
	Verdict    stats.Verdict  `json:"verdict"`
	Reasons    []string       `json:"reasons"`
	// Sleeping and Suspended say whether the clock goes on while the thread
	// sleeps and while the machine is suspended: "yes", "no" or "unknown".
	Sleeping  clock.Answer `json:"counts_sleep"`
	Suspended clock.Answer `json:"counts_suspend"`

	calendar, settable bool
	scope              clock.Scope
}

// Cost is what one call of a clock takes.
type Cost struct {
	MinNs    *float64 `json:"min_ns"`
	MedianNs *float64 `json:"median_ns"`
	P95Ns    *float64 `json:"p95_ns"`
	P99Ns    *float64 `json:"p99_ns"`
	MaxNs    *float64 `json:"max_ns"`
	Family   *string  `json:"family"` // of distributions; null where too few calls were timed
}

// Cycles are accuracy and median cost in cycles of the core.
type Cycles struct {
	Accuracy *float64 `json:"accuracy"`
	Cost     *float64 `json:"cost"`
}

// Best names the clock to use for each purpose; null where none is fit.
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
	Remedy *string `json:"remedy"`
}

// Runtime is a runtime whose timers a probe has read.
type Runtime struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Warmup  string `json:"warmup"` // what it did before it was measured
}

// Counter is a counter's measured rate, and what others say of it.
type Counter struct {
	Name      string             `json:"name"`
	Reference string             `json:"reference"` // the clock it was measured against
	RateHz    stats.Estimate     `json:"rate_hz"`
	Claims    []clock.CrossCheck `json:"claims"`
}

func newCounter(c timermeter.CounterRate) Counter {
	return Counter{
		Name: c.Name, Reference: c.Rate.Reference, RateHz: c.Rate.Hz,
		Claims: append([]clock.CrossCheck{}, c.Claims...),
	}
}

// NewRanking puts what was measured into the form of a document.
func NewRanking(local *timermeter.Local) Ranking {
	r := Ranking{Clocks: []Clock{}, Unavailable: []Unavailable{}, Runtimes: []Runtime{}, Counters: []Counter{}}
	for _, rating := range local.Ratings {
		r.Clocks = append(r.Clocks, newClock(rating))
	}
	for _, u := range local.Unavailable {
		r.Unavailable = append(r.Unavailable, newUnavailable(u))
	}
	for _, runtime := range local.Runtimes {
		r.Runtimes = append(r.Runtimes, Runtime(runtime))
	}
	for _, c := range local.Counters {
		r.Counters = append(r.Counters, newCounter(c))
	}
	r.Best = bestOf(r.Clocks)
	return r
}

func newClock(r timermeter.Rating) Clock {
	return Clock{
		Name: r.Clock.Name, Runtime: r.Clock.Runtime, API: r.Clock.API, Kind: r.Clock.Kind,
		UnitNs: stats.Finite(r.Clock.UnitNs), Accuracy: r.Accuracy,
		Cost: Cost{
			MinNs: stats.Finite(r.Cost.MinNs), MedianNs: stats.Finite(r.Cost.MedianNs),
			P95Ns: stats.Finite(r.Cost.P95Ns), P99Ns: stats.Finite(r.Cost.P99Ns),
			MaxNs: stats.Finite(r.Cost.MaxNs), Family: known(r.Cost.Family),
		},
		Spread: stats.Finite(r.Cost.Spread), Quality: stats.Finite(r.Quality),
		Cycles:    Cycles{stats.Finite(r.AccuracyCycles), stats.Finite(r.CostCycles)},
		Monotonic: r.Monotonic, ThreadSafe: r.ThreadSafe, Stable: r.Stable,
		Verdict: r.Verdict, Reasons: r.Reasons,
		Sleeping: r.Clock.CountsSleep, Suspended: r.Clock.CountsSuspend,
		calendar: r.Clock.Calendar, settable: r.Clock.Settable, scope: r.Clock.Scope,
	}
}

func newUnavailable(u *clock.Unavailable) Unavailable {
	reason := string(u.Reason)
	if u.Detail != "" {
		reason += ": " + u.Detail
	}
	return Unavailable{Name: u.Name, Reason: reason, Remedy: known(u.Remedy)}
}

// known is a text that may be missing.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// tied clocks differ in quality by about their repeatability.
const tied = 0.015

// bestOf chooses one clock for each purpose. What it has to mean comes first, so that the
// advice means the same each time: a wall clock that nobody sets and that stands still while
// the machine is suspended, the CPU time of the thread that reads it, a timestamp of UTC, and
// a counter of time. Of those that are fit the best in quality is taken, and among clocks
// that are tied with it the most usual one, the first in [clock.Names], so that the advice does
// not change with the weather.
//
// Other runtimes' clocks are looked at only where none of this program's was ranked: a
// program can't read those of another runtime.
func bestOf(clocks []Clock) Best {
	own := slices.ContainsFunc(clocks, isOwn)
	choose := func(fit func(Clock) bool) *string {
		fits := slices.DeleteFunc(slices.Clone(clocks), func(c Clock) bool {
			return own && !isOwn(c) || c.Verdict == stats.Unusable || c.Quality == nil || *c.Quality == 0 || !fit(c)
		})
		return mostUsual(fits)
	}
	return Best{
		Wall:      choose(func(c Clock) bool { return c.Kind == clock.KindWall && !c.settable && c.Suspended != clock.Yes }),
		CPU:       choose(func(c Clock) bool { return c.Kind == clock.KindCPU && c.scope == clock.ScopeThread }),
		Timestamp: choose(func(c Clock) bool { return c.calendar }),
		Counter:   choose(func(c Clock) bool { return c.Kind == clock.KindCounter && c.scope != clock.ScopeThread }),
	}
}

// isOwn tells the clocks that this program reads itself.
func isOwn(c Clock) bool { return c.Runtime == "go" }

// mostUsual is the name of the most usual clock among those tied with the
// best.
func mostUsual(fits []Clock) *string {
	if len(fits) == 0 {
		return nil
	}
	best := 0.0
	for _, c := range fits {
		best = max(best, *c.Quality)
	}
	names := clock.Names()
	place := func(c Clock) int { // of other runtimes the best comes first
		if i := slices.Index(names, c.Name); i >= 0 {
			return i
		}
		return len(names)
	}
	var chosen *Clock
	for i, c := range fits {
		if *c.Quality > best-tied && (chosen == nil || place(c) < place(*chosen)) {
			chosen = &fits[i]
		}
	}
	return &chosen.Name
}
