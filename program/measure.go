package program

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/remedy"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// Progress is how far a measurement is.
type Progress struct {
	// Share is how much of all that is to be done is done, 0 to 1.
	Share float64
	// Command is which of the commands was run last, Runs how often it was.
	Command, Runs int
	// Estimate is what is known of it so far, with NaN for what is not.
	Estimate stats.Estimate
}

// FailedError says that a command, or what prepares or concludes it, did not end well.
type FailedError struct {
	Name string // of the command
	What string // theCommand, "its preparation" ...
	Err  error
}

// theCommand is what failed where nothing beside it did.
const theCommand = "the command"

// Error says what failed, and what would help.
func (e *FailedError) Error() string {
	if e.What == theCommand {
		return fmt.Sprintf("%s failed: %v: %s", e.Name, e.Err, afterFailure())
	}
	return fmt.Sprintf("%s: %s: %v: %s", e.Name, e.What, e.Err, afterFailure())
}

// afterFailure says what to do after a command failed.
func afterFailure() string {
	return fmt.Sprintf("look at its output (%s), or go on with %s", remedy.Of(remedy.Output), remedy.Of(remedy.IgnoreFailure))
}

// Unwrap is how it ended.
func (e *FailedError) Unwrap() error { return e.Err }

// errTimeout says that a run took longer than it may.
var errTimeout = errors.New("it took longer than its time-out, and was ended")

// Measure runs the commands in turn, in random order, until each is known as well as the
// plan asks for. A command that fails is out, unless the plan ignores that; the others go
// on. When ctx ends, its error comes with what was measured until then. progress may be
// nil. The other errors are of the plan.
//
// Until it returns, Go code of this process runs on one CPU at a time (see [process.NewLauncher]).
func Measure(ctx context.Context, commands []Command, plan Plan, setting Setting, progress func(Progress)) ([]*Result, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if len(commands) == 0 {
		return nil, errors.New("program: there is no command to measure: give one")
	}
	for i, c := range commands {
		if c.Path == "" {
			return nil, fmt.Errorf("program: command %d of %d (Name %q) has no Path: give the file of its program, or a name to look up in PATH", i+1, len(commands), c.Name)
		}
	}
	r := newRunner(setting)
	defer r.close()
	settle, release := machine.CollectBetween(mostGarbageBytes)
	defer release()
	m := measurement{settle: settle, cpus: r.cpus, plan: plan, setting: setting, progress: progress, rng: rand.New(rand.NewPCG(plan.Seed, 0x9706))}
	m.run, m.compete, m.snapshot, m.checks = r.run, compete, process.Look, newNoiseChecks(setting)
	for _, c := range commands {
		m.all = append(m.all, &series{command: c})
	}
	var err error
	r.launcher.On(func() { err = m.measure(ctx) })
	results := make([]*Result, len(m.all))
	for i, s := range m.all {
		results[i] = conclude(s, plan, setting, m.checks)
	}
	return results, err
}

// mostGarbageBytes is how much may be left to be collected between runs.
const mostGarbageBytes = 32 << 20

