package slowclock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/stats"
)

// Lab describes an event to time, and how to time it.
type Lab struct {
	Clock Clock
	// Event is the code that is timed. It must not allocate.
	Event func()
	// Fine is a better clock that times the same executions, to check the methods; nil if there is
	// none. It is read within the timed regions, and its readings are subtracted with the overhead.
	Fine *clock.Rated
	// Dither asks for pauses of random length between trials, so that they start
	// evenly over the tick, whatever the event's length is.
	Dither bool
	// Seed is the seed of the random pauses.
	Seed uint64
	// Delay waits for about the given number of nanoseconds; the pauses use it. If it is nil,
	// they use a busy loop that is calibrated by the slow clock.
	Delay func(ns float64)
	// Progress is called with the share of a method's plan that is done. It may be nil.
	Progress func(share float64, doing string)
}

// Plan says when a measurement ends: when the first of its limits is reached. Bernoulli and Classic divide the time, or
// the trials, into parts before they begin, and refuse a plan that limits neither.
type Plan struct {
	// Duration limits the time of the trials by the slow clock. It includes their preparation,
	// which takes up to some forty ticks and is never cut short. 0 is no limit.
	Duration time.Duration
	// Trials is the number of trials that is enough; 0 is no limit.
	Trials int64
	// Precision is the half-width of the interval, as a share of the value, that is enough; 0 uses
	// all the time.
	Precision float64
}

// nothing is the event of empty trials, whose time is the overhead.
func nothing() {}

// laboratory is a lab that is ready for trials.
type laboratory struct {
	Lab
	rng   *rand.Rand
	delay func(ns float64)
	// pauseEvery is the number of trials between two pauses of up to pauseNs; 0 for no pauses.
	pauseEvery int64
	pauseNs    float64
	unlooked   int // trials since the context was checked
	skips      int // steps of several ticks since the last edge
}

// open locks the thread and holds off the garbage collector until release is called.
func (l Lab) open() (lab *laboratory, release func()) {
	if l.Event == nil || l.Clock.Clock == nil {
		panic("slowclock: a Lab needs an Event to time, and a Clock from NewClock, Coarsened or FindTick")
	}
	release, _ = env.Hold() // fails only if a named CPU can't be had, and none is named
	lab = &laboratory{Lab: l, rng: rand.New(rand.NewPCG(l.Seed, 0x51c7)), delay: l.Delay}
	if lab.Progress == nil {
		lab.Progress = func(float64, string) {}
	}
	return lab, release
}

// trialsPerLook is how many trials within one tick are made between two checks of the context.
const trialsPerLook = 1 << 10

// ended reports whether the context has ended. It is checked once a tick, and now and then while the
// clock stands still.
func (l *laboratory) ended(ctx context.Context, ticked bool) bool {
	if l.unlooked++; l.unlooked < trialsPerLook && !ticked {
		return false
	}
	l.unlooked = 0
	return ctx.Err() != nil
}

// edge waits until the clock ticks, and returns its new reading. A step of several ticks is no
// edge: the thread was preempted then.
func (l *laboratory) edge(ctx context.Context) (reading int64, err error) {
	for last := l.Clock.Read(); ; {
		now := l.Clock.Read()
		ticks := l.Clock.ticks(now - last)
		if ticks == 1 {
			l.skips = 0
			return now, nil
		}
		if err := l.passedBy(ticks); err != nil {
			return now, err
		}
		ticked := now != last
		last = now
		if l.ended(ctx, ticked) {
			return now, ctx.Err()
		}
	}
}

// mostSkips steps of several ticks, without one of a single tick, show that the clock has no edges to wait
// for: preemption can't hide that many.
const mostSkips = 10_000

// passedBy returns an error if the clock keeps moving by several ticks between two readings, so
// that waiting for an edge is useless.
func (l *laboratory) passedBy(ticks int64) error {
	if ticks > 1 {
		l.skips++
	}
	if l.skips < mostSkips {
		return nil
	}
	return fmt.Errorf("%s made %d steps of several ticks of %s and none of a single one: this method needs a clock that shows each of its ticks: take the time of the event with it as it is, or name a tick that is longer than a reading", l.Clock.Name, l.skips, stats.Duration(l.Clock.TickNs, 3))
}

// perTick counts how often do runs in a tick, over some ticks from edge to edge. It returns the
// greatest count of a few tries, since the thread may be preempted, and at least 1.
func (l *laboratory) perTick(ctx context.Context, over int64, do func()) (float64, error) {
	const tries = 3
	most := 1.0
	for range tries {
		begun, err := l.edge(ctx)
		if err != nil {
			return most, err
		}
		for n := 1.0; ; n++ {
			do()
			if ticks := l.Clock.ticks(l.Clock.Read() - begun); ticks >= over {
				most = math.Max(most, n/float64(ticks))
				break
			}
			if l.ended(ctx, false) {
				return most, ctx.Err()
			}
		}
	}
	return most, nil
}

// prepare finds the number and length of pauses.
func (l *laboratory) prepare(ctx context.Context, event func()) error {
	l.pauseEvery = 0
	if !l.Dither {
		return nil
	}
	if err := l.calibrateDelay(ctx); err != nil {
		return err
	}
	perTick, err := l.perTick(ctx, 1, func() { l.trial(event) })
	if err != nil {
		return err
	}
	every, most := pauses(perTick)
	l.pauseEvery, l.pauseNs = every, most*l.Clock.TickNs
	return nil
}

