package timermeter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Local is the ranking of the clocks that this process can read.
type Local struct {
	Ratings     []Rating
	Unavailable []*clock.Unavailable
	Runtimes    []Runtime // the guests that were measured
	Counters    []CounterRate
	CoreHz      *stats.Estimate // nil if it could not be measured
	Caveats     []string
}

// CounterRate is the measured rate of a counter, together with the rate from other sources.
type CounterRate struct {
	Name      string             `json:"name"`
	Reference string             `json:"reference"` // the clock it was measured against
	RateHz    stats.Estimate     `json:"rate_hz"`
	Claims    []clock.CrossCheck `json:"claims"`
	Rate      clock.Rate         `json:"-"`
}

// Request says which clocks to rank, and how.
type Request struct {
	Plan Plan
	// Names are the names of this process's clocks to rank; empty for all. Clocks in Own are not
	// named here.
	Names []string
	// Own are clocks of the caller, each with its UnitNs, as [clock.New] makes them.
	Own []*clock.Clock
	// Guests are other runtimes to be ranked together with this process, or, if GuestsOnly is set,
	// instead of it.
	Guests     []Guest
	GuestsOnly bool
	// CPUs are the CPUs of the measuring thread; if empty, it may use all.
	CPUs     []int
	Seed     uint64
	Progress func(share float64, doing string)
}

