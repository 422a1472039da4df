package exporter

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"
)

// simulated is a machine whose turns and surveys cost what the test says, on a clock that only waits and
// measuring move.
type simulated struct {
	now, used time.Duration
	rng       *rand.Rand
	turn      func(now time.Duration) time.Duration // CPU time that a turn takes
	survey    time.Duration                         // on each CPU
	// slowness is how much longer a turn lasts than the CPU time that it takes.
	slowness float64
	scrapes  float64         // share of a CPU that they take
	wake     time.Duration   // CPU time that the end of a pause takes
	turns    []time.Duration // when
	surveys  []time.Duration
	spent    []spending
	end      time.Duration
	stop     context.CancelFunc
	// asleep is when the machine is suspended for eight hours, on a clock that goes on meanwhile.
	asleep time.Duration
}

type spending struct{ at, used time.Duration }

func (s *simulated) take(cost time.Duration) {
	s.now += scaled(cost, s.slowness)
	s.used += cost
	s.spent = append(s.spent, spending{s.now, s.used})
}

func (s *simulated) Turn(context.Context) Turn {
	s.turns = append(s.turns, s.now)
	s.take(s.turn(s.now))
	return Turn{Failures: []Failure{{StepNames, errors.New("no rights")}}}
}

func (s *simulated) Survey(_ context.Context, mostCPUs int) Survey {
	s.surveys = append(s.surveys, s.now)
	s.take(s.survey * time.Duration(mostCPUs))
	return Survey{CPUs: mostCPUs}
}

// pause lets time pass, in which scrapes cost a little.
func (s *simulated) pause(_ context.Context, d time.Duration) {
	s.now += d
	s.used += scaled(d, 1e-5+s.scrapes) + s.wake
	if s.asleep > 0 && s.now > s.asleep {
		s.now, s.asleep = s.now+8*time.Hour, 0
	}
	s.spent = append(s.spent, spending{s.now, s.used})
	if s.now > s.end {
		s.stop()
	}
}

func (s *simulated) run(t *testing.T, share float64, length time.Duration, busy func() bool) *Metrics {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s.end, s.stop = length, stop
	usedCPU := func() time.Duration { return s.used }
	elapsed := func() time.Duration { return s.now }
	m := NewMetrics(About{}, elapsed, usedCPU)
	Prober{
		Measurer: s, Metrics: m, Share: share, Busy: busy, UsedCPU: usedCPU, Elapsed: elapsed,
		Pause: s.pause, Rand: s.rng, Log: slog.New(slog.DiscardHandler),
	}.Run(ctx)
	return m
}

// mostInAnHour is the most CPU time that was used within any hour.
func (s *simulated) mostInAnHour() (most time.Duration) {
	first := 0
	for _, last := range s.spent {
		for s.spent[first].at < last.at-time.Hour {
			first++
		}
		before := time.Duration(0)
		if first > 0 {
			before = s.spent[first-1].used
		}
		most = max(most, last.used-before)
	}
	return most
}

// In no hour of two days is more used than the budget allows, whatever turns cost, but for what one turn
// costs more than those before it: that can't be known.
func TestTheBudgetHoldsInAnyHour(t *testing.T) {
	for name, c := range map[string]struct {
		share    float64
		turn     func(*rand.Rand, time.Duration) time.Duration
		slowness float64
		surprise time.Duration
	}{
		"steady":           {0.005, func(*rand.Rand, time.Duration) time.Duration { return 150 * time.Millisecond }, 1, 0},
		"a loaded machine": {0.005, func(*rand.Rand, time.Duration) time.Duration { return 150 * time.Millisecond }, 12, 0},
		"dear ones among them": {0.005, func(rng *rand.Rand, _ time.Duration) time.Duration {
			return time.Duration(50+rng.ExpFloat64()*100) * time.Millisecond
		}, 2, 500 * time.Millisecond},
		"dearer from noon on": {0.005, func(_ *rand.Rand, now time.Duration) time.Duration {
			return 100*time.Millisecond + now/(12*time.Hour)*100*time.Millisecond
		}, 1, 300 * time.Millisecond},
		"a small budget": {0.001, func(*rand.Rand, time.Duration) time.Duration { return 150 * time.Millisecond }, 1, 0},
		"a large one":    {0.1, func(*rand.Rand, time.Duration) time.Duration { return 150 * time.Millisecond }, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 0))
			s := &simulated{rng: rng, survey: 75 * time.Millisecond, slowness: c.slowness, turn: func(now time.Duration) time.Duration { return c.turn(rng, now) }}
			s.run(t, c.share, 48*time.Hour, nil)
			allowed := scaled(time.Hour, c.share) + c.surprise
			if most := s.mostInAnHour(); most > allowed {
				t.Errorf("%v of CPU time in an hour, allowed are %v", most, allowed)
			} else if most < allowed/2 {
				t.Errorf("%v of CPU time in an hour at most, of %v: the budget is left unused", most, allowed)
			}
			if len(s.surveys) < 36 || len(s.surveys) > 66 {
				t.Errorf("%d surveys in 48 hours, want about one an hour", len(s.surveys))
			}
		})
	}
}