// pauses returns the number of trials from pause to pause, and the longest pause in ticks, for
// perTick trials a tick. Four pauses a tick, each of up to four trials, make the place of an edge
// in the loop independent of the previous edge. If a tick has fewer trials, each trial starts
// anywhere in it.
func pauses(perTick float64) (every int64, mostTicks float64) {
	return max(1, int64(perTick/4)), math.Min(4/perTick, 1)
}

// calibrateDelay calibrates a busy loop by the slow clock, if the caller gave no way to pause. On a
// busy machine few ticks pass without other programs taking the CPU, so it tries until another try
// comes close to the best.
func (l *laboratory) calibrateDelay(ctx context.Context) (err error) {
	if l.delay != nil {
		return nil
	}
	const rounds, mostTries, close = 256, 7, 0.95
	var best, second float64
	for try := 0; try < mostTries && err == nil && (try < 2 || second < close*best); try++ {
		var perTick float64
		perTick, err = l.perTick(ctx, 1, func() { clock.Spin(rounds) })
		best, second = math.Max(best, perTick), math.Max(second, math.Min(best, perTick))
	}
	perNs := best * rounds / l.Clock.TickNs
	l.delay = func(ns float64) { clock.Spin(int(ns * perNs)) }
	return err
}

// pause waits for a random time up to mostNs, or until ctx ends, and returns that time.
func (l *laboratory) pause(ctx context.Context, mostNs float64) (pauseNs float64) {
	const atOnceNs = 100e6
	pauseNs = l.rng.Float64() * mostNs
	for ns := pauseNs; ns > 0 && ctx.Err() == nil; ns -= atOnceNs {
		l.delay(math.Min(ns, atOnceNs))
	}
	return pauseNs
}

// trial runs the event between two readings. It returns the readings of the slow clock, and the
// start and the duration by the finer clock.
func (l *laboratory) trial(event func()) (start, end, fineStart, fine int64) {
	start = l.Clock.Start()
	if l.Fine == nil {
		event()
		return start, l.Clock.End(), 0, 0
	}
	fineStart = l.Fine.Start()
	event()
	fine = l.Fine.End() - fineStart
	return start, l.Clock.End(), fineStart, fine
}

// series runs trials until the plan or ctx ends, or until enough reports that the trials so far
// suffice.
func (l *laboratory) series(ctx context.Context, event func(), plan Plan, doing string, enough func(*tally) bool) (*tally, error) {
	begun := l.Clock.Read()
	if err := l.prepare(ctx, event); err != nil {
		return newTally(), err
	}
	plan = l.left(plan, begun)
	t := newTally()
	t.paused = l.Dither
	mostTicks, trials := plan.ticks(l.Clock), plan.trials()
	asked, look, ask := int64(0), int64(firstLook), int64(firstAsk)
	last := l.Clock.Read()
	for t.trials+t.backward < trials && t.elapsed() < mostTicks {
		var pauseNs float64
		if l.pauseEvery > 0 && t.trials%l.pauseEvery == 0 {
			pauseNs = l.pause(ctx, l.pauseNs)
		}
		start, end, fineStart, fine := l.trial(event)
		t.add(l.Clock.ticks(start-last), l.Clock.ticks(end-start), fineStart, fine)
		if l.pauseEvery == 1 {
			t.pauses = t.pauses.with(pauseNs/l.Clock.TickNs, l.Clock.ticks(start-last))
		}
		ticked := end != last
		last = end
		if l.ended(ctx, ticked) {
			return t, ctx.Err()
		}
		if elapsed := t.elapsed(); elapsed != asked && elapsed >= look {
			asked, look = elapsed, max(elapsed+firstLook, elapsed*5/4)
			l.Progress(math.Max(float64(elapsed)/float64(mostTicks), float64(t.trials)/float64(trials)), doing)
			if enough != nil && elapsed >= ask {
				if enough(t) {
					break
				}
				ask = 2 * elapsed
			}
		}
	}
	return t, nil
}

// Progress is reported first after firstLook ticks. The precision is checked after firstAsk ticks,
// and again whenever their number has doubled: with frequent or early checks a measurement would
// stop when the scatter happens to be small.
const (
	firstLook = 16
	firstAsk  = 200
)

// left returns the plan without the time that has passed since the reading begun.
func (l *laboratory) left(plan Plan, begun int64) Plan {
	if plan.Duration > 0 {
		passed := time.Duration(float64(l.Clock.ticks(l.Clock.Read()-begun)) * l.Clock.TickNs)
		plan.Duration = max(1, plan.Duration-max(0, passed))
	}
	return plan
}

// divisible returns an error if the plan limits neither time nor trials.
func (p Plan) divisible() error {
	if p.Duration > 0 || p.Trials > 0 {
		return nil
	}
	return errors.New("slowclock: the plan limits neither time nor trials, so that there is nothing to divide among its parts: set Duration or Trials")
}

// ticks returns the greatest number of ticks of the clock that the plan may take.
func (p Plan) ticks(c Clock) int64 {
	if p.Duration <= 0 {
		return math.MaxInt64
	}
	return max(1, int64(float64(p.Duration)/c.TickNs))
}

// trials returns the greatest number of trials that the plan may take.
func (p Plan) trials() int64 {
	if p.Trials <= 0 {
		return math.MaxInt64
	}
	return p.Trials
}
