package timermeter

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/stats"
)

// briefLocal returns a run that has a guest, and a bench that gives it next to no time.
func briefLocal(open func(ctx context.Context) (*Company, error), cpus ...int) (*local, Bench) {
	plan := Plan{Patience: Patience{CalmNs: 1, MostNs: 1}, Rounds: 1, Handovers: 1, HandoverTime: time.Second}
	l := &local{
		request: Request{Plan: plan, Guests: []Guest{{Name: "guest", Open: open}}, CPUs: cpus, Progress: func(float64, string) {}},
		result:  &Local{}, rng: rand.New(rand.NewPCG(1, 1)), started: time.Now(),
	}
	return l, Bench{NowNs: l.nowNs, Wait: func(time.Duration) {}, Rand: l.rng, CoreHz: 3e9, Tidy: func() {}}
}

// countsHandOvers counts how often readings are to be handed over.
type countsHandOvers struct {
	*remote
	asked int
}

func (c *countsHandOvers) HandOver(ctx context.Context, threads, n int) ([]int64, error) {
	c.asked++
	return c.remote.HandOver(ctx, threads, n)
}

// The threads of a guest are bound to the CPUs of the measuring thread. On one CPU they show
// nothing of thread safety.
func TestGuestsOnOneCPU(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		asks bool
	}{{nil, true}, {[]int{0, 1}, true}, {[]int{1}, false}} {
		ask := &countsHandOvers{remote: &remote{Clock: nanosecondClock(1)}}
		timer := counter(ask.Machine)
		l, b := briefLocal(func(context.Context) (*Company, error) {
			described := clock.Clock{Name: "guest/timer", Kind: clock.KindCPU}
			return &Company{Timers: []Foreign{{Clock: described, Name: "timer", TickNs: 1, Ask: ask}}, Close: func() {}}, nil
		}, c.cpus...)
		if err := l.receive(background, Surroundings{Time: referenceOf(timer), CPUs: []int{0, 1}}, b); err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(l.result.Caveats, "\n"), "thread safety is not known of other runtimes: their threads may use CPU 1 only")
		if ask.asked > 0 != c.asks || said == c.asks {
			t.Errorf("on %v: asked %d times, caveats %q", c.cpus, ask.asked, l.result.Caveats)
		}
	}
}

// A guest that is interrupted while it starts is not called unavailable.
func TestGuestInterruptedWhileItStarts(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	l, b := briefLocal(func(context.Context) (*Company, error) {
		cancel()
		return nil, errors.New("compiling the probe: signal: killed")
	})
	if err := l.receive(ctx, Surroundings{}, b); !errors.Is(err, context.Canceled) || len(l.result.Unavailable) > 0 {
		t.Errorf("%v, unavailable %v", err, l.result.Unavailable)
	}
}

// The caveat about thread safety has the error of the threads.
func TestWhyNothingWasHandedOver(t *testing.T) {
	sim := nanosecondClock(1)
	timer := counter(sim.Machine)
	c := candidate("clock", sim, timer)
	c.HandOver = func(context.Context, int) ([]check.Handed, error) { return nil, errors.New("CPU 3 is offline") }
	ratings, err := Rank(background, []Candidate{c}, QuickPlan, bench(sim.Machine, timer, 1))
	if err != nil {
		t.Fatal(err)
	}
	l := &local{result: &Local{}}
	l.sayUnjudged(background, ratings, true)
	if !slices.Contains(l.result.Caveats, "thread safety is not known of clock: CPU 3 is offline") {
		t.Errorf("%q", l.result.Caveats)
	}
}

// A clock whose reading never changed needs no longer measurement.
func TestWitnessOfAConstantClock(t *testing.T) {
	r := Rating{Judgement: stats.NewJudgement(), Accuracy: stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}}
	s := &subject{Candidate: Candidate{Witness: &Witness{TickNs: 1, Sharers: 1}}, testimony: testimony{pairs: 2}}
	s.testimony.last = clock.Sandwich{Before: 5e8, After: 5e8}
	if r.judgeWitness(s); len(r.Reasons) > 0 {
		t.Errorf("%q", r.Reasons)
	}
}
