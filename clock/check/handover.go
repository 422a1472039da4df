package check

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"chronoscope/machine"
)

// HandOver lets one thread on each of the CPUs take its turn n times: it reads
// the clock and hands over to the next. The readings come in the order in which
// they were taken.
//
// read must not be reordered with what stands before and after it; for a
// hardware counter that is a fenced reading, since one without a fence may be
// taken before the turn has come, which looks like a clock that is wrong.
//
// It needs two CPUs or more. It ends early with ctx and then returns what was
// taken so far with ctx's error.
func HandOver(ctx context.Context, cpus []int, read func() int64, n int) ([]Handed, error) {
	if len(cpus) < 2 {
		return nil, fmt.Errorf("check: handing readings over needs two CPUs, this process may use %d: let it use more", len(cpus))
	}
	r := newTurns(ctx, len(cpus), n, read)
	r.crowded = len(cpus) > runtime.GOMAXPROCS(0)
	errs := make([]error, len(cpus))
	var all sync.WaitGroup
	for i, cpu := range cpus {
		all.Go(func() { errs[i] = r.takeOn(i, cpu) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return r.handed(), err
		}
	}
	return r.handed(), ctx.Err()
}

// turns is one game of handing over: threads read by turns, a round of them n
// times.
type turns struct {
	ctx      context.Context
	deadline time.Time // zero for none
	read     func() int64
	crowded  bool // Go runs fewer threads at once than there are

	// ticks are the readings by thread: each writes to memory of its own, so that
	// a hand-over moves one cache line and no more.
	ticks   [][]int64
	turn    atomic.Int64
	stopped atomic.Bool
}

func newTurns(ctx context.Context, threads, n int, read func() int64) *turns {
	r := &turns{ctx: ctx, read: read, ticks: make([][]int64, threads)}
	for i := range r.ticks {
		r.ticks[i] = make([]int64, n)
	}
	return r
}

// takeOn takes a thread's turns on a CPU.
func (r *turns) takeOn(thread, cpu int) error {
	runtime.LockOSThread()
	// The thread is not unlocked: it ends with its goroutine, and with it the
	// affinity, which no other goroutine is to inherit.
	if err := machine.SetAffinity([]int{cpu}); err != nil {
		r.stopped.Store(true)
		return fmt.Errorf("check: a thread for CPU %d: %w", cpu, err)
	}
	r.take(thread)
	return nil
}

// looksBetween are the looks for one's turn between two looks at the time.
const looksBetween = 4096

// take takes a thread's turns, all of them or until the game is stopped.
func (r *turns) take(thread int) {
	looks := 0
	for i := range r.ticks[thread] {
		for r.turn.Load() != int64(i*len(r.ticks)+thread) {
			if looks++; looks%looksBetween == 0 && r.over() {
				r.stopped.Store(true)
			}
			if r.stopped.Load() {
				return
			}
			if r.crowded {
				// Else those that wait keep the one whose turn it is from
				// running until they are preempted, after 10 ms and more.
				runtime.Gosched()
			}
		}
		r.ticks[thread][i] = r.read()
		r.turn.Add(1)
	}
}

// over reports that the game has to end.
func (r *turns) over() bool {
	return r.ctx.Err() != nil || !r.deadline.IsZero() && time.Now().After(r.deadline)
}

// handed are the readings in the order in which they were taken. All threads
// have to have ended, or the game to be stopped.
func (r *turns) handed() []Handed {
	handed := make([]Handed, r.turn.Load())
	for i := range handed {
		thread := i % len(r.ticks)
		handed[i] = Handed{Thread: thread, Ticks: r.ticks[thread][i/len(r.ticks)]}
	}
	return handed
}
