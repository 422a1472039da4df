package timermeter

import (
	"context"
	"errors"
	"math"

	"chronoscope/clock"
	"chronoscope/clock/check"
)

// Foreign is a timer that another process reads. It is measured by the same estimators as any
// clock, but its readings come as answers to questions.
type Foreign struct {
	Clock  clock.Clock // its description; its methods are not called
	Name   string      // the name that the other process gives it
	TickNs float64     // nanoseconds per tick of a reading
	Ask    Questions
	// CPUTime returns the CPU time that the kernel has counted for the process that reads the
	// timer, in nanoseconds, and the process's number of threads. Nil if nothing can tell.
	CPUTime func() (ns float64, threads int, err error)
}

// Questions are the questions that another process answers about one of its timers. Readings are
// in ticks, in the order in which they were taken. A question returns ctx's error once ctx has
// ended. If one of the first four questions returns an error, the timer gets no rating.
type Questions interface {
	// Reads returns n consecutive readings.
	Reads(ctx context.Context, n int) ([]int64, error)
	// Pairs returns 2n readings: n pairs with work rounds of work between the two readings.
	Pairs(ctx context.Context, work, n int) ([]int64, error)
	// Durations returns n durations, each of batch calls, in ticks of the timer that the other
	// process calls reference.
	Durations(ctx context.Context, reference string, batch, n int) ([]int64, error)
	// Frames returns n durations of the loop of Durations without its calls, by this timer. If
	// batch is 0, they are differences of two consecutive readings.
	Frames(ctx context.Context, batch, n int) ([]int64, error)
	// HandOver returns n readings by threads that take turns, each as two numbers: the thread's
	// number and its reading.
	HandOver(ctx context.Context, threads, n int) ([]int64, error)
}

// remoteTimer is a foreign timer while it is measured. The measurement calls functions that can't
// return an error, so the first error is stored here. From then on, all readings repeat the last
// good one.
type remoteTimer struct {
	Foreign
	ctx       context.Context
	nowNs     func() float64
	pause     func(upToNs float64) // waits for a random time
	wayNs     float64              // the time of the quickest round trip
	last      int64
	err       error
	reference *remoteTimer // times the calls; nil if nothing can
}

func newRemoteTimer(ctx context.Context, f Foreign, nowNs func() float64, pause func(upToNs float64)) *remoteTimer {
	return &remoteTimer{Foreign: f, ctx: ctx, nowNs: nowNs, pause: pause, wayNs: math.Inf(1)}
}

// A pause takes up to pausesOfWay times the time of the quickest round trip, but at most
// longestPauseNs.
const (
	pausesOfWay    = 4
	longestPauseNs = 2e6
)

// put asks a question and stores as much of the answer as into has room for. It reports whether
// there was an answer.
func (a *remoteTimer) put(into []int64, question func() ([]int64, error)) bool {
	var answer []int64
	if a.err == nil {
		answer, a.err = question()
	}
	if a.err == nil && len(answer) < len(into) {
		a.err = errTooFew
	}
	if a.err != nil {
		return false
	}
	copy(into, answer)
	return true
}

// read fills ticks with the readings of an answer. After an error, the made-up readings don't step
// back.
func (a *remoteTimer) read(ticks []int64, question func() ([]int64, error)) {
	if a.put(ticks, question) {
		a.last = ticks[len(ticks)-1]
		return
	}
	for i := range ticks {
		ticks[i] = a.last
	}
}

var errTooFew = errors.New("it gave fewer readings than were asked for")

// chain fills ticks with consecutive readings. If work is not 0, they are pairs, and the work is
// done between the two readings of each pair. All round trips take about the same time, and equal
// steps between readings would add a regular pattern of their own to the clock's. So chain waits
// for a random time before each question.
func (a *remoteTimer) chain(work int, ticks []int64) {
	a.pause(math.Min(longestPauseNs, pausesOfWay*a.wayNs))
	begin := a.nowNs()
	defer func() { a.wayNs = math.Min(a.wayNs, a.nowNs()-begin) }()
	if work == 0 {
		a.reads(ticks)
		return
	}
	a.read(ticks, func() ([]int64, error) {
		return a.Ask.Pairs(a.ctx, work, (len(ticks)+1)/2)
	})
}

func (a *remoteTimer) reads(ticks []int64) {
	a.read(ticks, func() ([]int64, error) { return a.Ask.Reads(a.ctx, len(ticks)) })
}

