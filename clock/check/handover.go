package check

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"chronoscope/machine"
)

// HandOver lets one thread on each of the CPUs take n turns: a thread reads the clock and hands
// over to the next one. HandOver returns the readings in the order in which they were taken.
//
// The processor must not reorder read with the instructions before and after it. A hardware
// counter therefore needs a fenced reading: one without a fence may be taken before its turn,
// and then looks like a wrong clock.
//
// HandOver needs two CPUs or more. If ctx ends, it returns the readings so far and ctx's error.
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
	return r.handed(), cmp.Or(append(errs, ctx.Err())...)
}

// turns is one game: threads take turns reading a clock, in n rounds.
type turns struct {
	ctx      context.Context
	deadline time.Time // zero for none
	read     func() int64
	crowded  bool // Go runs fewer threads at once than the game has

	// ticks holds the readings of each thread. Each thread writes to memory of its own, so that
	// a hand-over moves a single cache line.
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

// takeOn binds a thread to the CPU and takes the thread's turns.
func (r *turns) takeOn(thread, cpu int) error {
	runtime.LockOSThread()
	// The thread is not unlocked: it ends with its goroutine, so that no other goroutine
	// inherits its affinity.
	if err := machine.SetAffinity([]int{cpu}); err != nil {
		r.stopped.Store(true)
		return fmt.Errorf("check: a thread for CPU %d: %w", cpu, err)
	}
	r.take(thread)
	return nil
}

// looksBetween is how often a thread checks for its turn between two checks of the deadline.
const looksBetween = 4096

// take takes a thread's turns until all are taken or the game is stopped.
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
				// Without this, waiting threads keep the thread whose turn it is from running
				// until they are preempted, after 10 ms and more.
				runtime.Gosched()
			}
		}
		r.ticks[thread][i] = r.read()
		r.turn.Add(1)
	}
}

func (r *turns) over() bool {
	return r.ctx.Err() != nil || !r.deadline.IsZero() && time.Now().After(r.deadline)
}

// handed returns the readings in the order in which they were taken. It may be called only
// after all threads have ended or the game is stopped.
func (r *turns) handed() []Handed {
	handed := make([]Handed, r.turn.Load())
	for i := range handed {
		thread := i % len(r.ticks)
		handed[i] = Handed{Thread: thread, Ticks: r.ticks[thread][i/len(r.ticks)]}
	}
	return handed
}
