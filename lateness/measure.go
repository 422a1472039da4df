package lateness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"chronoscope/internal/stops"
)

// Plan says what to measure.
type Plan struct {
	// Lengths are the lengths that each timer is asked for.
	Lengths []time.Duration
	// Wakes is the number of wake-ups at each length: 368 are needed for a p99 with an interval,
	// 3,688 for a p99.9.
	Wakes int
	// Seed fixes every random choice.
	Seed uint64
	// Progress is called now and then with the share of the measurement that is done; it may be nil.
	Progress func(share float64, timer string)
}

// DefaultPlan takes some 20 seconds for Go's timers and the kernel's.
var DefaultPlan = Plan{Lengths: []time.Duration{100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}, Wakes: 400}

// rounds is the number of turns that each timer has at each length, so that a change of the machine
// affects all of them.
const rounds = 4

// Bounds of lengths and wake-ups.
const (
	leastLength, mostLength = time.Microsecond, time.Minute
	mostWakes               = 1 << 20
)

// Check says which value of the plan is out of range.
func (p Plan) Check() error {
	if len(p.Lengths) == 0 {
		return errors.New("lateness: no length is asked for: give one, such as 1ms")
	}
	for _, length := range p.Lengths {
		if length < leastLength || length > mostLength {
			return fmt.Errorf("lateness: a length of %v: choose %v to %v", length, leastLength, mostLength)
		}
	}
	if p.Wakes < rounds || p.Wakes > mostWakes {
		return fmt.Errorf("lateness: %d wake-ups: choose %d to %d (400 carry a p99)", p.Wakes, rounds, mostWakes)
	}
	return nil
}

// cell is a timer at a length.
type cell struct {
	timer  Timer
	length time.Duration
	series []series // one of each round
	err    error
}

// series has the wake-ups of one round.
type series struct {
	lateNs  []float64
	moments []float64 // when each wake-up was due, in lengths since the beginning
	missed  int
	// discarded is the number of wake-ups that were left out because this process was stopped.
	discarded int
}

// leastStopNs is the least lateness of a wake-up that a stop of this process may have caused.
const leastStopNs = 1e6

// Measure lets each timer fire at each length. If ctx ends, it returns what was measured so far,
// with ctx's error.
func Measure(ctx context.Context, plan Plan, timers []Timer) (Report, error) {
	if err := plan.Check(); err != nil {
		return Report{}, err
	}
	random := rand.New(rand.NewPCG(plan.Seed, 0x1a7e))
	var cells []*cell
	for _, t := range timers {
		if t.Waker == nil {
			return Report{}, fmt.Errorf("lateness: timer %q has no Waker, the function that starts it", t.Name)
		}
		for _, length := range plan.Lengths {
			cells = append(cells, &cell{timer: t, length: length})
		}
	}
	done := 0
	for round := range rounds {
		for _, i := range random.Perm(len(cells)) {
			if ctx.Err() != nil {
				return conclude(cells, plan), ctx.Err()
			}
			if plan.Progress != nil {
				plan.Progress(float64(done)/float64(rounds*len(cells)), cells[i].timer.Name)
			}
			cells[i].run(ctx, (round+1)*plan.Wakes/rounds-round*plan.Wakes/rounds, random)
			done++
		}
	}
	return conclude(cells, plan), ctx.Err()
}

// mostPause is the longest pause before a timer that fires once. Without pauses, each wait would
// begin when another timer has fired, at the same place in the kernel's tick.
const mostPause = time.Millisecond

// run waits for the timer wakes times, and adds a series.
func (c *cell) run(ctx context.Context, wakes int, random *rand.Rand) {
	if c.err != nil {
		return
	}
	if c.timer.Unit > 0 && c.length%c.timer.Unit != 0 {
		c.err = fmt.Errorf("%w: whole multiples of %v alone", errLength, c.timer.Unit)
		return
	}
	wake, release, err := c.timer.Waker(c.length)
	if err != nil {
		c.err = err
		return
	}
	defer release()
	s := series{lateNs: make([]float64, 0, wakes)}
	defer func() { c.series = append(c.series, s) }()
	continued := false // this process was, before this wake-up: what it missed is not the timer's fault
	for len(s.lateNs) < wakes {
		if ctx.Err() != nil {
			return
		}
		stopped := stops.Begin()
		if !c.timer.Periodic {
			spin(time.Duration(random.Float64() * float64(min(mostPause, c.length))))
		}
		lateNs, missed, err := wake(ctx)
		if err != nil {
			c.err = err
			return
		}
		if lateNs+float64(missed)*float64(c.length) >= leastStopNs && stopped.Count() > 0 {
			s.discarded, continued = s.discarded+1, true
			continue
		}
		if continued {
			missed, continued = 0, false
		}
		s.missed += missed
		s.lateNs = append(s.lateNs, lateNs)
		s.moments = append(s.moments, float64(len(s.lateNs)+s.missed))
	}
}

// spin waits without giving up the CPU.
func spin(length time.Duration) {
	for until := nowNs() + int64(length); nowNs() < until; {
	}
}