// A small budget, of which scrapes take a part, is enough for a survey about once an hour, of fewer CPUs, and for turns that
// are not taken for stale. With 0.1 % the first survey once came after five hours, and one of 300 ms on each CPU never.
func TestASmallBudgetIsEnoughForSurveys(t *testing.T) {
	for name, c := range map[string]struct {
		share  float64
		survey time.Duration
	}{
		"0.1 %":             {0.001, 150 * time.Millisecond},
		"0.1 %, dear CPUs":  {0.001, 300 * time.Millisecond},
		"0.2 %, dear CPUs":  {0.002, 300 * time.Millisecond},
		"0.3 %, dear CPUs":  {0.003, 300 * time.Millisecond},
		"0.25 %, all of it": {0.0025, 225 * time.Millisecond}, // on four CPUs as much as can be saved: an earlier version waited for it without end
	} {
		t.Run(name, func(t *testing.T) {
			s := &simulated{rng: rand.New(rand.NewPCG(2, 0)), survey: c.survey, slowness: 1, scrapes: 0.0002, wake: time.Millisecond, turn: func(time.Duration) time.Duration { return 130 * time.Millisecond }}
			m := s.run(t, c.share, 48*time.Hour, nil)
			if len(s.surveys) < 36 || s.surveys[0] > 15*time.Minute {
				t.Errorf("surveys at %v", s.surveys)
			}
			if n := m.totals.failures[StepBudget]; n > 0 {
				t.Errorf("%d surveys or turns were refused", n)
			}
			for i, at := range s.turns[1:] {
				if age := at - s.turns[i]; age > 20*time.Minute { // ChronoscopeStale: more than 15 minutes, for 5
					t.Errorf("no turn from %v for %v", s.turns[i], age)
				}
			}
			if most, allowed := s.mostInAnHour(), scaled(time.Hour, c.share); most > allowed {
				t.Errorf("%v of CPU time in an hour, allowed are %v", most, allowed)
			}
		})
	}
}

// A turn that costs more than can ever be saved is counted as one that the budget does not allow, and
// measuring goes on once turns cost less.
func TestATurnThatCostsTooMuch(t *testing.T) {
	s := &simulated{rng: rand.New(rand.NewPCG(1, 0)), survey: time.Millisecond, slowness: 1, turn: func(now time.Duration) time.Duration {
		if now < time.Minute {
			return 20 * time.Second
		}
		return 50 * time.Millisecond
	}}
	m := s.run(t, 0.005, 12*time.Hour, nil)
	if m.totals.failures[StepBudget] == 0 {
		t.Error("nothing says that the budget is too small")
	}
	if len(s.turns) < 100 {
		t.Errorf("%d turns in 12 hours", len(s.turns))
	}
}

func TestTurnsAreLeftOutWhileTheMachineIsBusy(t *testing.T) {
	s := &simulated{rng: rand.New(rand.NewPCG(1, 0)), survey: time.Millisecond, slowness: 1, turn: func(time.Duration) time.Duration { return 100 * time.Millisecond }}
	m := s.run(t, 0.005, 2*time.Hour, func() bool { return s.now > time.Hour })
	if last := s.turns[len(s.turns)-1]; last > time.Hour {
		t.Errorf("a turn at %v, while the machine was busy", last)
	}
	if m.totals.pauses < 50 {
		t.Errorf("%d pauses were counted in an hour", m.totals.pauses)
	}
}

// Of two hundred exporters that start at once, no second sees many more turns than the mean.
func TestAFleetDoesNotBeatInStep(t *testing.T) {
	const nodes, length = 200, 30 * time.Minute
	inSecond := map[time.Duration]int{}
	total := 0
	for seed := range uint64(nodes) {
		s := &simulated{rng: rand.New(rand.NewPCG(seed, 0)), survey: 75 * time.Millisecond, slowness: 1, turn: func(time.Duration) time.Duration { return 100 * time.Millisecond }}
		s.run(t, 0.005, length, nil)
		for _, at := range s.turns {
			if at > 5*time.Minute {
				inSecond[at/time.Second]++
				total++
			}
		}
	}
	mean := float64(total) / (length - 5*time.Minute).Seconds()
	for second, n := range inSecond {
		if float64(n) > 5*mean { // Poisson's chance of 5 times a mean of 7 is 1e-13
			t.Errorf("%d turns in second %d, the mean is %.1f", n, second, mean)
		}
	}
	if mean < 3 {
		t.Errorf("a mean of %.1f turns a second", mean)
	}
}

// Neither what the start of the process took nor scrapes that take more than half of the budget break it: turns
// become rarer.
func TestTheBudgetHoldsBesideScrapes(t *testing.T) {
	const share = 0.005
	rng := rand.New(rand.NewPCG(5, 0))
	s := &simulated{rng: rng, survey: 100 * time.Millisecond, slowness: 2, scrapes: 0.003, used: 400 * time.Millisecond, turn: func(time.Duration) time.Duration {
		return time.Duration(100+rng.IntN(100)) * time.Millisecond
	}}
	s.run(t, share, 6*time.Hour, nil)
	if most, allowed := s.mostInAnHour(), scaled(time.Hour, share); most > allowed {
		t.Errorf("%v of CPU time in an hour, allowed are %v", most, allowed)
	}
	if len(s.turns) < 100 {
		t.Errorf("%d turns in 6 hours", len(s.turns))
	}
}

// After a suspend, or on a clock that was set forward, what could not be spent meanwhile is not spent at once.
func TestTheBudgetHoldsAfterASuspend(t *testing.T) {
	s := &simulated{rng: rand.New(rand.NewPCG(3, 0)), survey: 100 * time.Millisecond, slowness: 1, scrapes: 0.003, asleep: 2 * time.Hour, turn: func(time.Duration) time.Duration { return 100 * time.Millisecond }}
	s.run(t, 0.005, 16*time.Hour, nil)
	if most, allowed := s.mostInAnHour(), scaled(time.Hour, 0.005); most > allowed {
		t.Errorf("%v of CPU time in an hour, allowed are %v", most, allowed)
	}
	if last := s.turns[len(s.turns)-1]; last < 15*time.Hour {
		t.Errorf("no turn after %v", last)
	}
}
