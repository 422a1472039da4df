package timermeter

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// remote answers questions with the readings of a simulated clock, as a probe does. The time that
// an answer takes on its way passes on the simulated machine.
type remote struct {
	*clocktest.Clock
	name   string
	others map[string]*clocktest.Clock
	wayNs  float64
	loopNs float64 // time of a round of the loop in which the calls stand
	fails  int     // it fails after this number of answers; 0 means never
	asked  int
	broken error
	kind   clock.Kind      // empty means wall
	alone  bool            // one thread takes all readings
	loose  bool            // each answer shifts the clock
	ended  context.Context // not nil if it can be interrupted
}

var errBroken = errors.New("the probe caught fire")

func (r *remote) way() error {
	r.Machine.Idle(r.wayNs)
	if r.loose {
		r.PhaseNs += 3*r.Machine.Rand().Float64() - 1.5
	}
	if r.ended != nil && r.ended.Err() != nil {
		return r.ended.Err()
	}
	if r.asked++; r.fails > 0 && r.asked > r.fails {
		return errBroken
	}
	return nil
}

func (r *remote) Reads(_ context.Context, n int) ([]int64, error) {
	ticks := make([]int64, n)
	r.Chain(0, ticks)
	return ticks, r.way()
}

func (r *remote) Pairs(_ context.Context, work, n int) ([]int64, error) {
	var all []int64
	for range n {
		var first, second [1]int64
		r.Chain(0, first[:])
		r.Chain(work, second[:])
		all = append(all, first[0], second[0])
	}
	return all, r.way()
}

func (r *remote) Durations(_ context.Context, reference string, batch, n int) ([]int64, error) {
	return r.loops(r.others[reference], batch, n, func() { r.Read() }), r.way()
}

func (r *remote) Frames(_ context.Context, batch, n int) ([]int64, error) {
	return r.loops(r.Clock, batch, n, func() {}), r.way()
}

// loops returns n durations of batch rounds of a loop, according to the reference.
func (r *remote) loops(reference *clocktest.Clock, batch, n int, each func()) []int64 {
	durations := make([]int64, n)
	for i := range durations {
		start := reference.Read()
		for range batch {
			each()
			r.Machine.Run(r.loopNs)
		}
		durations[i] = reference.Read() - start
	}
	return durations
}

func (r *remote) HandOver(_ context.Context, threads, n int) ([]int64, error) {
	if r.broken != nil {
		return nil, r.broken
	}
	var all []int64
	for i := range n {
		thread := i % threads
		if r.alone {
			thread = 0
		}
		all = append(all, int64(thread), r.OnThread(thread).Read())
	}
	return all, r.way()
}

// rankRemote ranks simulated timers as the timers of a probe whose answers take wayNs. The first
// timer times the calls of all.
func rankRemote(t *testing.T, plan Plan, seed uint64, remotes ...*remote) []Rating {
	t.Helper()
	ratings, err := rankedRemote(plan, seed, remotes...)
	if err != nil {
		t.Fatal(err)
	}
	return ratings
}

func rankedRemote(plan Plan, seed uint64, remotes ...*remote) ([]Rating, error) {
	m := remotes[0].Machine
	timer := counter(m)
	s := Surroundings{Time: referenceOf(timer), CPUs: []int{0, 1}}
	b := bench(m, timer, seed)
	pause := func(upToNs float64) { m.Idle(b.Rand.Float64() * upToNs) }
	var candidates []Candidate
	var reference *remoteTimer
	for _, r := range remotes {
		a := newRemoteTimer(background, Foreign{
			Clock: clock.Clock{Name: "remote/" + r.name, Kind: cmp.Or(r.kind, clock.KindWall), Scope: clock.ScopeMachine},
			Name:  r.name, TickNs: r.UnitNs, Ask: r,
			CPUTime: func() (float64, int, error) { return m.NowNs(), 1, nil },
		}, m.NowNs, pause)
		if reference == nil {
			reference = a
		}
		r.others = map[string]*clocktest.Clock{remotes[0].name: remotes[0].Clock}
		candidates = append(candidates, a.candidate(s, reference, Reference{UnitNs: remotes[0].UnitNs, AccuracyNs: remotes[0].QuantumNs}))
	}
	return Rank(background, candidates, onTheWay(plan), b)
}

