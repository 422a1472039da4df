package gobench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/remedy"
)

// Processes runs benchmarks, each run in a process of its own.
type Processes struct {
	// CPUs are those that the processes may use; if there are none, those of this process.
	CPUs []int
	// Timeout ends a process that takes longer; 0 means never.
	Timeout time.Duration
	// Nice is the niceness of the processes (nice(7)), and of their sessions where the kernel divides the CPUs among
	// sessions; 0 leaves it as it is. To lower it takes root.
	Nice int
	// Slowed returns by what share independent instructions take longer now than on cores that nothing shares,
	// on the slowest of the CPUs. It is nil if that can't be measured.
	Slowed func() float64
	// Others watches other processes. It is nil if they can't be seen.
	Others *process.Others
	// Quota watches the CPU quota of the processes' control groups; nil if nothing does.
	Quota *machine.Throttling
	// DuetCPUs are those of which each duet has one; there are no duets without them.
	DuetCPUs []int
	// Launcher starts the processes. If it is nil, each is started by a new thread, which Others can't tell from
	// one of another program.
	Launcher *process.Launcher
}

// slowed returns what Slowed returns now; NaN if there is none.
func (p Processes) slowed() float64 {
	if p.Slowed == nil {
		return math.NaN()
	}
	return p.Slowed()
}

// throttled reports whether the CPU quota was used up since the last call.
func (p Processes) throttled() bool { return p.Quota != nil && p.Quota.Throttled() }

// workingShare is the share of a process's CPU time that its working threads use. Nobody waits for the other
// threads, such as the one by which the Go runtime watches itself.
const workingShare = 0.9

// mostStopped is how often a run is made in which this process is stopped each time.
const mostStopped = 5

// Run implements [Runner]. It repeats a run during which this process was stopped, as by Ctrl-Z, and the benchmark with it.
func (p Processes) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	for range mostStopped {
		if o, err := p.run(ctx, b, n, traced); err != nil || !o.stopped {
			return o, err
		}
	}
	return Observation{}, &FailedError{Benchmark: b, Why: "this command was stopped during each run, or got SIGCONT: let nothing stop it"}
}

// run runs a benchmark with more variables in its environment.
func (p Processes) run(ctx context.Context, b Benchmark, n int, traced bool, env ...string) (Observation, error) {
	// With -test.v name and result are printed together, whatever the benchmark prints.
	before, began := p.slowed(), lookAround()
	p.Others.Look(0, nil)
	p.throttled()
	noted := notesOf(b.Binary, n)
	run, output, err := p.test(ctx, b, traced && !b.Accounts, append(env, noted.env()...), "-test.v", "-test.benchmem", "-test.bench="+exactly(b.plainName()), "-test.benchtime="+strconv.Itoa(n)+"x")
	o, a, malformed := resultOf(output, b.plainName())
	others := p.Others.Look(max(len(run.Threads), len(a.threads)), nil)
	throttled, around, after := p.throttled(), lookAround(), p.slowed()
	if err != nil {
		return Observation{}, err
	}
	failed := func(why string) error { return &FailedError{Benchmark: b, Why: why, Output: output} }
	if err := run.Failure(); err != nil {
		return Observation{}, failed(err.Error())
	}
	if malformed != nil {
		return o, failed(malformed.Error())
	}
	if o.N != n {
		return o, failed(fmt.Sprintf("it was to run %d iterations, and ran %d", n, o.N))
	}
	o.stopped = run.Continued > 0
	o.WallNs, o.CPUNs = float64(run.WallNs), float64(run.CPUNs())
	o.SlowedBefore, o.SlowedAfter, o.OthersNs, o.Began, o.Around, o.Throttled = before, after, math.NaN(), began, around, throttled
	if others.Known {
		otherCPUs := math.Max(1, float64(runtime.NumCPU()-1)) // at least one: other CPUs may exist that this process may not use
		o.OthersNs = math.Min(float64(others.CPUNs), otherCPUs*o.WallNs)
	}
	o.InvoluntarySwitches, o.Signals = float64(run.InvoluntarySwitches), run.Signals
	o.MajorFaults = float64(run.MajorFaults)
	o.StoppedNs, o.WaitNs = float64(run.StoppedNs), math.NaN()
	if run.WaitOf == process.AllThreads {
		o.WaitNs = workersWaitNs(run.Threads)
	}
	if o.ProcessNs = o.WallNs; b.Accounts {
		a.take(&o)
	}
	measuringNs := float64(run.BesideNs)
	if a.looked && a.measuringNs >= 0 {
		measuringNs = a.measuringNs
	}
	o.SelfWaitNs = o.selfWaitNs(others, measuringNs)
	calls, err := noted.read()
	if err != nil {
		return o, failed(err.Error())
	}
	return o.timedByCalls(calls), nil
}

