package timermeter

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/stats"
)

// Candidate is a clock to be ranked. It consists of functions, so that it can be any clock: one of
// this process, one of another runtime, or a simulated one.
type Candidate struct {
	Clock   clock.Clock // its description; its methods are not called
	Subject Subject
	// Pair reads the clock and a time reference together. Nil if the readings are not time.
	Pair func() clock.Sandwich
	// ReferenceTickNs is the length of a tick of the reference.
	ReferenceTickNs float64
	// Witness compares a clock of another program with a clock that it has to agree with. Nil for
	// the clocks that this process reads itself.
	Witness *Witness
	// HandOver lets threads on different CPUs read the clock in turn, n times altogether or
	// slightly more. Nil if that is impossible.
	HandOver func(ctx context.Context, n int) ([]check.Handed, error)
	// Err returns why the clock can no longer be read; all further readings are made up. The clock
	// then gets no rating, unless the ranking was interrupted. Err is nil for clocks that can't
	// fail.
	Err func() error
}

// Rating is what was measured about one clock. A value that could not be measured is missing, and
// Reasons says why.
type Rating struct {
	// Name, Runtime, API, Kind and UnitNs describe the clock, and so do the fields at the end; see
	// [clock.Clock].
	Name     string         `json:"name"`
	Runtime  string         `json:"runtime"`
	API      string         `json:"api"`
	Kind     clock.Kind     `json:"kind"`
	UnitNs   stats.Float    `json:"unit_ns"`
	Accuracy stats.Estimate `json:"accuracy"` // nanoseconds
	Cost     Cost           `json:"cost"`
	// Spread is the result of [CostSampler.Spread].
	Spread stats.Float `json:"spread"`
	// Quality is the result of [Quality], or 0 for a clock that is non-monotonic, unstable or not
	// thread-safe.
	Quality stats.Float `json:"quality"`
	// LeastDisturbed is for comparison with another ranking; nil if there were too few rounds, and
	// in older records.
	LeastDisturbed *LeastDisturbed `json:"least_disturbed,omitempty"`
	Cycles         Cycles          `json:"cycles"`
	// Monotonic says that no reading was less than an earlier one. Like ThreadSafe and Stable, it
	// is nil if that is not known.
	Monotonic *bool `json:"monotonic"`
	// ThreadSafe says that no reading was less than the one that another thread had handed over
	// before it.
	ThreadSafe *bool `json:"thread_safe"`
	// Stable says that the clock kept its rate against the reference.
	Stable *bool `json:"stable"`
	stats.Judgement
	CountsSleep   clock.Answer `json:"counts_sleep"`
	CountsSuspend clock.Answer `json:"counts_suspend"`
	Scope         clock.Scope  `json:"-"`
	Calendar      bool         `json:"-"`
	Settable      bool         `json:"-"`

	notHanded error // why threads could not hand readings over
}

// Cycles holds accuracy and median cost in cycles of the core; both are missing if the core's rate
// is not known.
type Cycles struct {
	Accuracy stats.Float `json:"accuracy"`
	Cost     stats.Float `json:"cost"`
}

// described returns a rating that only holds the clock's description.
func described(c clock.Clock) Rating {
	return Rating{
		Name: c.Name, Runtime: c.Runtime, API: c.API, Kind: c.Kind, UnitNs: stats.FloatOf(c.UnitNs),
		CountsSleep: c.CountsSleep, CountsSuspend: c.CountsSuspend, Scope: c.Scope, Calendar: c.Calendar, Settable: c.Settable,
	}
}

// Plan says how much time and how many measurements a ranking takes.
type Plan struct {
	Patience  Patience
	Rounds    int // of cost chunks and pairs: one of each per clock
	Handovers int // hand-overs per clock, over all threads
	// HandoverTime is the longest time for all hand-overs of all clocks.
	HandoverTime time.Duration
	// Watch is the time for which the clocks' rates are watched at the end. Total is the time,
	// from the start, until the watch ends if it waits for slow clocks to tick.
	Watch, Total time.Duration
}

// The plans. None has fewer than 20 rounds, because spread needs 20 chunks or more.
var (
	QuickPlan = Plan{
		Patience: Patience{CalmNs: 4e6, MostNs: 150e6},
		Rounds:   20, Handovers: 2000, HandoverTime: 200 * time.Millisecond, Watch: 100 * time.Millisecond, Total: 1300 * time.Millisecond,
	}
	DefaultPlan = Plan{
		Patience: Patience{CalmNs: 10e6, MostNs: 500e6},
		Rounds:   40, Handovers: 10000, HandoverTime: 600 * time.Millisecond, Watch: 300 * time.Millisecond, Total: 3500 * time.Millisecond,
	}
	ThoroughPlan = Plan{
		Patience: Patience{CalmNs: 40e6, MostNs: 1500e6},
		Rounds:   100, Handovers: 40000, HandoverTime: 3 * time.Second, Watch: time.Second, Total: 12 * time.Second,
	}
)