// A timer that another process reads is ranked by the same estimators. Its accuracy and its
// quality are found to within 1 %, whether its accuracy is coarser or finer than its cost, and
// however long answers take.
func TestForeignTimersOfAnyQuantumAndCost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	all, next := clocktest.Cases(t, 1) > 1, 0
	for _, wayNs := range []float64{20e3, 300e3} {
		for _, costNs := range []float64{6, 40, 3000} {
			for _, quantumNs := range []float64{0.4, 10, 41.667, 1e3, 4e6} {
				if next++; !all && next%2 == 0 {
					continue // every way, cost and quantum remains, but not every combination
				}
				seed := uint64(costNs + quantumNs)
				m := clocktest.NewMachine(seed)
				unit := math.Min(1, quantumNs)
				fine := &remote{name: "fine", Clock: &clocktest.Clock{Machine: m, QuantumNs: 0.5, UnitNs: 0.5, Cost: clocktest.Constant(20)}, wayNs: wayNs}
				tested := &remote{name: "tested", Clock: &clocktest.Clock{
					Machine: m, QuantumNs: quantumNs, UnitNs: unit, PhaseNs: 0.3 * quantumNs,
					Cost: clocktest.WithOutliers(clocktest.Jittered(costNs, 0.05), 0.01, 50),
				}, wayNs: wayNs}
				for _, r := range rankRemote(t, QuickPlan, seed, fine, tested) {
					if r.Name != "remote/tested" {
						continue
					}
					want := Quality(quantumNs*3, costNs*3, r.Spread.Value())
					if off := r.Accuracy.Value/quantumNs - 1; math.Abs(off) > 0.01 || math.Abs(r.Quality.Value()/want-1) > 0.01 {
						t.Errorf("quantum %g ns, cost %g ns, way %g ns: %+v, quality %v, want %.4f, %s %v",
							quantumNs, costNs, wayNs, r.Accuracy, r.Quality, want, r.Verdict, r.Reasons)
					}
				}
			}
		}
	}
}

// randomRemotes returns a random timer and a fine one that times its calls, on a machine that
// takes the CPU away from time to time.
func randomRemotes(seed uint64) (fine, tested *remote, costNs float64) {
	rng := rand.New(rand.NewPCG(seed, 77))
	between := func(least, most float64) float64 { return least * math.Pow(most/least, rng.Float64()) }
	m := clocktest.NewMachine(seed)
	costNs = between(5, 100e3)
	m.Preemption = &clocktest.Preemption{EveryNs: math.Max(50*costNs, between(3e5, 1e7)), ForNs: between(2e3, 1e5)}
	loopNs, wayNs := between(0.3, 60), between(2e4, 3e5)
	quanta := [][2]float64{{0.4, 0.4}, {10, 0.4}, {1, 1}, {41.667, 1}, {100, 100}, {1000, 1000}}
	quantum := quanta[rng.IntN(len(quanta))]
	fine = &remote{name: "fine", loopNs: loopNs, wayNs: wayNs, Clock: &clocktest.Clock{
		Machine: m, QuantumNs: quantum[0], UnitNs: quantum[1], Cost: clocktest.Jittered(between(15, 200), 0.02),
	}}
	c := &clocktest.Clock{Machine: m, QuantumNs: between(1, 15e6), Cost: clocktest.Jittered(costNs, 0.02)}
	c.UnitNs = c.QuantumNs / []float64{1, 7.3, 1000}[rng.IntN(3)]
	c.PhaseNs = rng.Float64() * c.QuantumNs
	return fine, &remote{name: "tested", loopNs: loopNs, wayNs: wayNs, Clock: c}, costNs
}

