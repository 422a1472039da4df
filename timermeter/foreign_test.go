package timermeter

import (
	"context"
	"errors"
	"math"
	"testing"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// remote answers questions with the readings of a simulated clock, as a probe does: what
// an answer takes on its way passes on the machine.
type remote struct {
	*clocktest.Clock
	name   string
	others map[string]*clocktest.Clock
	wayNs  float64
	fails  int // after so many answers it fails; 0 is never
	asked  int
	broken error
	ended  context.Context // where it can be interrupted
}

var errBroken = errors.New("the probe caught fire")

func (r *remote) way() error {
	r.Machine.Idle(r.wayNs)
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
	durations := make([]int64, n)
	r.Calls(r.others[reference])(batch, durations)
	return durations, r.way()
}

func (r *remote) Frames(_ context.Context, batch, n int) ([]int64, error) {
	durations := make([]int64, n)
	r.Calls(r.Clock)(0, durations)
	return durations, r.way()
}

func (r *remote) HandOver(_ context.Context, threads, n int) ([]int64, error) {
	if r.broken != nil {
		return nil, r.broken
	}
	var all []int64
	for i := range n {
		all = append(all, int64(i%threads), r.OnThread(i%threads).Read())
	}
	return all, r.way()
}

// rankRemote ranks simulated timers as those of a probe whose answers take wayNs, all
// timed by the first of them.
func rankRemote(t *testing.T, plan Plan, seed uint64, remotes ...*remote) []Rating {
	t.Helper()
	m := remotes[0].Machine
	timer := counter(m)
	s := Surroundings{Time: Timekeeper{clock.New(clock.Clock{Name: "reference"}, timer.Read), timer.UnitNs}, CPUs: []int{0, 1}}
	b := bench(m, timer, seed)
	pause := func(upToNs float64) { m.Idle(b.Rand.Float64() * upToNs) }
	var candidates []Candidate
	var reference *asked
	for _, r := range remotes {
		a := newAsked(background, Foreign{
			Clock: clock.Clock{Name: "remote/" + r.name, Kind: clock.KindWall, Scope: clock.ScopeMachine},
			Name:  r.name, TickNs: r.UnitNs, Ask: r,
		}, m.NowNs, pause)
		if reference == nil {
			reference = a
		}
		r.others = map[string]*clocktest.Clock{remotes[0].name: remotes[0].Clock}
		candidates = append(candidates, a.candidate(s, reference, Reference{UnitNs: remotes[0].UnitNs, AccuracyNs: remotes[0].QuantumNs}))
	}
	ratings, err := Rank(background, candidates, onTheWay(plan), b)
	if err != nil {
		t.Fatal(err)
	}
	return ratings
}

// A timer that another process reads is ranked by the same estimators, within 1 % of
// its accuracy and its quality, whether it's coarser than its cost or finer, and however
// long answers take.
func TestForeignTimersOfAnyQuantumAndCost(t *testing.T) {
	for _, wayNs := range []float64{20e3, 300e3} {
		for _, costNs := range []float64{6, 40, 3000} {
			for _, quantumNs := range []float64{0.4, 10, 41.667, 1e3, 4e6} {
				seed := uint64(costNs + quantumNs)
				m := clocktest.NewMachine(seed)
				unit := math.Min(1, quantumNs)
				fine := &remote{name: "fine", Clock: &clocktest.Clock{Machine: m, QuantumNs: 0.5, UnitNs: 0.5, Cost: clocktest.Constant(20)}, wayNs: wayNs}
				tested := &remote{name: "tested", Clock: &clocktest.Clock{
					Machine: m, QuantumNs: quantumNs, UnitNs: unit, PhaseNs: 0.3 * quantumNs,
					Cost: clocktest.WithOutliers(clocktest.Jittered(costNs, 0.05), 0.01, 50),
				}, wayNs: wayNs}
				for _, r := range rankRemote(t, QuickPlan, seed, fine, tested) {
					if r.Clock.Name != "remote/tested" {
						continue
					}
					want := Quality(quantumNs*3, costNs*3, r.Cost.Spread)
					if off := r.Accuracy.Value/quantumNs - 1; math.Abs(off) > 0.01 || math.Abs(r.Quality/want-1) > 0.01 {
						t.Errorf("quantum %g ns, cost %g ns, way %g ns: %+v, quality %.4f, want %.4f, %s %v",
							quantumNs, costNs, wayNs, r.Accuracy, r.Quality, want, r.Verdict, r.Reasons)
					}
				}
			}
		}
	}
}

// Faults of a foreign timer are found as those of any clock.
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
		if r.Verdict != c.want || (c.want == stats.Unusable) != (r.Quality == 0) {
			t.Errorf("%s: %s, quality %v, %v; want %s", name, r.Verdict, r.Quality, r.Reasons, c.want)
		}
	}
}

// A timer that fails in the middle has no rating, and the others have theirs.
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

// Threads that can't hand over leave a question open, and the timer its rating.
func TestForeignTimerWithoutThreads(t *testing.T) {
	r := rankRemote(t, QuickPlan, 1, &remote{Clock: nanosecondClock(1), wayNs: 5e4, broken: errBroken})[0]
	if r.ThreadSafe != nil || r.Verdict != stats.Trusted {
		t.Errorf("%+v; want a trusted timer of which thread safety is not known", r)
	}
}

// Interrupted, a ranking keeps what was measured of foreign timers, and nothing of what
// was made up since.
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
		a := newAsked(ctx, Foreign{Clock: clock.Clock{Name: "timer", Kind: clock.KindWall, Scope: clock.ScopeMachine}, Name: "timer", TickNs: 1, Ask: r},
			m.NowNs, func(upToNs float64) { m.Idle(b.Rand.Float64() * upToNs) })
		s := Surroundings{Time: Timekeeper{clock.New(clock.Clock{Name: "reference"}, timer.Read), timer.UnitNs}}
		ratings, err := Rank(ctx, []Candidate{a.candidate(s, nil, Reference{})}, DefaultPlan, b)
		if !errors.Is(err, context.Canceled) || len(ratings) > 1 || after > 0.6 && len(ratings) == 0 {
			t.Errorf("after %g: %d ratings, %v", after, len(ratings), err)
		}
		for _, rating := range ratings {
			if rating.Verdict != stats.Suspect || math.Abs(rating.Accuracy.Value-10) > 0.1 || rating.Cost.MinNs < 20 {
				t.Errorf("after %g: %+v", after, rating)
			}
		}
		cancel()
	}
}