// Bench is the environment in which clocks are ranked: real or simulated.
type Bench struct {
	// NowNs tells the time by which patience is measured.
	NowNs func() float64
	// Wait waits between two looks at a slow clock.
	Wait func(time.Duration)
	// CoreHz is the rate of the core, NaN if it is not known.
	CoreHz float64
	Rand   *rand.Rand
	// Tidy collects the process's garbage, between two clocks.
	Tidy func()
	// Progress is called between two parts of the measurement with what is done next.
	Progress func(share float64, doing string)
}

// Limits of the judgement of rates.
const (
	// fewSteps is the largest number of steps of a clock that are reported as steps. A clock with
	// more has a changing rate.
	fewSteps = 3
	// fewestHandovers is the least number of hand-overs that tells whether a clock agrees between
	// threads.
	fewestHandovers = 200
	// watchEvery is the time between two looks.
	watchEvery = 5 * time.Millisecond
	// slowChanges is the number of changes for which a slow clock is watched.
	slowChanges = 3
)

// Rank measures all candidates and returns their ratings, best quality first. If ctx ends early, it
// returns what was measured so far and ctx's error. Clocks that were not reached and clocks that
// failed are left out.
//
// The clocks are measured in turns, so that a disturbance affects all of them and not a single one.
func Rank(ctx context.Context, candidates []Candidate, plan Plan, b Bench) ([]Rating, error) {
	r := &ranking{bench: b, plan: plan, started: b.NowNs()}
	for _, c := range candidates {
		r.subjects = append(r.subjects, newSubject(c, plan, b))
	}
	for _, step := range []func(context.Context){r.witness, r.accuracies, r.rounds, r.witness, r.handovers, r.watch} {
		step(ctx)
		if ctx.Err() != nil {
			break
		}
	}
	var ratings []Rating
	for _, s := range r.subjects {
		if s.cost == nil || s.failed() && ctx.Err() == nil {
			continue
		}
		if s.cost.Chunks() == 0 {
			s.chunk() // if the interruption came before the first chunk
		}
		if s.cost.Chunks() == 0 {
			continue
		}
		rating := s.rating(b.CoreHz)
		if ctx.Err() != nil {
			rating.Lower(stats.Suspect, "the measurement was interrupted")
		}
		ratings = append(ratings, rating)
	}
	slices.SortStableFunc(ratings, ByQuality)
	return ratings, ctx.Err()
}

// ranking is one run of Rank.
type ranking struct {
	bench    Bench
	plan     Plan
	started  float64
	subjects []*subject
	burst    [burstLength]int64
}

// subject is a candidate with what was gathered about it.
type subject struct {
	Candidate
	sampler  *Sampler
	accuracy Accuracy
	slow     bool // changes too seldom to be sampled within the patience for one clock
	cost     *CostSampler
	pairs    []clock.Sandwich
	order    check.BackSteps // among all readings of the measuring thread
	last     []int64         // the last reading, empty before the first
	threads  check.BackSteps // among readings that threads handed over

	notHanded error // why threads could not hand readings over
	testimony testimony
}

// failed reports whether the clock could not be read to the end.
func (s *subject) failed() bool { return s.Err != nil && s.Err() != nil }

// newSubject prepares a candidate to be measured. All its readings are checked for steps back.
func newSubject(c Candidate, plan Plan, b Bench) *subject {
	s := &subject{Candidate: c, slow: c.Subject.UnitNs > plan.Patience.MostNs}
	chain := c.Subject.Chain
	s.Subject.Chain = func(work int, ticks []int64) {
		chain(work, ticks)
		s.note(ticks)
	}
	s.sampler = NewSampler(s.Subject, b.NowNs, plan.Patience, b.Rand)
	return s
}

// note looks for steps back among readings, and between them and the previous ones.
func (s *subject) note(ticks []int64) {
	if len(ticks) == 0 {
		return
	}
	if len(s.last) > 0 {
		s.order.Add(check.Order([]int64{s.last[0], ticks[0]}))
	}
	s.order.Add(check.Order(ticks))
	s.last = append(s.last[:0], ticks[len(ticks)-1])
}

// These are the shares of progress at the end of each part, in proportion to the time that the
// parts take.
const (
	shareAccuracies = 0.5
	shareRounds     = 0.7
	shareHandovers  = 0.8
)