// For timers of any quantum and cost, on a machine with occasional slow calls, timed by another
// timer or by themselves, accuracy, cost and quality are within 1 % of the truth. The number of
// rounds is large enough that chance hardly matters.
func TestForeignTimersAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cases := clocktest.Cases(t, 6)
	plan := DefaultPlan
	plan.Rounds = 200
	parallel(cases, func(i int) {
		seed := uint64(i)
		fine, tested, costNs := randomRemotes(seed)
		ratings, err := rankedRemote(plan, seed, fine, tested)
		if err != nil || len(ratings) != 2 {
			t.Errorf("seed %d: %d ratings, %v", seed, len(ratings), err)
			return
		}
		r := ratings[slices.IndexFunc(ratings, func(r Rating) bool { return r.Name == "remote/tested" })]
		for what, c := range map[string][2]float64{
			"accuracy": {r.Accuracy.Value, tested.QuantumNs}, "cost": {r.Cost.MedianNs.Value(), costNs},
			"quality": {r.Quality.Value(), Quality(tested.QuantumNs*3, costNs*3, r.Spread.Value())},
		} {
			if got, want := c[0], c[1]; !(math.Abs(got-want) <= 0.01*want) {
				t.Errorf("seed %d: quantum %.4g ns in units of %.4g ns, cost %.4g ns, by a timer of %.4g ns: %s %.4g, want %.4g, %s %v",
					seed, tested.QuantumNs, tested.UnitNs, costNs, fine.QuantumNs, what, got, want, r.Verdict, r.Reasons)
			}
		}
	})
}

// Faults of a foreign timer are found like those of any clock.
func TestForeignFaults(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*clocktest.Clock)
		want  stats.Verdict
	}{
		"none":                   {func(*clocktest.Clock) {}, stats.Trusted},
		"back steps":             {func(c *clocktest.Clock) { c.Faults.BackStepEvery, c.Faults.BackStepNs = 300, 5000 }, stats.Unusable},
		"offset between threads": {func(c *clocktest.Clock) { c.Faults.ThreadOffsetNs = []float64{0, -4000} }, stats.Unusable},
		"drift":                  {func(c *clocktest.Clock) { c.Faults.DriftPPMPerSecond = 50e3 }, stats.Unusable},
	} {
		sim := nanosecondClock(1)
		c.spoil(sim)
		r := rankRemote(t, DefaultPlan, 1, &remote{Clock: sim, wayNs: 1e4})[0]
		if r.Verdict != c.want || (c.want == stats.Unusable) != (r.Quality.Value() == 0) {
			t.Errorf("%s: %s, quality %v, %v; want %s", name, r.Verdict, r.Quality, r.Reasons, c.want)
		}
	}
}

// liarsAnswers are the answers of a program whose timer moves by step units at each reading, and
// does not show time.
type liarsAnswers struct {
	Questions
	shown, step int64
}

func (l *liarsAnswers) read(n int) []int64 {
	ticks := make([]int64, n)
	for i := range ticks {
		l.shown += max(1, l.step)
		ticks[i] = l.shown
	}
	return ticks
}

func (l *liarsAnswers) Reads(ctx context.Context, n int) ([]int64, error) {
	_, err := l.Questions.Reads(ctx, n)
	return l.read(n), err
}

func (l *liarsAnswers) Pairs(ctx context.Context, work, n int) ([]int64, error) {
	_, err := l.Questions.Pairs(ctx, work, n)
	return l.read(2 * n), err
}