// selfWaitNs returns the part of the wait that others can't have caused: what exceeds their CPU time and that of the
// measuring process. It is 0 if the CPU quota was used up, which may be why the threads waited.
func (o Observation) selfWaitNs(others process.OthersUse, measuringNs float64) float64 {
	if !others.Known || o.Throttled || !(o.WaitNs > 0) {
		return 0
	}
	return math.Max(0, o.WaitNs-float64(others.CPUNs)-measuringNs)
}

// workersWaitNs returns the run-queue wait of the working threads; NaN if none of them ran, since the kernel does not count
// then.
func workersWaitNs(threads []process.Thread) (waitNs float64) {
	byWork := slices.SortedFunc(slices.Values(threads), func(a, b process.Thread) int { return cmp.Compare(b.CPUNs, a.CPUNs) })
	var all, seen int64
	for _, t := range byWork {
		all += t.CPUNs
	}
	if all == 0 {
		return math.NaN()
	}
	for _, t := range byWork {
		if float64(seen) >= workingShare*float64(all) {
			break
		}
		seen += t.CPUNs
		waitNs += float64(t.WaitNs)
	}
	return waitNs
}

// test runs the test binary as go test does, without its tests. Its environment is that of this process, with the variables
// of env.
func (p Processes) test(ctx context.Context, b Benchmark, traced bool, env []string, args ...string) (process.Run, string, error) {
	limited := ctx
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	if b.SetProcs > 0 {
		args = append(args, "-test.cpu="+strconv.Itoa(b.SetProcs))
	}
	env = append(env, "CHRONOSCOPE_PID="+strconv.Itoa(os.Getpid()), "CHRONOSCOPE_GOROUTINES="+strconv.Itoa(b.waiting()+1), "CHRONOSCOPE_PADDING="+strings.Repeat("x", b.Padding), "CHRONOSCOPE_ITERATION_NS="+strconv.FormatFloat(b.IterationNs, 'f', -1, 64))
	env = append(env, os.Environ()...) // last, as Go takes the first of two variables with one name
	var output outline
	command := process.Command{
		Path: b.Binary, Dir: b.Dir, CPUs: p.CPUs, Stdout: &output, Stderr: &output, Untraced: !traced, Env: env,
		Nice: p.Nice, OwnSession: p.Nice != 0,
		Args: append([]string{"-test.paniconexit0", "-test.run=^$"}, args...),
	}
	start := command.Run
	if p.Launcher != nil {
		start = func(ctx context.Context) (process.Run, error) { return p.Launcher.Run(ctx, command) }
	}
	run, err := start(limited)
	if _, unstarted := errors.AsType[*process.StartError](err); unstarted && errors.Is(err, syscall.EACCES) { // it was just built
		err = fmt.Errorf("starting %s: %w: its folder may be mounted noexec: set TMPDIR (or GOTMPDIR, if that is set) to one in which programs may be started", b.Binary, syscall.EACCES)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = &FailedError{Benchmark: b, Why: fmt.Sprintf("it still ran after %v, and was ended: allow it more with %s", p.Timeout, remedy.Of(remedy.Timeout)), Output: output.String()}
	}
	return run, output.String(), err
}