// series is what was measured of one command.
type series struct {
	command Command
	runs    []Run
	rounds  []int
	failure error
	// starved says that its last run was ended, since it waited for a CPU far beyond the time for all runs.
	starved *StarvedError
	spentNs float64
	done    bool
	// warm counts runs that don't count. The first runs of all are probes, which are traced:
	// they tell of memory, threads and waits. untraceable says that it failed where it was
	// traced, and not where it was not.
	warm        int
	probes      int
	probed      bool
	untraceable bool
	peak        int64
	// yields is how often it gave its CPU away itself, as far as probes have shown.
	yields int
	// timedWaits are how often it asked to wait until some time, as far as probes have
	// shown, and otherWaits how often it blocked for something else; someUnnoted says that it
	// may have done so more often.
	timedWaits, otherWaits int
	someUnnoted            bool
	// sleeps are how often it gave up its CPU for nothing but a time, or for other threads of its
	// process until some time, as far as is known.
	sleeps int
	// looksAtClock says that it looked at a clock amid its work, or may have done so, otherPolicy
	// that a thread of it asked for a scheduling policy other than the normal ones, otherLimit that one moved
	// into a control group with a CPU limit.
	looksAtClock, otherPolicy, otherLimit bool
	// noteOpens says that in the last probe somebody opened a file that may have told the program what it waited:
	// in the next one it's seen whether the program did.
	noteOpens bool
	// alone are the probes in which all looks at clocks were seen.
	alone     []alone
	contended []contendedRun
	// several says that it has more than one thread. In the sentinels it is known of all
	// of them for how long they waited for a CPU when they were woken, wokenNs at most.
	several   bool
	sentinels int
	wokenNs   float64
	// closed says that the last run of all was made, once it is done.
	closed bool
	// precise says that a look showed it to be known as well as the plan asks, open that some
	// comparison of it with a limit needs more runs.
	precise, open bool
	soFar         stats.Estimate
}

// measurement is a measurement under way.
type measurement struct {
	plan     Plan
	setting  Setting
	checks   *noiseChecks
	progress func(Progress)
	rng      *rand.Rand
	all      []*series
	round    int
	cpus     int
	// run makes one run of a command, traced or not.
	run func(context.Context, Command, bool) (Run, error)
	// snapshot looks at a process that runs.
	snapshot func(pid int) (process.Snapshot, error)
	// settle collects this process's garbage, which would take CPU time beside a run; nil does nothing.
	settle func()
	// compete keeps n CPUs busy until stop is called; nil where that can't be.
	compete func(cpus []int, n int) (stop func())
}

