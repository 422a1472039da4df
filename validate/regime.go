package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"chronoscope/internal/load"
	"chronoscope/machine"
)

// Neighbours names the competitors that run beside the measured work.
type Neighbours string

// These are the kinds of neighbours. All but memory and build run only on the CPU of the work.
const (
	NoNeighbours Neighbours = "none"
	// Loops compute without end.
	Loops Neighbours = "loops"
	// Bursty neighbours compute and sleep in turn, each time for a random 0.1 to 10 ms.
	Bursty Neighbours = "bursty"
	// Wakers wake up a thousand times a second each, for some microseconds.
	Wakers Neighbours = "wakers"
	// MemorySweeps write to more memory than a core's own caches hold. [Regime.Load] - 1 of them run on the CPU of
	// the work, and one runs on every other CPU that this process may use.
	MemorySweeps Neighbours = "memory"
	// Builds compile on all CPUs, with [Regime.Load] - 1 jobs on each: a job is a process that lives for some 150 ms.
	Builds Neighbours = "build"
	// Changing neighbours come and go during a cell: they alternately compute and disappear, each
	// time for a random 20 ms to a second.
	Changing Neighbours = "changing"
)

type neighbourhood struct {
	name Neighbours
	kind load.Kind
	// usual are the loads that are used if none are given.
	usual []int
	// busy is the share of time in which each neighbour wants the CPU.
	busy float64
}

// neighbourhoods are all kinds of neighbours, in the order in which they are tried.
var neighbourhoods = []neighbourhood{
	{NoNeighbours, load.Registers, []int{1}, 0},
	{Loops, load.Registers, []int{4, 11}, 1},
	{Bursty, load.Bursty, []int{4}, 0.7},
	{Wakers, load.Waking, []int{2}, 0.1},
	{MemorySweeps, load.Memory, []int{2}, 1},
	{Builds, load.Building, []int{2}, 1},
	{Changing, load.Changing, []int{4}, 0.6},
}

func (n Neighbours) hood() neighbourhood {
	i := slices.IndexFunc(neighbourhoods, func(h neighbourhood) bool { return h.name == n })
	return neighbourhoods[max(0, i)]
}

// ParseNeighbours reads the name of neighbours.
func ParseNeighbours(name string) (Neighbours, error) {
	var all []Neighbours
	for _, h := range neighbourhoods {
		all = append(all, h.name)
	}
	return called("neighbours are", name, all)
}

// Regime is the competition during a cell.
type Regime struct {
	// Load is the number of threads that want the CPU, including the measured one.
	Load int `json:"load"`
	// Neighbours is empty in records of old versions, which knew only one kind: it then means none
	// at load 1, and loops at other loads.
	Neighbours Neighbours `json:"neighbours,omitempty"`
}

// Named returns the regime with the name of its neighbours filled in.
func (r Regime) Named() Regime {
	if r.Neighbours == "" {
		r.Neighbours = Loops
		if r.Load <= 1 {
			r.Neighbours = NoNeighbours
		}
	}
	return r
}

// String returns "none", or the neighbours with their load, such as "loops 4".
func (r Regime) String() string {
	if r = r.Named(); r.Neighbours == NoNeighbours {
		return string(NoNeighbours)
	}
	return fmt.Sprintf("%s %d", r.Neighbours, r.Load)
}

// Endless reports whether all neighbours compute without end, as in the source. It is true if there
// are no neighbours.
func (r Regime) Endless() bool { return r == Regime{Load: r.Load} || r == Regime{Load: r.Load}.Named() }

// CompareRegimes orders regimes by their neighbours, and then by load.
func CompareRegimes(a, b Regime) int {
	place := func(r Regime) int {
		return slices.IndexFunc(neighbourhoods, func(h neighbourhood) bool { return h.name == r.Named().Neighbours })
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Load, b.Load))
}

// Regimes combines neighbours and loads. If neighbours is empty, load 1 has none and other loads
// have loops; if loads is empty, each kind of neighbour has its usual loads.
func Regimes(neighbours []Neighbours, loads []int) []Regime {
	var all []Regime
	if len(neighbours) == 0 {
		for _, n := range loads {
			all = append(all, Regime{Load: n}.Named())
		}
		return all
	}
	shared := slices.DeleteFunc(slices.Clone(loads), func(n int) bool { return n == 1 })
	for _, n := range neighbours {
		of := shared
		if len(shared) == 0 || n == NoNeighbours {
			of = n.hood().usual
		}
		for _, l := range of {
			all = append(all, Regime{l, n})
		}
	}
	return all
}

// check returns an error that says what is wrong with the regime.
func (r Regime) check() error {
	least := 2
	if r.Neighbours == NoNeighbours {
		least = 1
	}
	if r.Load < least || r.Load > mostLoad {
		return fmt.Errorf("validate: a load of %d: choose 1 (no competitor) to %d", r.Load, mostLoad)
	}
	return nil
}

// slowdown returns an estimate of how many times as long the work takes as without neighbours.
func (r Regime) slowdown() float64 { return 1 + float64(r.Load-1)*r.Named().Neighbours.hood().busy }

// competition holds the running neighbours of a regime, which are the competitors of the measured work. cpu is
// the CPU of the work. Builds and some of the memory sweeps also run on other CPUs.
type competition struct {
	regime  Regime
	cpu     int
	running []*load.Load
}

// renew ends the neighbours that are running, and starts all neighbours of the regime. After an error, some of
// them may run until stop.
func (c *competition) renew(ctx context.Context) error {
	c.stop()
	here, kind := []int{c.cpu}, c.regime.Named().Neighbours.hood().kind
	start := func(n int, cpus []int) error {
		some, err := load.Start(ctx, n, kind, cpus)
		if err == nil {
			c.running = append(c.running, some)
		}
		return err
	}
	switch c.regime.Neighbours {
	case Builds:
		return start(c.regime.Load-1, nil)
	case MemorySweeps:
		allowed, err := machine.Affinity()
		if err != nil {
			return err
		}
		for _, cpu := range allowed {
			if cpu != c.cpu {
				err = errors.Join(err, start(1, []int{cpu}))
			}
		}
		return errors.Join(err, start(c.regime.Load-1, here))
	}
	return start(c.regime.Load-1, here)
}

// lost returns how many neighbours have ended by themselves.
func (c *competition) lost() (n int) {
	for _, l := range c.running {
		n += l.Lost()
	}
	return n
}

// paused calls a function while the neighbours are stopped.
func (c *competition) paused(do func() error) (err error) {
	for _, l := range c.running {
		err = errors.Join(err, l.Pause())
	}
	if err != nil {
		err = fmt.Errorf("validate: pausing the competitors on %s: %w", runtime.GOOS, err)
	} else {
		err = do()
	}
	for _, l := range c.running {
		err = errors.Join(err, l.Resume())
	}
	return err
}

func (c *competition) stop() {
	for _, l := range c.running {
		l.Stop()
	}
	c.running = nil
}

// retried calls a function, a second time if the first call returned marks, and returns the result and
// the marks of the last call. It replaces competitors that have ended.
func retried[T any](ctx context.Context, competitors *competition, try func() (T, []string, error)) (value T, marks []string, err error) {
	for range 2 {
		if value, marks, err = try(); err != nil {
			return value, nil, err
		}
		if lost := competitors.lost(); lost > 0 {
			marks = append(marks, fmt.Sprintf("competitors ended meanwhile, so that the load was less: %d", lost))
			if err := competitors.renew(ctx); err != nil {
				return value, nil, err
			}
		}
		if len(marks) == 0 {
			break
		}
	}
	return value, marks, nil
}