// A timer of another program that added a nanosecond at each reading was once ranked first, and
// trusted. Now it is compared with time, and CPU time with what the kernel has counted. If nothing
// can tell, the timer is not trusted.
func TestTimerThatShowsNoTime(t *testing.T) {
	unknown := func() (float64, int, error) { return 0, 0, errBroken }
	for name, c := range map[string]struct {
		kind    clock.Kind
		scope   clock.Scope
		lies    bool
		step    int64
		cpuTime func() (float64, int, error)
		want    stats.Verdict
	}{
		"wall, right":                 {clock.KindWall, clock.ScopeMachine, false, 0, nil, stats.Trusted},
		"wall, too slow":              {clock.KindWall, clock.ScopeMachine, true, 1, nil, stats.Unusable},
		"wall, too fast":              {clock.KindWall, clock.ScopeMachine, true, 1e6, nil, stats.Unusable},
		"CPU time, right":             {clock.KindCPU, clock.ScopeProcess, false, 0, nil, stats.Trusted},
		"CPU time, too slow":          {clock.KindCPU, clock.ScopeProcess, true, 1, nil, stats.Unusable},
		"CPU time, too fast":          {clock.KindCPU, clock.ScopeProcess, true, 1e6, nil, stats.Unusable},
		"a thread's, right":           {clock.KindCPU, clock.ScopeThread, false, 0, nil, stats.Trusted},
		"a thread's, too slow":        {clock.KindCPU, clock.ScopeThread, true, 1, nil, stats.Unusable},
		"CPU time that nothing tells": {clock.KindCPU, clock.ScopeProcess, false, 0, unknown, stats.Suspect},
		"a counter of events":         {clock.KindCounter, clock.ScopeThread, false, 0, nil, stats.Suspect},
	} {
		sim := nanosecondClock(1)
		m := sim.Machine
		timer := counter(m)
		s := Surroundings{Time: referenceOf(timer)}
		b := bench(m, timer, 1)
		var ask Questions = &remote{Clock: sim, wayNs: 1e4}
		if c.lies {
			ask = &liarsAnswers{Questions: ask, step: c.step}
		}
		if c.cpuTime == nil {
			c.cpuTime = func() (float64, int, error) { return m.NowNs(), 3, nil }
		}
		pause := func(upToNs float64) { m.Idle(b.Rand.Float64() * upToNs) }
		a := newRemoteTimer(background, Foreign{Clock: clock.Clock{Name: "timer", Kind: c.kind, Scope: c.scope}, Name: "timer", TickNs: 1, Ask: ask, CPUTime: c.cpuTime}, m.NowNs, pause)
		ratings, err := Rank(background, []Candidate{a.candidate(s, a, Reference{UnitNs: 1, AccuracyNs: 10})}, onTheWay(QuickPlan), b)
		if err != nil || len(ratings) != 1 {
			t.Fatalf("%s: %d ratings, %v", name, len(ratings), err)
		}
		if r := ratings[0]; r.Verdict != c.want || c.lies != (r.Quality.Value() == 0) {
			t.Errorf("%s: %s with quality %v, want %s: %q", name, r.Verdict, r.Quality, c.want, r.Reasons)
		}
	}
}

// A timer that fails during the measurement gets no rating, and the others get theirs.
func TestForeignTimerThatFails(t *testing.T) {
	for _, after := range []int{1, 20, 100, 450} {
		good := &remote{Clock: nanosecondClock(1), wayNs: 5e4}
		bad := &remote{Clock: nanosecondClock(1), wayNs: 5e4, fails: after}
		bad.Machine = good.Machine
		ratings := rankRemote(t, QuickPlan, 1, good, bad)
		if len(ratings) != 1 || ratings[0].Verdict != stats.Trusted {
			t.Errorf("after %d answers: %+v; want the good one alone", after, ratings)
		}
	}
}

// If a reference can no longer time calls, the timers whose calls it timed get no rating, instead
// of a made-up cost.
func TestReferenceThatFails(t *testing.T) {
	coarse := func(m *clocktest.Machine) *remote {
		return &remote{name: "coarse", wayNs: 5e4, Clock: &clocktest.Clock{Machine: m, QuantumNs: 1e6, UnitNs: 1e6, Cost: clocktest.Constant(30)}}
	}
	fine := &remote{name: "fine", Clock: nanosecondClock(1), wayNs: 5e4}
	all := rankRemote(t, QuickPlan, 1, fine, coarse(fine.Machine))
	if len(all) != 2 {
		t.Fatalf("%d ratings, want both", len(all))
	}
	step := fine.asked / (1 + clocktest.Cases(t, 3))
	for after := step; after < fine.asked; after += step {
		failing := &remote{name: "fine", Clock: nanosecondClock(1), wayNs: 5e4, fails: after}
		for _, r := range rankRemote(t, QuickPlan, 1, failing, coarse(failing.Machine)) {
			if r.Name == "remote/coarse" && math.Abs(r.Cost.MedianNs.Value()-30) > 3 {
				t.Errorf("after %d answers: a cost of %v ns, want 30 or none", after, r.Cost.MedianNs)
			}
		}
	}
}