func (m *measurement) measure(ctx context.Context) error {
	for _, s := range m.all {
		s.soFar = unknown()
	}
	begun, nextLook := 0, m.plan.MinRuns
	unfinished := func() [][]int {
		if m.plan.Gated != nil && begun >= nextLook {
			for i, open := range m.openCommands() {
				m.all[i].open = open
			}
			nextLook = begun + 1 + begun/10 // it costs as much as there are runs
		}
		begun++
		var busy []int
		for i, s := range m.all {
			if !m.enough(s) {
				busy = append(busy, i)
			}
		}
		return repeat.Alone(busy)
	}
	err := repeat.InTurn(m.rng, unfinished, func(round, i int) error {
		m.round = round
		m.checks.look(ctx, m.all[i].command.CPUs)
		if m.settle != nil {
			m.settle()
		}
		err := m.repeat(ctx, m.all[i])
		if err == nil {
			m.tell(i)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.round++
	for _, s := range m.all {
		if err := m.contend(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// One run in sentinelEvery of a program with several threads is traced.
const sentinelEvery = 8

// repeat makes one more run.
func (m *measurement) repeat(ctx context.Context, s *series) error {
	warming := s.warm < m.plan.Warmup
	traced := !s.untraceable && (!s.probed || s.several && (s.done || (len(s.runs)+s.warm)%sentinelEvery == 0) || s.isMemoryRun())
	s.closed = s.done
	began := time.Now()
	run, err := m.onceOrUntraced(ctx, s, traced)
	if err := ctx.Err(); err != nil {
		return err
	}
	if errors.As(err, &s.starved) {
		return nil
	}
	if run.WallNs > 0 {
		s.take(ctx, &run, cpusOf(s.command, m.cpus))
		if err := ctx.Err(); err != nil { // it may not have been followed to its end
			return err
		}
	}
	s.spentNs += float64(time.Since(began).Nanoseconds())
	var failed *FailedError
	switch {
	case errors.As(err, &failed) && !m.plan.ignores(run):
		s.failure = failed
	case errors.As(err, &failed):
		run.Why = append(run.Why, failed.Err.Error())
	case err != nil:
		s.failure = &FailedError{Name: s.command.Name, What: theCommand, Err: err}
	}
	if warming && s.failure == nil {
		s.warm++
		return nil
	}
	if run.WallNs > 0 {
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, m.round)
	}
	return nil
}

// isMemoryRun reports whether the next run is traced for a metric that only traced runs have: every
// second one, of all commands in the same rounds.
func (s *series) isMemoryRun() bool {
	isAsked := slices.ContainsFunc(s.command.Metrics, func(m Metric) bool { return m.traced })
	return isAsked && (len(s.runs)+s.warm)%2 == 0
}

// onceOrUntraced makes one run. Some programs fail where they are traced, as sudo(8), debuggers
// and those with a leak sanitizer do: a first run that fails so is made again.
func (m *measurement) onceOrUntraced(ctx context.Context, s *series, traced bool) (Run, error) {
	run, err := m.onceNoted(ctx, s, traced)
	var failed *FailedError
	if starved := (*StarvedError)(nil); !traced || s.probed || run.Untraced != nil || errors.As(err, &starved) || ctx.Err() != nil || !errors.As(err, &failed) || failed.What != theCommand {
		return run, err
	}
	untraced := s.command
	untraced.Stderr = nil // why it fails is said already
	if again, err := m.once(ctx, untraced, false); err == nil {
		s.untraceable = true
		return again, nil
	}
	return run, err
}

// onceNoted makes one run, in which system calls and looks at clocks are noted where that is still
// to be done.
func (m *measurement) onceNoted(ctx context.Context, s *series, traced bool) (Run, error) {
	command := s.command
	command.NoteWaits, command.NoteClocks, command.NoteOpens = !s.probed, !s.probed, !s.probed && s.noteOpens
	command.spentNs = s.spentNs
	command.noteWakeups = s.probed && !traced && s.waitsForSomething()
	command.noteTimedCalls = command.noteWakeups && (s.timedWaits > 0 || s.someUnnoted) // they slow every system call
	return m.once(ctx, command, traced)
}

// waitsForSomething reports whether the program's bounds depend on who wakes its threads.
func (s *series) waitsForSomething() bool {
	return s.several || slices.ContainsFunc(s.runs, func(r Run) bool { return r.BlockedNs > passable(float64(r.WallNs)) })
}

// cpusOf is how many of n CPUs a command may use.
func cpusOf(c Command, cpus int) int {
	if len(c.CPUs) > 0 {
		return len(c.CPUs)
	}
	return cpus
}

// take bounds a run by what it and the runs before tell, and notes what it tells of those
// to come.
func (s *series) take(ctx context.Context, run *Run, cpus int) {
	others := math.Inf(1)
	if s.sentinels > 0 {
		others = sentinelMargin * s.wokenNs
	}
	run.traced, run.noted = follow(ctx, &run.Run, cpus, others, run.wakeups)
	run.wakeups = wakeupEvents{} // what they told is kept
	run.wokenAtMostNs = others
	if !run.noted || run.traced.othersKnown {
		run.wokenAtMostNs = math.Inf(1)
	}
	events := run.Events
	blocked, threaded := blocks(events), threaded(events)
	run.Events = nil // what they told is kept
	if run.Untraced == nil && (run.noted || !s.probed || s.isMemoryRun()) {
		run.Rejected = true
		run.Why = append(run.Why, "it was traced, to see its memory and all of its threads, which takes time")
	}
	if !s.probed {
		s.probe(run, blocked)
	}
	switch t := run.traced; {
	case !run.noted:
		run.outsideNs = math.NaN()
	case t.blocksKnown > 0 && t.blocksUnknown == 0:
		run.outsideNs = t.strangersNs
	default:
		run.outsideNs = outsideNs(events, s.sleeps+int(run.MajorFaults), t.wallNs)
	}
	s.otherPolicy, s.otherLimit = s.otherPolicy || run.OtherPolicy, s.otherLimit || run.OtherLimit
	s.peak = max(s.peak, run.MaxRSSBytes)
	s.several = s.several || run.traced.threads > 1
	if t := run.traced; run.noted && t.threads > 1 && t.othersKnown {
		s.wokenNs = math.Max(s.wokenNs, t.othersWake.highNs)
		s.sentinels++
	}
	run.bound(cpus)
	run.elsewhere = run.othersElsewhere(cpus)
	run.allowForDeadline(s.waits(), s.timedWaits, blocked, threaded)
	s.yields = max(s.yields, run.Yields)
	run.yields = s.yields
	if run.blocks = blocked; !s.someUnnoted {
		run.timedWaits, run.waits = s.timedWaits, s.waits()
	}
}

// sentinelMargin is by how much more threads may have waited in a run than in those in
// which that is known.
const sentinelMargin = 1.5

// counted is how many runs count.
func (s *series) counted() (n int) {
	for i := range s.runs {
		if !s.runs[i].Rejected {
			n++
		}
	}
	return n
}

// once makes one run, with what comes before and after it.
func (m *measurement) once(ctx context.Context, c Command, traced bool) (run Run, err error) {
	if c.Prepare != nil {
		if err := beside(ctx, *c.Prepare); err != nil {
			return Run{}, &FailedError{Name: c.Name, What: "its preparation", Err: err}
		}
	}
	limited, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeoutCause(limited, c.Timeout, errTimeout)
		defer end(nil)
	}
	kept, output := c.keep()
	if watch := m.endStarved(limited, c.spentNs, end); watch != nil {
		kept.Started = func(pid int) {
			if c.Started != nil {
				c.Started(pid)
			}
			watch(pid)
		}
	}
	run, err = m.run(limited, kept, traced)
	if run.WallNs > 0 {
		run.read = output.read(c.Metrics)
		for i, m := range c.Metrics {
			if missing := run.read[i].missing; missing != nil {
				run.Why = append(run.Why, m.Name+": "+missing.Error())
			}
		}
	}
	ended := context.Cause(limited)
	cancel()
	switch {
	case ended != nil && ctx.Err() == nil:
		err = &FailedError{Name: c.Name, What: theCommand, Err: ended}
	case err == nil && run.Failure() != nil:
		err = &FailedError{Name: c.Name, What: theCommand, Err: run.Failure()}
	}
	if c.Conclude != nil && ctx.Err() == nil {
		if after := beside(ctx, *c.Conclude); after != nil && err == nil {
			err = &FailedError{Name: c.Name, What: "what follows it", Err: after}
		}
	}
	return run, err
}

// tell reports progress.
func (m *measurement) tell(i int) {
	if m.progress == nil {
		return
	}
	var sum float64
	for _, s := range m.all {
		if s.done {
			sum++
			continue
		}
		share := s.spentNs / float64(m.plan.MaxTime.Nanoseconds())
		sum += min(0.99, max(share, float64(len(s.runs))/float64(m.plan.MaxRuns)))
	}
	s := m.all[i]
	m.progress(Progress{Share: sum / float64(len(m.all)), Command: i, Runs: len(s.runs), Estimate: s.soFar})
}

// enough reports whether the series may end. One of several threads ends with a run that is
// traced: without it, nothing tells of how they waited since the last one.
func (m *measurement) enough(s *series) bool {
	s.done = s.done || m.knows(s)
	return s.done && (s.closed || s.sentinels == 0 || s.failure != nil || s.starved != nil)
}

// knows reports whether a series is known as well as it is to be, or may take no more time or runs.
func (m *measurement) knows(s *series) bool {
	if m.spent(s) {
		return true
	}
	s.precise = s.precise || m.plan.limits().Enough(s.counted(), time.Duration(s.spentNs), func() float64 {
		s.soFar = conclude(s, m.plan, m.setting, m.checks).Estimate
		return s.soFar.RelativeHalfWidth()
	})
	return s.precise && !s.open
}

// spent reports whether a series has failed, or may take no more time or runs.
func (m *measurement) spent(s *series) bool {
	return s.failure != nil || s.starved != nil || len(s.runs) > 2*m.plan.MaxRuns || m.plan.limits().Ended(s.counted(), time.Duration(s.spentNs))
}
