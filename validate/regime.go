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

// Neighbours is what runs beside the measured work.
type Neighbours string

// The neighbours. All but memory and build are on the CPU of the work.
const (
	NoNeighbours Neighbours = "none"
	// Loops compute without end.
	Loops Neighbours = "loops"
	// Bursty compute and sleep in turn, at random, 0.1 to 10 ms each time.
	Bursty Neighbours = "bursty"
	// Wakers wake up a thousand times a second each, for some microseconds.
	Wakers Neighbours = "wakers"
	// MemorySweeps write to more memory than caches hold: on the CPU of the work as the load says,
	// and one on each other CPU.
	MemorySweeps Neighbours = "memory"
	// Builds compile on all CPUs: each job is a process that lives for some 150 ms.
	Builds Neighbours = "build"
	// Changing neighbours come and go within a cell: they alternately compute and are absent, each
	// time for a random 20 ms to a second.
	Changing Neighbours = "changing"
)

// neighbourhood says of neighbours how they are made.
type neighbourhood struct {
	name Neighbours
	kind load.Kind
	// usual are the loads where none are given.
	usual []int
	// busy is the share of the time for which each of them wants the CPU.
	busy float64
}

// neighbourhoods are all, in the order in which they are tried.
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

// ParseNeighbours reads a name.
func ParseNeighbours(name string) (Neighbours, error) {
	var all []Neighbours
	for _, h := range neighbourhoods {
		all = append(all, h.name)
	}
	return called("neighbours are", name, all)
}

// Regime is what a cell was measured beside.
type Regime struct {
	// Load is how many threads want the CPU, the measured one among them.
	Load int `json:"load"`
	// Neighbours is empty in records of versions that knew only one kind: none at load 1, loops
	// otherwise.
	Neighbours Neighbours `json:"neighbours,omitempty"`
}

// Named is the regime with the name of its neighbours.
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

// Endless reports whether all neighbours compute without end, as in the source. It is true where
// there are no neighbours.
func (r Regime) Endless() bool { return r == Regime{Load: r.Load} || r == Regime{Load: r.Load}.Named() }

// CompareRegimes orders them by their neighbours, and by load.
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

// check says what is wrong with it.
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

// slowdown is about how many times as long as alone the work takes.
func (r Regime) slowdown() float64 { return 1 + float64(r.Load-1)*r.Named().Neighbours.hood().busy }

// competition are the neighbours of a regime, beside the work on a CPU.
type competition struct {
	regime  Regime
	cpu     int
	running []*load.Load
}

// renew starts all of them, in the place of those that run.
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
		return start(1, nil)
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

// lost is how many have ended by themselves.
func (c *competition) lost() (n int) {
	for _, l := range c.running {
		n += l.Lost()
	}
	return n
}

// paused does something while they stand still.
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

// stop ends all of them.
func (c *competition) stop() {
	for _, l := range c.running {
		l.Stop()
	}
	c.running = nil
}

// retried tries a second time where something was wrong the first time, and returns what was
// wrong the last time. Competitors that ended are replaced.
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