// CPU time stands still while its process waits for a question, and each wait shifts the readings
// after it. This is no fault of the clock. A shift while the clock is read is a fault.
func TestForeignCPUTime(t *testing.T) {
	for seed := range uint64(20) {
		r := &remote{kind: clock.KindCPU, loose: true, wayNs: 5e4, Clock: &clocktest.Clock{
			Machine: clocktest.NewMachine(seed), QuantumNs: 10.0149, UnitNs: 1, Cost: clocktest.Jittered(400, 0.02),
		}}
		got := rankRemote(t, QuickPlan, seed, r)[0]
		if got.Verdict != stats.Trusted || math.Abs(got.Accuracy.Value-10.0149) > 0.05 {
			t.Errorf("seed %d: %.5g ns, %s %v, want it trusted", seed, got.Accuracy.Value, got.Verdict, got.Reasons)
		}
		r.EdgeJitterNs, r.Machine = 5, clocktest.NewMachine(seed)
		if got := rankRemote(t, QuickPlan, seed, r)[0]; got.Verdict == stats.Trusted && math.Abs(got.Accuracy.Value-10.0149) > 0.5 {
			t.Errorf("seed %d, its updates up to 5 ns late: trusted with %.5g ns", seed, got.Accuracy.Value)
		}
	}
}

// If a timer can be timed only by itself and hardly moves during its calls, its cost is doubtful.
func TestCostThatNothingTimes(t *testing.T) {
	m := clocktest.NewMachine(1)
	c := &clocktest.Clock{Machine: m, QuantumNs: 15e6, UnitNs: 1e6, Cost: clocktest.Constant(30)}
	if r := rankRemote(t, QuickPlan, 1, &remote{Clock: c, wayNs: 5e4})[0]; r.Verdict != stats.Suspect {
		t.Errorf("%s, a cost of %v ns", r.Verdict, r.Cost.MedianNs)
	}
}

// The timer that times the others is never CPU time, a counter of events, or a clock that steps
// back, however fine it is.
func TestFinestTimer(t *testing.T) {
	m := clocktest.NewMachine(1)
	timer := func(quantumNs float64, description clock.Clock) *remoteTimer {
		c := &clocktest.Clock{Machine: m, QuantumNs: quantumNs, UnitNs: quantumNs, Cost: clocktest.Constant(25)}
		if description.Name == "steps back" {
			c.Faults.BackStepEvery, c.Faults.BackStepNs = 50, 5000
		}
		return newRemoteTimer(background, Foreign{Clock: description, TickNs: quantumNs, Ask: &remote{Clock: c, wayNs: 1e4}}, m.NowNs, func(float64) {})
	}
	l := &local{rng: m.Rand(), started: time.Now()}
	reference := referenceOf(counter(m))
	liar := timer(1, clock.Clock{Name: "counts its readings", Kind: clock.KindWall})
	liar.Ask = &liarsAnswers{Questions: liar.Ask}
	best, r := l.finest(background, []*remoteTimer{
		liar,
		timer(1, clock.Clock{Name: "CPU time", Kind: clock.KindCPU}),
		timer(1, clock.Clock{Name: "events", Kind: clock.KindCounter, Scope: clock.ScopeThread}),
		timer(1, clock.Clock{Name: "steps back", Kind: clock.KindWall}),
		timer(1000, clock.Clock{Name: "coarse", Kind: clock.KindWall}),
		timer(50, clock.Clock{Name: "right", Kind: clock.KindWall}),
	}, reference)
	if best == nil || best.Clock.Name != "right" || math.Abs(r.AccuracyNs-50) > 0.5 {
		t.Errorf("%+v, %+v", best, r)
	}
	if best, _ := l.finest(background, []*remoteTimer{timer(1, clock.Clock{Kind: clock.KindCPU})}, reference); best != nil {
		t.Error("CPU time times the others")
	}
}

