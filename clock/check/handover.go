package check

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"chronoscope/machine"
)

// HandOver lets one thread on each of the CPUs take its turn n times: it reads
// the clock and hands over to the next. The readings come in the order in which
// they were taken.
//
// read must not be reordered with what stands before and after it; for a
// hardware counter that is a fenced reading, since one without a fence may be
// taken before the turn has come, which looks like a clock that is wrong
// (FACTS of the field: a false warp).
//
// It needs two CPUs or more. It ends early with ctx and then returns what was
// taken so far with ctx's error.
func HandOver(ctx context.Context, cpus []int, read func() int64, n int) ([]Handed, error) {
	if len(cpus) < 2 {
		return nil, fmt.Errorf("check: handing readings over needs two CPUs, this process may use %d: let it use more", len(cpus))
	}
	r := round{handed: make([]Handed, n*len(cpus)), threads: len(cpus), read: read}
	r.crowded = len(cpus) > runtime.GOMAXPROCS(0)
	stop := context.AfterFunc(ctx, func() { r.stopped.Store(true) })
	defer stop()
	errs := make([]error, len(cpus))
	var all sync.WaitGroup
	for i, cpu := range cpus {
		all.Go(func() { errs[i] = r.take(i, cpu) })
	}
	all.Wait()
	done := r.handed[:min(int(r.turn.Load()), len(r.handed))]
	for _, err := range errs {
		if err != nil {
			return done, err
		}
	}
	return done, ctx.Err()
}

// round is one game of handing over.
type round struct {
	handed  []Handed
	threads int
	crowded bool // Go runs fewer threads at once than there are
	read    func() int64
	turn    atomic.Int64
	stopped atomic.Bool
}

// take is the part of one thread.
func (r *round) take(thread, cpu int) error {
	runtime.LockOSThread()
	// The thread is not unlocked: it ends with its goroutine, and with it the
	// affinity, which no other goroutine is to inherit.
	if err := machine.SetAffinity([]int{cpu}); err != nil {
		r.stopped.Store(true)
		return fmt.Errorf("check: a thread for CPU %d: %w", cpu, err)
	}
	for i := thread; i < len(r.handed); i += r.threads {
		for r.turn.Load() != int64(i) {
			if r.stopped.Load() {
				return nil
			}
			if r.crowded {
				// Else those that wait keep the one whose turn it is from
				// running until they are preempted, after 10 ms and more.
				runtime.Gosched()
			}
		}
		r.handed[i] = Handed{Thread: thread, Ticks: r.read()}
		r.turn.Store(int64(i) + 1)
	}
	return nil
}
