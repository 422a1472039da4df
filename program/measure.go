package program

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/remedy"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// Progress tells how far a measurement is.
type Progress struct {
	// Share is the share of the measurement that is done, 0 to 1.
	Share float64
	// Command is the index of the command that was run last, Runs the number of its runs.
	Command, Runs int
	// Estimate is the estimate of that command so far, with NaN for unknown values.
	Estimate stats.Estimate
}

// FailedError says that a command failed, or its preparation or conclusion.
type FailedError struct {
	Name string // of the command
	What string // TheCommand, "its preparation" ...
	Err  error
}

// TheCommand is the [FailedError.What] if the command itself failed.
const TheCommand = "the command"

// Error says what failed, and what would help.
func (e *FailedError) Error() string { return e.withoutRemedy() + afterFailure(e) }

func (e *FailedError) withoutRemedy() string {
	if e.What == TheCommand {
		return fmt.Sprintf("%s failed: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Name, e.What, e.Err)
}

// afterFailure says what to do after a command failed, for the end of a sentence. It is empty if the command was not run.
func afterFailure(failure error) string {
	var failed *FailedError
	var unstarted *process.StartError
	if !errors.As(failure, &failed) || errors.As(failure, &unstarted) {
		return ""
	}
	help := fmt.Sprintf(": look at its output (%s)", remedy.Of(remedy.Output))
	if failed.What == TheCommand { // failures of what belongs to it are not ignored
		help += fmt.Sprintf(", or go on with %s", remedy.Of(remedy.IgnoreFailure))
	}
	return help
}

// Unwrap returns the error with which it ended.
func (e *FailedError) Unwrap() error { return e.Err }

// errTimeout says that a run exceeded its time-out.
var errTimeout = errors.New("it took longer than its time-out, and was ended")

// Measure runs the commands in turn, in random order, until each time is known as precisely as the plan asks. A command
// that fails is not run again, unless the plan ignores the failure; the others go on. When ctx ends, Measure returns
// its error with what was measured until then. The other errors say what is wrong with the plan or with a command.
// progress may be nil.
//
// Until Measure returns, Go code of this process runs on one CPU at a time (see [process.NewLauncher]).
func Measure(ctx context.Context, commands []Command, plan Plan, setting Setting, progress func(Progress)) ([]*Result, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if len(commands) == 0 {
		return nil, errors.New("program: there is no command to measure: give one")
	}
	if plan.Duets != NoDuets && len(commands) < 2 {
		return nil, errors.New("program: duets of one command: give two")
	}
	for i, c := range commands {
		if c.Path == "" {
			return nil, fmt.Errorf("program: command %d of %d (Name %q) has no Path: give the file of its program, or a name to look up in PATH", i+1, len(commands), c.Name)
		}
	}
	r := newRunner(setting)
	r.rewinds = true
	defer r.close()
	settle, release := machine.CollectBetween(machine.UsualGarbageBytes)
	defer release()
	m := measurement{settle: settle, cpus: r.cpus, plan: plan, setting: setting, progress: progress, rng: rand.New(rand.NewPCG(plan.Seed, 0x9706))}
	m.run, m.runTogether, m.compete, m.snapshot, m.checks = r.run, r.together, compete, process.Look, setting.checks()
	for _, c := range commands {
		m.all = append(m.all, &series{command: c})
	}
	var err error
	r.launcher.On(func() { err = m.measure(ctx) })
	results := make([]*Result, len(m.all))
	for i, s := range m.all {
		results[i] = m.withDuets(s, concludeBoth(s, plan, setting, m.checks))
	}
	return results, err
}

// series holds what was measured of one command.
type series struct {
	command Command
	runs    []Run
	rounds  []int
	failure error
	// starved says that its last run was ended, since it waited for a CPU far beyond the time for all runs.
	starved *StarvedError
	spentNs float64
	done    bool
	// warm is the number of runs to warm up so far. probes is the number of probes so far: the first runs, which are
	// traced to learn about memory, threads and waits. probed says that no further probe is needed. untraceable says
	// that the command fails only if it is traced.
	warm        int
	probes      int
	probed      bool
	untraceable bool
	// peak is the most memory that its largest process had resident, in bytes, and peakOfAll the sum over all its
	// processes; 0 if unknown.
	peak, peakOfAll int64
	// yields is the number of times that the program gave its CPU away in a run (sched_yield(2)), by the traced runs.
	yields int
	// timedWaits is the number of system calls with which the program could wait until some time, the largest of
	// all probes. otherWaits is the number of times that it blocked for something else, the smallest of all
	// probes. someUnnoted says that there may be more of both.
	timedWaits, otherWaits int
	// calls is the number of its system calls in the traced run; 0 if they could not be counted.
	calls       int64
	someUnnoted bool
	// sleeps is the number of times that the program gave up its CPU only until a time, or until some time for other
	// threads of its process, as far as is known.
	sleeps int
	// looksAtClock says that the program read a clock amid its work, or may have done so. otherPolicy says that a
	// thread of it asked for a scheduling policy other than the normal ones, and otherLimit that a thread moved into a
	// control group with a CPU limit.
	looksAtClock, otherPolicy, otherLimit bool
	// looksAtCPUTime says that the program read its CPU time amid its work.
	looksAtCPUTime bool
	// noteOpens says that in the last probe some program opened a file that may tell how long this one waited.
	// The next probe then sees whether it was this one.
	noteOpens bool
	// alone holds the probes in which all readings of clocks were seen.
	alone     []alone
	contended []contendedRun
	// recordings tell whether it pays to record tracepoints.
	recordings recordings
	// busyTold says that the program learns how busy the machine is from a file.
	busyTold bool
	// favoured are the runs at favouredNice that were noted. favouredNs is how long each of all such runs took, with what it
	// needs.
	favoured   []contendedRun
	favouredNs []float64
	// favouredChecks are those of the measurement; nil without runs at favouredNice.
	favouredChecks *env.NoiseChecks
	// several says that the program has more than one thread. sentinels is the number of runs for which it is known how
	// long all of them waited for a CPU after wake-ups: wokenNs at most.
	several   bool
	sentinels int
	wokenNs   float64
	// stopped is the number of runs during which this process was stopped.
	stopped int
	// closed says that one more run was made after it was done.
	closed bool
	// precise says that the time is known as precisely as the plan asks. open says that a comparison of it with a limit
	// needs more runs.
	precise, open bool
	soFar         stats.Estimate
}

// measurement is a measurement in progress.
type measurement struct {
	plan    Plan
	setting Setting
	// checks are the looks at the CPUs, and favouredChecks those at favouredNice.
	checks, favouredChecks *env.NoiseChecks

	progress func(Progress)
	rng      *rand.Rand
	all      []*series
	round    int
	cpus     int
	// concludedNs is how long what followed the last run waited for a CPU.
	concludedNs int64
	// run makes one run of a command, traced or not.
	run func(context.Context, Command, bool) (Run, error)
	// runTogether makes one run of each of two commands at the same time.
	runTogether func(context.Context, [2]Command) ([2]Run, [2]error)
	duets       duets
	// now is the clock of a simulation; nil for the real one.
	now func() time.Time
	// snapshot looks at a running process.
	snapshot func(pid int) (process.Snapshot, error)
	// settle collects the garbage of this process, which would otherwise take CPU time during a run; may be nil.
	settle func()
	// compete keeps n of the CPUs busy until stop is called. The field is nil if that is not possible.
	compete func(cpus []int, n int) (stop func())
}

func (m *measurement) clock() time.Time {
	if m.now != nil {
		return m.now()
	}
	return time.Now()
}

func (m *measurement) measure(ctx context.Context) error {
	for _, s := range m.all {
		s.soFar = unknown()
	}
	begun, nextLook := 0, m.plan.MinRuns
	unfinished := func() [][]int {
		m.chooseDuets()
		if m.plan.Gated != nil && begun >= nextLook {
			for i, open := range m.openCommands() {
				m.all[i].open = open
			}
			nextLook = begun + 1 + begun/10 // the time of a look grows with the number of runs
		}
		begun++
		m.duets.wanted = m.wantsDuet()
		var busy []int
		for i, s := range m.all {
			if !m.enough(s) && !m.leavesTime(s) {
				busy = append(busy, i)
			}
		}
		if m.duets.wanted {
			busy = append(busy, len(m.all))
		}
		return repeat.Alone(busy)
	}
	err := repeat.InTurn(m.rng, unfinished, func(round, i int) error {
		m.round = round
		if i < len(m.all) {
			m.checks.Look(ctx, m.all[i].command.CPUs)
		}
		if m.settle != nil {
			m.settle()
		}
		if i == len(m.all) {
			return m.duet(ctx)
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
	if err := m.favour(ctx); err != nil {
		return err
	}
	for _, s := range m.all {
		if err := m.contend(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// sentinelEvery is the number of runs from one traced run of a program with several threads to the next.
const sentinelEvery = 8

// repeat makes one more run of a series.
func (m *measurement) repeat(ctx context.Context, s *series) error {
	warming := s.warm < m.plan.Warmup
	traced := !s.untraceable && (!s.probed || s.several && (s.done || (len(s.runs)+s.warm)%sentinelEvery == 0) || s.isMemoryRun())
	s.closed = s.done
	began := m.clock()
	run, err := m.onceOrUntraced(ctx, s, traced)
	if err := ctx.Err(); err != nil {
		return err
	}
	if errors.As(err, &s.starved) {
		return nil
	}
	if run.WallNs > 0 {
		s.take(ctx, &run, cpusOf(s.command, m.cpus))
		if err := ctx.Err(); err != nil { // the run may not have been followed to its end
			return err
		}
	}
	s.spentNs += float64(m.clock().Sub(began))
	var failed *FailedError
	switch {
	case errors.As(err, &failed) && (failed.What != TheCommand || !m.plan.ignores(run)):
		s.failure = failed
	case errors.As(err, &failed):
		run.Why = append(run.Why, failed.Err.Error())
	case err != nil:
		s.failure = err
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

// isMemoryRun reports whether the next run is traced for a metric that only traced runs have. This is every second run,
// of all commands in the same rounds.
func (s *series) isMemoryRun() bool {
	return s.command.needsTracer() && (len(s.runs)+s.warm)%2 == 0
}

// needsTracer reports whether a metric is asked for that only traced runs have.
func (c Command) needsTracer() bool {
	return slices.ContainsFunc(c.Metrics, func(m Metric) bool { return m.traced })
}

// onceOrUntraced makes one run. Some programs fail if they are traced, such as sudo(8), debuggers and programs with a
// leak sanitizer. If a first run fails, it is repeated without tracing.
func (m *measurement) onceOrUntraced(ctx context.Context, s *series, traced bool) (Run, error) {
	run, err := m.onceNoted(ctx, s, traced)
	var failed *FailedError
	if starved := (*StarvedError)(nil); !traced || s.probed || run.Untraced != nil || errors.As(err, &starved) || ctx.Err() != nil || !errors.As(err, &failed) || failed.What != TheCommand {
		return run, err
	}
	untraced := s.command
	untraced.Stderr = nil // the first failure already showed the reason
	if again, err := m.once(ctx, untraced, false); err == nil {
		s.untraceable = true
		return again, nil
	}
	return run, err
}

// onceNoted makes one run. Until the series is probed, the run notes system calls and readings of clocks; later runs
// record tracepoints where these matter.
func (m *measurement) onceNoted(ctx context.Context, s *series, traced bool) (Run, error) {
	return m.once(ctx, s.noting(traced), traced)
}

// noting returns the command with what its next run notes.
func (s *series) noting(traced bool) Command {
	command := s.command
	command.NoteWaits, command.NoteClocks, command.NoteOpens = !s.probed, !s.probed, !s.probed && s.noteOpens
	command.spentNs = s.spentNs
	command.noteWakeups = s.probed && !traced && s.waitsForSomething() && s.recordings.pay()
	// They slow every system call, by a time that is not known if the calls could not be counted.
	command.noteTimedCalls = command.noteWakeups && s.calls > 0 && (s.timedWaits > 0 || s.someUnnoted)
	return command
}

// waitsForSomething reports whether the program's bounds depend on who wakes its threads.
func (s *series) waitsForSomething() bool {
	return s.several || slices.ContainsFunc(s.runs, func(r Run) bool { return r.BlockedNs > passable(float64(r.WallNs)) })
}

// cpusOf returns how many of n CPUs a command may use.
func cpusOf(c Command, cpus int) int {
	if len(c.CPUs) > 0 {
		return len(c.CPUs)
	}
	return cpus
}

// sentinelMargin is the factor by which woken threads may have waited for longer in a run than in the sentinels.
const sentinelMargin = 1.5

// counted returns the number of runs that count.
func (s *series) counted() (n int) {
	for i := range s.runs {
		if !s.runs[i].Rejected {
			n++
		}
	}
	return n
}

// tell reports the progress after a run of the command i.
func (m *measurement) tell(i int) {
	if m.progress == nil {
		return
	}
	var sum float64
	for _, s := range m.all {
		sum += m.shareDone(s)
	}
	s := m.all[i]
	m.progress(Progress{Share: sum / float64(len(m.all)), Command: i, Runs: len(s.runs), Estimate: s.soFar})
}

// shareDone returns how far the measurement of a command is, 0 to 1.
func (m *measurement) shareDone(s *series) float64 {
	made := len(s.runs)
	switch {
	case m.duets.wanted && m.hasDuets(s):
		made = len(m.duets.runs[0])
	case s.done:
		return 1
	}
	return min(0.99, max(m.spentOn(s).Seconds()/m.plan.MaxTime.Seconds(), float64(made)/float64(m.plan.MaxRuns)))
}

// concluded returns the result of a command so far.
func (m *measurement) concluded(s *series) *Result {
	return m.withDuets(s, conclude(s, m.plan, m.setting, m.checks))
}

// mostStopped is the number of runs during which this process was stopped after which a series without any other run may end.
const mostStopped = 3

// enough reports whether the series may end. The last run of a program with several threads is a traced one: without it
// nothing tells how they waited since the last traced run.
func (m *measurement) enough(s *series) bool {
	s.done = s.done || m.knows(s)
	return s.done && (s.closed || s.sentinels == 0 || s.failure != nil || s.starved != nil)
}

// knows reports whether a series needs no more runs: it is known as precisely as asked, and no comparison of it with
// a limit needs more runs; or it has failed, or may take no more time or runs.
func (m *measurement) knows(s *series) bool {
	if m.spent(s) || m.plan.Duets == OnlyDuets && m.hasDuets(s) {
		return true
	}
	s.precise = s.precise || m.plan.limits().Enough(s.counted(), m.spentOn(s), func() float64 {
		s.soFar = m.concluded(s).Estimate
		return s.soFar.RelativeHalfWidth()
	})
	return s.precise && (!s.open || m.hasDuets(s))
}

// spent reports whether a series has failed, or may take no more time or runs.
func (m *measurement) spent(s *series) bool {
	if s.counted() == 0 && s.stopped >= mostStopped && m.spentOn(s) > 2*m.plan.MaxTime { // more would be stopped, too
		return true
	}
	return s.failure != nil || s.starved != nil || len(s.runs) > 2*m.plan.MaxRuns+mostProbes || m.plan.limits().Ended(s.counted(), m.spentOn(s))
}
