package timermeter

import (
	"context"
	"errors"
	"math"

	"chronoscope/clock"
	"chronoscope/clock/check"
)

// Foreign is a timer that another process reads. It's measured as any clock is, by
// the same estimators: only its readings come as answers to questions.
type Foreign struct {
	Clock  clock.Clock // its description; its methods are not used
	Name   string      // what its own process calls it
	TickNs float64     // nanoseconds per tick of a reading
	Ask    Questions
	// CPUTime is what the kernel has counted of the process that reads the timer, in
	// nanoseconds, and how many threads it has. Nil where nothing tells.
	CPUTime func() (ns float64, threads int, err error)
}

// Questions are those that another process answers about a timer of its own. Readings are in ticks,
// in the order in which they were taken. A question fails with ctx's error once ctx has
// ended. After an error of one of the first four the timer gets no rating.
type Questions interface {
	// Reads are n readings in a row.
	Reads(ctx context.Context, n int) ([]int64, error)
	// Pairs are 2n readings: n times one before and one after work rounds of work.
	Pairs(ctx context.Context, work, n int) ([]int64, error)
	// Durations are what batch calls take, n times, in ticks of the timer that its
	// process calls by that name.
	Durations(ctx context.Context, reference string, batch, n int) ([]int64, error)
	// Frames are what this timer shows of the loop of Durations without the calls,
	// n times; batch 0 is two readings in a row.
	Frames(ctx context.Context, batch, n int) ([]int64, error)
	// HandOver are n readings by threads that take turns, each as two numbers: the thread's
	// and its reading.
	HandOver(ctx context.Context, threads, n int) ([]int64, error)
}

// remoteTimer is a foreign timer in the middle of its measurement. The measurement runs in
// functions that can't fail; so the first error stays here, and readings after it are
// the last good one, over and over.
type remoteTimer struct {
	Foreign
	ctx       context.Context
	nowNs     func() float64
	pause     func(upToNs float64) // for a random time
	wayNs     float64              // what the quickest answer took
	last      int64
	err       error
	handOver  error        // why threads could not hand over
	reference *remoteTimer // nil where nothing can time the calls
}

func newRemoteTimer(ctx context.Context, f Foreign, nowNs func() float64, pause func(upToNs float64)) *remoteTimer {
	return &remoteTimer{Foreign: f, ctx: ctx, nowNs: nowNs, pause: pause, wayNs: math.Inf(1)}
}

// A pause takes up to pausesOfWay times as long as the quickest answer, and not longer than
// longestPauseNs.
const (
	pausesOfWay    = 4
	longestPauseNs = 2e6
)

// put puts a question and takes as much of the answer as there is room for. It tells
// whether there was one.
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

// read fills ticks with the readings of an answer. Made-up ones don't step back.
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

// chain fills ticks with consecutive readings. With work they are pairs, and the work
// stands between the two of each. The way of an answer always takes about the same time,
// and even steps between readings would lay a lattice of their own over the clock's: so
// there is a random pause before each question.
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

// calls times calls by the reference.
func (a *remoteTimer) calls(batch int, durations []int64) {
	a.put(durations, func() ([]int64, error) {
		return a.Ask.Durations(a.ctx, a.reference.Name, batch, len(durations))
	})
}

// frames shows the reference the loop in which the calls stand, which takes long where
// the runtime interprets its programs. What the reference can't answer fails this timer:
// its calls are not timed.
func (a *remoteTimer) frames(batch int, durations []int64) {
	a.put(durations, func() ([]int64, error) { return a.reference.Ask.Frames(a.ctx, batch, len(durations)) })
}

// handOverAtOnce is how many readings threads hand over in one answer; the time for
// them may end in between.
const handOverAtOnce = 256

// handOvers are n readings that two threads took by turns, or as many as there is time
// for. Each answer comes from threads of its own.
func (a *remoteTimer) handOvers(limited context.Context, n int) ([]check.Handed, error) {
	const threads = 2
	var all []check.Handed
	for turn := 0; len(all) < n && limited.Err() == nil; turn++ {
		answer, err := a.Ask.HandOver(a.ctx, threads, handOverAtOnce)
		if err != nil {
			a.handOver = err
			return nil, err
		}
		for i := 0; i+1 < len(answer); i += 2 {
			all = append(all, check.Handed{Thread: turn*threads + int(answer[i]), Ticks: answer[i+1]})
		}
	}
	return all, nil
}

// candidate makes a candidate of the timer, in the company of this process's clocks.
// Its calls are timed by a timer of its own process.
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

// readingsAtOnce are worth a question. More would save questions, and leave fewer
// different amounts of work between readings, which show a fine clock's lattice.
const readingsAtOnce = 16

// subject is the timer without anything that times its calls.
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

// witness holds the timer against time, as this process tells it, or CPU time against what
// the kernel has counted of the process that reads it.
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
