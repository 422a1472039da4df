package validate

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Plan says which cells are measured.
type Plan struct {
	Regimes   []Regime
	Durations []time.Duration
	Works     []Work
	// Schemes are names or families of schemes. Empty selects all.
	Schemes []string
	// Kinds are the kinds of whole programs that are measured.
	Kinds []Kind
	// CPU is the CPU that the work and its competitors share.
	CPU int
	// RunTime is how long all trials of a cell together run; MinTrials and MaxTrials limit their
	// number.
	RunTime              time.Duration
	MinTrials, MaxTrials int
	// LongestCell is the longest wall time of a cell of the first work, or without competitors.
	// Cells that would take longer are left out. LongestOther is the same for other works and for
	// whole programs.
	LongestCell, LongestOther time.Duration
	Seed                      uint64
}

func milliseconds(ms ...float64) []time.Duration {
	var all []time.Duration
	for _, x := range ms {
		all = append(all, time.Duration(x*1e6))
	}
	return all
}

// DefaultPlan takes about eight minutes and QuickPlan about one, and more where other guests share the machine. FullPlan has
// no limit on its total time.
var (
	DefaultPlan = Plan{
		Regimes: usualRegimes, Durations: milliseconds(0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000), Works: Works, Kinds: Kinds,
		RunTime: 240 * time.Millisecond, MinTrials: 6, MaxTrials: 256, LongestCell: 30 * time.Second, LongestOther: 6 * time.Second,
	}
	QuickPlan = Plan{
		Regimes: []Regime{{1, NoNeighbours}, {4, Loops}, {4, Bursty}}, Durations: milliseconds(0.1, 1, 10, 100), Works: Works, Kinds: Kinds,
		RunTime: 80 * time.Millisecond, MinTrials: 5, MaxTrials: 64, LongestCell: 8 * time.Second, LongestOther: 2 * time.Second,
	}
	FullPlan = Plan{
		Regimes: allRegimes(), Durations: milliseconds(0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 3000), Works: Works, Kinds: Kinds,
		RunTime: time.Second, MinTrials: 8, MaxTrials: 256, LongestCell: 10 * time.Minute, LongestOther: 5 * time.Minute,
	}
)

// usualRegimes are the regimes of the default plan.
var usualRegimes = Regimes([]Neighbours{NoNeighbours, Loops, Bursty}, nil)

// allRegimes returns all neighbours at their usual loads, and loops at load 2.
func allRegimes() []Regime {
	all := []Regime{{2, Loops}}
	for _, h := range neighbourhoods {
		all = append(all, Regimes([]Neighbours{h.name}, nil)...)
	}
	slices.SortFunc(all, CompareRegimes)
	return all
}

// mostLoad is the largest load of a plan. shortestWork and longestDuration limit its durations.
const (
	mostLoad                      = 256
	shortestWork, longestDuration = 50 * time.Microsecond, time.Minute
)

// Check returns an error that names what is not allowed in the plan, and what is allowed.
func (p Plan) Check() error {
	for _, r := range p.Regimes {
		if err := r.check(); err != nil {
			return err
		}
	}
	for _, d := range p.Durations {
		if d < shortestWork || d > longestDuration {
			return fmt.Errorf("validate: a duration of %v: choose %v to %v", d, shortestWork, longestDuration)
		}
	}
	if err := cmp.Or(once("", p.Regimes), once("the duration ", p.Durations), once("the work ", p.Works), once("the kind ", p.Kinds)); err != nil {
		return err
	}
	if len(p.Regimes)*len(p.Durations)*len(p.Works) == 0 {
		return fmt.Errorf("validate: there is nothing to do: give at least one load, duration and work")
	}
	if slices.Equal(p.Works, []Work{Traced}) && !p.traces() {
		return fmt.Errorf("validate: nothing to trace: choose load 1 and durations from %v on, or other work beside it", shortestTraced)
	}
	if p.MinTrials < 3 || p.MaxTrials < p.MinTrials {
		return fmt.Errorf("validate: %d to %d trials: choose 3 or more", p.MinTrials, p.MaxTrials)
	}
	_, err := Choose(p.Schemes)
	return err
}

// once returns an error if an element occurs twice.
func once[T comparable](what string, all []T) error {
	for i, x := range all {
		if slices.Contains(all[:i], x) {
			return fmt.Errorf("validate: %s%v is given twice: its cells would count twice", what, x)
		}
	}
	return nil
}

