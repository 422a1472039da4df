package check

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"chronoscope/machine"
)

// crew is a set of threads, each bound to a CPU of its own, that read a clock in turn. A CPU is
// identified by its index in cpus.
type crew interface {
	cpus() []int
	// play lets each pair of threads read the clock in turn: n rounds of two readings, for at
	// most limit. No thread may be in two pairs. The result lacks games that could not be played.
	play(ctx context.Context, pairs [][2]int, read func() int64, n int, limit time.Duration) []game
	// lost returns the reasons why some CPUs can't be used any more.
	lost() []string
}

// game holds the readings that two threads took in turn.
type game struct {
	pair    [2]int // the indices of their CPUs in the crew
	startNs float64
	// handed are the readings in order; Thread is 0 for pair[0] and 1 for pair[1].
	handed []Handed
}

// boundCrew is a crew of threads of this process.
type boundCrew struct {
	workers []*worker
	nowNs   func() float64
	// answer is how long a thread may take to answer, beyond the game's own limit.
	answer time.Duration
	losses []string
}

// worker is a thread on a CPU. idle holds a token while the worker has nothing to do; the caller
// that takes the token may send one job.
type worker struct {
	cpu  int
	jobs chan func()
	idle chan struct{}
	err  error // why the worker can't be used any more; may be read only while holding the token
}

// newBoundCrew binds a thread to each of the CPUs. A CPU to which no thread can be bound is
// recorded as lost, and the crew works with the others.
func newBoundCrew(cpus []int, nowNs func() float64, answer time.Duration) *boundCrew {
	c := &boundCrew{nowNs: nowNs, answer: answer}
	for _, cpu := range cpus {
		w := &worker{cpu: cpu, jobs: make(chan func(), 1), idle: make(chan struct{}, 1)}
		c.workers = append(c.workers, w)
		go w.work()
	}
	for w := range c.settle(c.workers, c.answer) {
		w.idle <- struct{}{}
	}
	return c
}

func (c *boundCrew) close() {
	for _, w := range c.workers {
		close(w.jobs)
	}
}

// work binds the thread and does jobs until there are no more. It does not unlock the thread,
// so that the thread ends with its goroutine.
func (w *worker) work() {
	runtime.LockOSThread()
	w.err = machine.SetAffinity([]int{w.cpu})
	w.idle <- struct{}{}
	for job := range w.jobs {
		job()
		w.err = w.stillBound()
		w.idle <- struct{}{}
	}
}

// stillBound returns an error if the thread is no longer bound to its CPU alone: the kernel
// moves it to other CPUs when its CPU goes offline or leaves the cpuset.
func (w *worker) stillBound() error {
	now, err := machine.Affinity()
	if err == nil && !slices.Equal(now, []int{w.cpu}) {
		err = fmt.Errorf("its thread was moved to CPUs %s meanwhile: the CPU went offline or out of this process's cpuset", machine.FormatCPUList(now))
	}
	return err
}

// settle waits up to limit for workers to be done. It takes and keeps the tokens of those that
// are done and can be used again.
func (c *boundCrew) settle(workers []*worker, limit time.Duration) (done map[*worker]bool) {
	done = map[*worker]bool{}
	deadline := time.Now().Add(limit)
	for _, w := range workers {
		if c.take(w, time.Until(deadline)) {
			done[w] = true
		}
	}
	return done
}

// take takes the worker's token, waiting for at most patience, and reports whether it got the
// token. A worker that can't be used any more is recorded as lost, and its token is never given
// back.
func (c *boundCrew) take(w *worker, patience time.Duration) bool {
	select {
	case <-w.idle:
	default:
		select {
		case <-w.idle:
		case <-time.After(patience):
			return false
		}
	}
	if w.err != nil {
		c.losses = append(c.losses, fmt.Sprintf("CPU %d could not be asked: %v", w.cpu, w.err))
	}
	return w.err == nil
}

func (c *boundCrew) cpus() []int {
	var cpus []int
	for _, w := range c.workers {
		cpus = append(cpus, w.cpu)
	}
	return cpus
}

func (c *boundCrew) lost() []string { return c.losses }

func (c *boundCrew) play(ctx context.Context, pairs [][2]int, read func() int64, n int, limit time.Duration) []game {
	var games []game
	atOnce := max(1, runtime.GOMAXPROCS(0)/2)
	for some := range slices.Chunk(pairs, atOnce) {
		if ctx.Err() != nil {
			break
		}
		games = append(games, c.playAtOnce(ctx, some, read, n, limit)...)
	}
	return games
}

// playing is a game that has begun.
type playing struct {
	game
	turns *turns
}

// playAtOnce plays the games of all pairs at the same time.
func (c *boundCrew) playAtOnce(ctx context.Context, pairs [][2]int, read func() int64, n int, limit time.Duration) []game {
	var begun []*playing
	var busy []*worker
	for _, pair := range pairs {
		a, b := c.workers[pair[0]], c.workers[pair[1]]
		if !c.both(a, b) {
			continue
		}
		p := &playing{game: game{pair: pair}, turns: newTurns(ctx, 2, n, read)}
		p.turns.deadline = time.Now().Add(limit)
		p.turns.crowded = 2*len(pairs) > runtime.GOMAXPROCS(0)
		a.jobs <- func() { p.startNs = c.nowNs(); p.turns.take(0) }
		b.jobs <- func() { p.turns.take(1) }
		begun, busy = append(begun, p), append(busy, a, b)
	}
	done := c.settle(busy, limit+c.answer)
	var games []game
	for i, p := range begun {
		a, b := busy[2*i], busy[2*i+1]
		p.turns.stopped.Store(true)
		if done[a] && done[b] {
			p.handed = p.turns.handed()
			games = append(games, p.game)
		}
	}
	for w := range done {
		w.idle <- struct{}{}
	}
	return games
}

func (c *boundCrew) both(a, b *worker) bool {
	if !c.take(a, 0) {
		return false
	}
	if !c.take(b, 0) {
		a.idle <- struct{}{}
		return false
	}
	return true
}