// RankLocal ranks the clocks that this process and its guests can read. A guest that fails is
// listed as unavailable. The error is a [*clock.UnknownName] for an unknown name of a clock, an
// error of package [machine] for CPUs that are not available, or ctx's error. With ctx's error
// RankLocal also returns what was measured so far.
func RankLocal(ctx context.Context, q Request) (*Local, error) {
	if q.Progress == nil {
		q.Progress = func(float64, string) {}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpus, err := machine.Affinity()
	if err == nil {
		err = machine.SetAffinity(cpus) // tries whether threads can be bound, as the check requires
	}
	l := &local{request: q, result: &Local{}, rng: rand.New(rand.NewPCG(q.Seed, 0)), started: time.Now()}
	if err != nil {
		cpus = nil
		l.caveat("thread safety is not known: %v", err)
	} else if len(cpus) < 2 {
		l.caveat("thread safety is not known: this process may use one CPU only, and a check needs two")
	}
	release, err := env.Hold(q.CPUs...)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := l.open(); err != nil {
		return nil, err
	}
	defer l.close()
	return l.rank(ctx, cpus)
}

// Measure rates one clock: any function that returns its reading in units of unitNs nanoseconds.
// read has to be safe for use by several goroutines. It takes a few seconds; [RankLocal] can follow
// another plan and rank several clocks. If ctx ends, Measure returns its error, with the rating of
// what was measured so far if the clock was reached.
func Measure(ctx context.Context, read func() int64, unitNs float64) (Rating, error) {
	if read == nil {
		return Rating{}, errors.New("timermeter: there is no function that reads the clock")
	}
	own := clock.New(clock.Clock{Name: "own", Kind: clock.KindWall, Scope: clock.ScopeProcess, UnitNs: unitNs}, read)
	result, err := RankLocal(ctx, Request{Plan: DefaultPlan, Own: []*clock.Clock{own}})
	switch {
	case result != nil && len(result.Ratings) > 0:
		return result.Ratings[0], err
	case err != nil:
		return Rating{}, err
	default:
		return Rating{}, fmt.Errorf("timermeter: the clock could not be rated: %s", strings.Join(result.Caveats, "; "))
	}
}

// local is one run of RankLocal.
type local struct {
	request Request
	result  *Local
	rng     *rand.Rand
	started time.Time
	opened  []*clock.Clock // opened by this run, which closes them
	ranked  []*clock.Clock
}

func (l *local) caveat(format string, args ...any) {
	l.result.Caveats = append(l.result.Caveats, fmt.Sprintf(format, args...))
}

func (l *local) nowNs() float64 { return float64(time.Since(l.started).Nanoseconds()) }

// open opens the clocks that the request names.
func (l *local) open() error {
	for _, name := range l.request.Names {
		if !slices.Contains(clock.Names(), name) {
			return &clock.UnknownName{Name: name, Known: clock.Names()}
		}
	}
	clocks, missing := clock.List()
	l.opened = clocks
	all := len(l.request.Names)+len(l.request.Own) == 0
	wanted := func(name string) bool {
		return !l.request.GuestsOnly && (all || slices.Contains(l.request.Names, name))
	}
	for _, c := range l.request.Own {
		if !(c.UnitNs > 0) || math.IsInf(c.UnitNs, 1) {
			return fmt.Errorf("timermeter: the readings of %q count units of %v ns: give the unit's length, above 0", c.Name, c.UnitNs)
		}
	}
	l.ranked = slices.Clone(l.request.Own)
	for _, c := range clocks {
		if wanted(c.Name) {
			l.ranked = append(l.ranked, c)
		}
	}
	for _, u := range missing {
		if wanted(u.Name) {
			l.result.Unavailable = append(l.result.Unavailable, u)
		}
	}
	return nil
}

func (l *local) close() {
	for _, c := range l.opened {
		c.Close()
	}
}

// find returns the first of the named clocks that can be read, or nil.
func (l *local) find(names ...string) *clock.Clock {
	for _, name := range names {
		for _, c := range l.opened {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// rank calibrates the counter and ranks the clocks.
func (l *local) rank(ctx context.Context, cpus []int) (*Local, error) {
	progress := l.part(0, "")
	progress(0, "calibrating the counter")
	timer := l.find("monotonic-raw", "monotonic", "go-time-now")
	inUnits := func(c *clock.Clock) clock.Rated {
		return clock.Rated{Clock: c, TickNs: stats.Estimate{Value: c.UnitNs}}
	}
	s := Surroundings{Timer: timer, CPUs: cpus, Time: inUnits(timer), Second: inUnits(l.find("go-time-now"))}
	timerUnitNs := timer.UnitNs
	coreHz := math.NaN()
	counter := l.calibrate(ctx)
	if ctx.Err() != nil {
		return l.result, ctx.Err()
	}
	var perTick, off float64
	if counter.Clock != nil {
		perTick, off = counter.TickNs.Value, counter.Rate.Hz.RelativeHalfWidth()
		s.Timer, timerUnitNs, s.Second = counter.Clock, perTick, counter
		coreHz = l.measureCore(counter)
	} else {
		l.caveat("the core's rate is not known, and so no quality: no counter can be read to time the core with")
	}
	s.Reference = l.reference(ctx, s.Timer, timerUnitNs)
	b := Bench{NowNs: l.nowNs, Wait: time.Sleep, Rand: l.rng, CoreHz: coreHz, Tidy: runtime.GC, Progress: progress}
	if !l.request.GuestsOnly {
		var err error
		l.result.Ratings, err = Rank(ctx, l.candidates(s, perTick, off), l.request.Plan, b)
		l.sayUnjudged(ctx, l.result.Ratings, len(cpus) > 1)
		if err != nil {
			return l.result, err
		}
	}
	return l.result, l.receive(ctx, s, b)
}

// candidates returns the clocks to be ranked. A tick of the processor's counter is perTick
// nanoseconds long, with a relative error of up to off. If perTick is 0, the length is not known
// and the counter's clocks are left out.
func (l *local) candidates(s Surroundings, perTick, off float64) []Candidate {
	var candidates []Candidate
	for _, c := range l.ranked {
		switch {
		case c.UnitNs > 0:
			candidates = append(candidates, FromClock(c, c.UnitNs, 0, s))
		case countsEvents(c):
			candidates = append(candidates, FromClock(c, eventNs(c), 0, s))
		case perTick > 0:
			candidates = append(candidates, FromClock(c, perTick, off, s))
		default:
			l.result.Unavailable = append(l.result.Unavailable, &clock.Unavailable{
				Name: c.Name, Reason: clock.Refused, Detail: "its rate could not be measured (see the caveats)",
			})
		}
	}
	return candidates
}

// sayUnjudged adds caveats that name the clocks whose rate, or whose agreement between threads,
// is not known, and say why. handedOver reports that threads were to hand readings over.
func (l *local) sayUnjudged(ctx context.Context, ratings []Rating, handedOver bool) {
	if ctx.Err() != nil {
		l.caveat("what was not reached before the interruption is not known")
		return
	}
	var ofProcess, coarse []string
	var notHanded []Rating
	for _, r := range ratings {
		if r.ThreadSafe == nil && handedOver {
			notHanded = append(notHanded, r)
		}
		switch {
		case r.Stable != nil:
		case r.Kind == clock.KindCPU && r.Scope == clock.ScopeProcess:
			ofProcess = append(ofProcess, r.Name)
		default:
			coarse = append(coarse, r.Name)
		}
	}
	l.sayNotHanded(notHanded)
	if len(ofProcess) > 0 {
		l.caveat("stability is not known of %s: how fast a process's CPU time passes is up to the scheduler", strings.Join(ofProcess, ", "))
	}
	if len(coarse) > 0 {
		l.caveat("stability is not known of %s: watched too briefly; a longer measurement may tell", strings.Join(coarse, ", "))
	}
}

// calibration is the duration of a calibration. A hundredth of a second would be enough for the
// ranking, but the rate is reported too.
const calibration = 100 * time.Millisecond

// calibrate measures the rate of the processor's counter, and collects its rate from other sources.
// The Clock of the result is nil if the counter can't be read or measured.
func (l *local) calibrate(ctx context.Context) clock.Rated {
	counter := l.find(clock.BareCounters()...)
	if counter == nil {
		return clock.Rated{}
	}
	rated, err := env.Rate(ctx, counter, calibration)
	if err != nil {
		l.caveat("the rate of %s is not known: %v", counter.Name, err)
		return clock.Rated{}
	}
	rate := rated.Rate
	for _, caveat := range rate.Caveats {
		l.caveat("%s: %s", counter.Name, caveat)
	}
	l.result.Counters = append(l.result.Counters, CounterRate{
		Name: counter.Name, Reference: rate.Reference, RateHz: rate.Hz, Rate: rate,
		Claims: append([]clock.CrossCheck{}, clock.CrossChecks(os.DirFS("/"), rate)...),
	})
	return rated
}

// measureCore returns the core's rate in Hz, NaN if it can't be measured.
func (l *local) measureCore(counter clock.Rated) float64 {
	hz, err := clock.CoreRate(counter.Clock, counter.Rate)
	if err != nil {
		l.caveat("the core's rate is not known, and so no quality: %v", err)
		return math.NaN()
	}
	l.result.CoreHz = &hz
	return hz.Value
}

// reference returns the timer's properties as a reference. Its accuracy is found like that of any
// clock.
func (l *local) reference(ctx context.Context, timer *clock.Clock, unitNs float64) Reference {
	sampler := NewSampler(Subject{UnitNs: unitNs, Chain: timer.Chain}, l.nowNs, QuickPlan.Patience, l.rng)
	sampler.Sample(ctx)
	accuracy := sampler.Accuracy().Units.Value * unitNs
	if math.IsNaN(accuracy) {
		accuracy = unitNs
	}
	return Reference{UnitNs: unitNs, AccuracyNs: accuracy}
}

// eventNs returns the mean time from one event to the next of a counter that has no rate of its
// own, in a thread that only reads it; NaN if the counter stands still.
func eventNs(c *clock.Clock) float64 {
	ticks := make([]int64, 4096)
	start := time.Now()
	c.Chain(0, ticks)
	events := ticks[len(ticks)-1] - ticks[0]
	if events <= 0 {
		return math.NaN()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(events)
}