// witness reads each clock of another program together with its reference ([Witness]). Rank calls it before and
// after the parts in which only the usual thread of that program reads the clock. In a later part, threads hand
// readings to one another. Their CPU time would count in a reference that shows the CPU time of the program.
func (r *ranking) witness(context.Context) {
	for _, s := range r.subjects {
		if s.testimony.ask(s.Witness); s.testimony.pairs > 0 && !s.failed() {
			s.note([]int64{s.testimony.last.Counter})
		}
	}
}

// accuracies samples every clock for its accuracy.
func (r *ranking) accuracies(ctx context.Context) {
	for i, s := range r.subjects {
		if ctx.Err() != nil {
			return
		}
		r.bench.Progress(shareAccuracies*float64(i)/float64(len(r.subjects)), "accuracy of "+s.Clock.Name)
		if !s.slow {
			s.sampler.Sample(ctx)
			s.accuracy = s.sampler.Accuracy()
			s.slow = s.accuracy.Changes < slowChanges
			r.bench.Tidy()
		}
		s.cost = NewCostSampler(s.Subject, s.accuracySoFarNs(r.plan.Patience))
		r.look()
	}
}

// accuracySoFarNs returns the accuracy as far as it is known. For a clock that was hardly seen to
// move it returns the patience, which the accuracy exceeds.
func (s *subject) accuracySoFarNs(p Patience) float64 {
	if !s.slow && !math.IsNaN(s.accuracy.Units.Value) {
		return s.accuracy.Units.Value * s.Subject.UnitNs
	}
	return p.MostNs
}

// look takes a pair and a burst of readings of every clock, and a reading of the clocks that are too
// slow for a sample of their own. It is called between the parts of the measurement, so that the
// looks cover all of it.
func (r *ranking) look() {
	for _, s := range r.subjects {
		s.pair()
		if s.slow {
			s.sampler.Look()
		} else {
			s.Subject.Chain(0, r.burst[:])
		}
	}
}

// burstLength is how many readings a look takes. The kernel's own test for inconsistent clocks takes
// as many at a time.
const burstLength = 64

// rounds takes a cost chunk and a pair of each clock in every round.
func (r *ranking) rounds(ctx context.Context) {
	for i := range r.plan.Rounds {
		share := float64(i) / float64(r.plan.Rounds)
		r.bench.Progress(shareAccuracies+(shareRounds-shareAccuracies)*share, "invocation costs")
		for _, s := range r.subjects {
			if ctx.Err() != nil {
				return
			}
			s.chunk()
		}
		r.look()
	}
}

// chunk times one more chunk of calls. It drops the chunk if the clock failed.
func (s *subject) chunk() {
	s.cost.Chunk()
	if s.failed() {
		s.cost.dropChunk()
	}
}

func (s *subject) pair() {
	if s.Pair == nil {
		return
	}
	best := s.Pair()
	for range 4 {
		if p := s.Pair(); p.TighterThan(best) {
			best = p
		}
	}
	if s.failed() {
		return
	}
	s.note([]int64{best.Counter})
	s.pairs = append(s.pairs, best)
}

// handovers lets threads hand readings to one another.
func (r *ranking) handovers(ctx context.Context) {
	for i, s := range r.subjects {
		if ctx.Err() != nil {
			return
		}
		share := float64(i) / float64(len(r.subjects))
		r.bench.Progress(shareRounds+(shareHandovers-shareRounds)*share, s.Clock.Name+" from thread to thread")
		if s.HandOver != nil {
			s.handOver(ctx, r.plan.Handovers, r.plan.HandoverTime/time.Duration(len(r.subjects)))
		}
		r.look()
	}
}

// handOver lets threads hand readings over and looks for steps back. On a busy machine that may take
// long; after the limit it uses what was gathered so far.
func (s *subject) handOver(ctx context.Context, n int, limit time.Duration) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	handed, err := s.HandOver(limited, n)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		s.notHanded = err
		return
	}
	look := check.AcrossThreads
	if s.Clock.Scope == clock.ScopeThread {
		look = check.WithinThreads
	}
	s.threads = look(handed)
}

// watch looks at all clocks repeatedly to find their rates. It goes on for longer if slow clocks
// have hardly ticked yet.
func (r *ranking) watch(ctx context.Context) {
	spent := func() float64 { return r.bench.NowNs() - r.started }
	least, most := spent()+float64(r.plan.Watch), float64(r.plan.Total)
	for ctx.Err() == nil && (spent() < least || r.stillSlow() && spent() < most) {
		share := math.Min(1, spent()/most)
		r.bench.Progress(shareHandovers+(1-shareHandovers)*share, "watching the clocks' rates")
		r.bench.Wait(watchEvery)
		r.look()
	}
}

func (r *ranking) stillSlow() bool {
	return slices.ContainsFunc(r.subjects, func(s *subject) bool {
		return s.slow && s.sampler.taken.changes() < slowChanges
	})
}