// traces reports whether the plan can have cells of traced work.
func (p Plan) traces() bool {
	return slices.ContainsFunc(p.Regimes, func(r Regime) bool {
		return slices.ContainsFunc(p.Durations, func(d time.Duration) bool { return Traced.tells(r.Load, d) })
	})
}

// task is a cell that is measured, with its estimated wall time.
type task struct {
	Cell
	// program is the scheme that measures whole programs; empty for a stream.
	program string
	costNs  float64 // estimated wall time
}

// A whole program makes at least runsOfPrograms runs, the fewest for a 95 % interval of a median. A short one makes up
// to mostRunsOfPrograms: with fewer, its estimate can't rest on runs at a niceness of -20. One warm-up run comes before
// them.
const runsOfPrograms, mostRunsOfPrograms = 6, 20

// lengthsOfPrograms are the durations for which whole programs are measured. The start of a shorter
// program would take most of its time.
var lengthsOfPrograms = milliseconds(10, 100, 1000)

// longestPattern is the longest duration for which programs that do more than compute are measured.
const longestPattern = 100 * time.Millisecond

// tasks returns the tasks of the plan, regime by regime, and those that are left out because they
// would take too long.
func (p Plan) tasks(schemes []Scheme) (tasks, left []task) {
	inside := slices.ContainsFunc(schemes, func(s Scheme) bool { return s.answer != nil })
	add := func(t task, most time.Duration) {
		if t.costNs > float64(most) {
			left = append(left, t)
		} else {
			tasks = append(tasks, t)
		}
	}
	for _, r := range p.Regimes {
		for _, d := range p.Durations {
			for i, w := range p.Works {
				if !inside || !w.tells(r.Load, d) {
					continue
				}
				most := p.LongestOther
				if i == 0 || r.Load == 1 {
					most = p.LongestCell
				}
				c := Cell{Work: w, Regime: r, Duration: d, Trials: p.trials(d)}
				add(task{Cell: c, costNs: c.costNs()}, most)
			}
			for _, s := range schemes {
				for _, k := range p.Kinds {
					if s.measures(k, d) {
						c := Cell{Work: Chain, Kind: k, Regime: r, Duration: d, Trials: s.runs(p.trials(d))}
						add(task{Cell: c, program: s.Name, costNs: c.costNs() + programNs}, p.LongestOther)
					}
				}
			}
		}
	}
	return tasks, left
}

// runs returns how many runs of a program correspond to a number of trials in a stream of the same duration.
// hyperfine gives no interval, so runsOfPrograms suffice.
func (s Scheme) runs(trials int) int {
	if s.Name == Hyperfine {
		return runsOfPrograms
	}
	return min(mostRunsOfPrograms, max(runsOfPrograms, trials))
}

// measures reports whether a scheme measures whole programs of a kind and length. hyperfine
// reports the wall time, whatever the program does, so that it measures one kind only.
func (s Scheme) measures(k Kind, d time.Duration) bool {
	return s.answer == nil && (s.Name != Hyperfine || k == Compute) && slices.Contains(lengthsOfPrograms, d) && (k == Compute || d <= longestPattern)
}

// trials returns the number of trials that fit into the time for a cell.
func (p Plan) trials(d time.Duration) int {
	return min(p.MaxTrials, max(p.MinTrials, int(p.RunTime/d)))
}

// besidesNs is the approximate running time of the measurements around each trial.
const besidesNs = 300e3

// programNs is the approximate time of the measurements around the runs of a whole program.
const programNs = 250e6

// costNs estimates how long a cell takes in wall time: all trials, one more to warm up, and the
// time in which competitors have the CPU. Traced work adds the traces of the CPU around each trial.
func (c Cell) costNs() float64 {
	cost := c.slowdown() * float64(c.Trials+1) * (float64(c.Duration) + besidesNs)
	if c.Kind != Compute { // the runs without rounds, before and after
		cost += 2 * restRuns * (float64(c.Duration) + besidesNs)
	}
	if c.Work == Traced {
		cost += c.slowdown() * float64(c.Trials+2) * aroundNs(float64(c.Duration))
	}
	return cost
}

// watching returns how long the noise of a CPU is traced.
func watching(r Regime) time.Duration {
	return max(watchedAtLeast, time.Duration(r.slowdown()*float64(watched)))
}