// If threads can't hand readings over, the thread safety stays unknown, and the timer still gets
// its rating.
func TestForeignTimerWithoutThreads(t *testing.T) {
	r := rankRemote(t, QuickPlan, 1, &remote{Clock: nanosecondClock(1), wayNs: 5e4, broken: errBroken})[0]
	if r.ThreadSafe != nil || r.Verdict != stats.Trusted {
		t.Errorf("%+v; want a trusted timer of which thread safety is not known", r)
	}
}

// If it is interrupted, a ranking keeps what was measured of foreign timers, and none of the
// readings that were made up afterwards.
func TestInterruptedForeignTimers(t *testing.T) {
	for _, after := range []float64{0.2, 0.55, 0.65, 0.75, 0.81} {
		sim := nanosecondClock(1)
		m := sim.Machine
		timer := counter(m)
		b := bench(m, timer, 1)
		ctx, cancel := context.WithCancel(background)
		r := &remote{name: "timer", Clock: sim, wayNs: 1e4, ended: ctx}
		b.Progress = func(share float64, _ string) {
			if share > after {
				cancel()
			}
		}
		a := newRemoteTimer(ctx, Foreign{Clock: clock.Clock{Name: "timer", Kind: clock.KindWall, Scope: clock.ScopeMachine}, Name: "timer", TickNs: 1, Ask: r},
			m.NowNs, func(upToNs float64) { m.Idle(b.Rand.Float64() * upToNs) })
		coarse := newRemoteTimer(ctx, Foreign{Clock: clock.Clock{Name: "coarse", Kind: clock.KindWall, Scope: clock.ScopeMachine}, Name: "coarse", TickNs: 1e3,
			Ask: &remote{wayNs: 1e4, ended: ctx, others: map[string]*clocktest.Clock{"timer": sim},
				Clock: &clocktest.Clock{Machine: m, QuantumNs: 1e3, UnitNs: 1e3, Cost: clocktest.Constant(30)}},
		}, m.NowNs, a.pause)
		s := Surroundings{Time: referenceOf(timer)}
		by := Reference{UnitNs: 1, AccuracyNs: 10}
		ratings, err := Rank(ctx, []Candidate{a.candidate(s, a, by), coarse.candidate(s, a, by)}, DefaultPlan, b)
		if !errors.Is(err, context.Canceled) || len(ratings) > 2 || after > 0.6 && len(ratings) == 0 {
			t.Errorf("after %g: %d ratings, %v", after, len(ratings), err)
		}
		for _, rating := range ratings {
			if rating.Name == "coarse" {
				if rating.Monotonic == nil || !*rating.Monotonic || rating.Verdict == stats.Trusted {
					t.Errorf("after %g: %+v", after, rating)
				}
				continue
			}
			if rating.Verdict != stats.Suspect || math.Abs(rating.Accuracy.Value-10) > 0.1 || !(rating.Cost.MinNs.Value() >= 20) {
				t.Errorf("after %g: %+v", after, rating)
			}
		}
		cancel()
	}
}

// referenceOf returns a simulated clock as a reference for others.
func referenceOf(c *clocktest.Clock) clock.Rated {
	return clock.Rated{Clock: clock.New(clock.Clock{Name: "reference"}, c.Read), TickNs: stats.Estimate{Value: c.UnitNs}}
}

// A probe that has no threads may give all readings the same thread. That shows nothing of threads.
func TestForeignTimerOfOneThread(t *testing.T) {
	r := rankRemote(t, QuickPlan, 1, &remote{Clock: nanosecondClock(1), wayNs: 5e4, alone: true})[0]
	if r.ThreadSafe != nil || r.Verdict != stats.Trusted || r.notHanded == nil || r.notHanded.Error() != "its threads did not take turns" {
		t.Errorf("%+v; want a trusted timer of which thread safety is not known", r)
	}
}