func (a *remoteTimer) calls(batch int, durations []int64) {
	a.put(durations, func() ([]int64, error) {
		return a.Ask.Durations(a.ctx, a.reference.Name, batch, len(durations))
	})
}

// frames makes the reference time the loop around the calls, without the calls. The loop takes
// long if the runtime interprets its programs. If the reference can't answer, this timer fails,
// because its calls are not timed.
func (a *remoteTimer) frames(batch int, durations []int64) {
	a.put(durations, func() ([]int64, error) { return a.reference.Ask.Frames(a.ctx, batch, len(durations)) })
}

// handOverAtOnce is how many readings threads hand over in one answer. The time for all readings
// may end between two answers.
const handOverAtOnce = 256

// handOvers returns n readings that two threads took in turn, or as many as there is time for.
// For each answer the other process uses new threads.
func (a *remoteTimer) handOvers(limited context.Context, n int) ([]check.Handed, error) {
	const threads = 2
	var all []check.Handed
	for turn := 0; len(all) < n && limited.Err() == nil; turn++ {
		answer, err := a.Ask.HandOver(a.ctx, threads, handOverAtOnce)
		if err != nil {
			return nil, err
		}
		for i := 0; i+1 < len(answer); i += 2 {
			if i > 0 && answer[i] == answer[i-2] {
				return nil, errors.New("its threads did not take turns")
			}
			all = append(all, check.Handed{Thread: turn*threads + int(answer[i]), Ticks: answer[i+1]})
		}
	}
	return all, nil
}

// candidate returns a candidate for the timer. Its calls are timed by reference, a timer of its own
// process; its rate is compared with this process's clocks.
func (a *remoteTimer) candidate(s Surroundings, reference *remoteTimer, r Reference) Candidate {
	a.reference = reference
	c := Candidate{
		Clock:   a.Clock,
		Subject: a.subject(),
		Err:     func() error { return a.err },
		Witness: a.witness(s.Time),
	}
	if !countsEvents(&a.Clock) {
		c.ReferenceTickNs = s.Time.TickNs.Value
		c.Pair = func() clock.Sandwich { return a.sandwich(s.Time) }
	}
	if reference != nil {
		c.Subject.Calls, c.Subject.Frames, c.Subject.Reference = a.calls, a.frames, r
	}
	if len(s.CPUs) > 1 {
		c.HandOver = a.handOvers
	}
	return c
}

// readingsAtOnce is the least number of readings per question. With more, there would be fewer
// different amounts of work between readings, and these show the lattice of a fine clock.
const readingsAtOnce = 16

// subject returns the timer as a Subject without Calls and Frames, since nothing times its calls.
func (a *remoteTimer) subject() Subject {
	return Subject{
		UnitNs: a.TickNs, Chain: a.chain,
		LeastChain: readingsAtOnce, StandsStill: a.Clock.Kind == clock.KindCPU,
	}
}

// sandwich reads the timer between two readings of a reference of this process.
func (a *remoteTimer) sandwich(ref clock.Rated) clock.Sandwich {
	var tick [1]int64
	before := ref.Read()
	a.reads(tick[:])
	return clock.Sandwich{Before: before, Counter: tick[0], After: ref.Read()}
}

// witness compares the timer with the time of this process, or, if the timer shows CPU time, with
// the CPU time that the kernel has counted for the process that reads it.
func (a *remoteTimer) witness(ref clock.Rated) *Witness {
	untold := func(why string) *Witness {
		return &Witness{Pair: func() (clock.Sandwich, error) { return clock.Sandwich{}, errors.New(why) }}
	}
	switch {
	case countsEvents(&a.Clock):
		return untold("it counts events of a thread")
	case a.Clock.Kind != clock.KindCPU:
		return &Witness{Sharers: 1, TickNs: ref.TickNs.Value, Pair: func() (clock.Sandwich, error) { return a.sandwich(ref), a.err }}
	case a.CPUTime == nil:
		return untold("the CPU time of its process is not known")
	}
	w := &Witness{Sharers: 1, TickNs: 1}
	w.Pair = func() (clock.Sandwich, error) {
		before, threads, err := a.CPUTime()
		if err != nil {
			return clock.Sandwich{}, err
		}
		if a.Clock.Scope == clock.ScopeThread {
			w.Sharers = max(w.Sharers, threads)
		}
		var tick [1]int64
		a.reads(tick[:])
		after, _, err := a.CPUTime()
		return clock.Sandwich{Before: int64(before), Counter: tick[0], After: int64(after)}, err
	}
	return w
}
