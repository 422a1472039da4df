package exporter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/env"
	"chronoscope/kbest"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/tracepoint"
)

// Probe measures this machine.
type Probe struct {
	cpus      []int // to measure; empty for all that this process may use
	root      fs.FS
	machine   *machine.Machine
	identify  func() *machine.Machine // describes it as it is at a survey
	clock     clock.Rated
	rng       *rand.Rand
	walk      *walk
	throttled *machine.Throttling
	// follow is [activity.WatchKernel]. unnamed says that it failed, and again that it is tried again after a survey.
	follow         func(cpus []int, keep bool, root fs.FS) (stop func() activity.KernelEvents, err error)
	unnamed, again bool
}

// Sizes of the two kinds of known work. Both take about a millisecond.
const (
	chainRounds = 1_000_000 // dependent multiplications
	walkSteps   = 16_384    // dependent loads
)

const (
	watchFor       = 25 * time.Millisecond
	calibrationFor = 50 * time.Millisecond
	// shortestGapNs is the length of the shortest gap that counts: the same on every machine.
	shortestGapNs = 1e3
	mostGaps      = 8192 // in a turn, since each takes memory
)

// workPlan times known work in a few milliseconds.
var workPlan = kbest.Plan{K: 3, Epsilon: 0.001, MaxTrials: 16, MinTrials: 8, MaxTime: 10 * time.Millisecond, CallLimit: time.Second}

// NewProbe opens the clock and the kernel's counters. A turn is a short measurement on one CPU. cpus are
// the CPUs to measure; if empty, all that this process may use. The caller closes the probe.
func NewProbe(ctx context.Context, m *machine.Machine, cpus []int, root fs.FS, seed uint64) (*Probe, error) {
	c, err := env.Open(ctx, calibrationFor, env.Clocks()...)
	if err != nil {
		return nil, err
	}
	if rated, err := env.ReadingCost(c); err == nil {
		c = rated
	}
	return &Probe{
		cpus: cpus, root: root, machine: m, identify: machine.Identify, clock: c, rng: rand.New(rand.NewPCG(seed, 0)), walk: newWalk(),
		throttled: machine.OpenThrottling(root), follow: activity.WatchKernel,
	}, nil
}

// Close closes what was opened.
func (p *Probe) Close() {
	p.clock.Close()
}

// Turn measures on one CPU, chosen at random. It takes some 100 ms of CPU time.
func (p *Probe) Turn(ctx context.Context) Turn {
	t := Turn{CPU: -1}
	cpu, err := p.someCPUs(1)
	release := func() {}
	if err == nil {
		release, err = env.Thread(cpu...)
	}
	if err != nil {
		t.Failures = append(t.Failures, Failure{StepPin, err})
		release, _ = env.Thread()
	} else if len(cpu) > 0 {
		t.CPU = cpu[0]
	}
	defer release()
	if t.Works, err = p.works(ctx); err != nil {
		t.Failures = append(t.Failures, Failure{StepWork, err})
	}
	p.watch(ctx, &t)
	return t
}

// someCPUs returns at most n of the CPUs to measure that are available now, at random, since CPUs may come and go; none if
// the system does not tell which CPUs there are. With an error they are any CPUs that are available.
func (p *Probe) someCPUs(n int) ([]int, error) {
	allowed, err := machine.Affinity()
	if err != nil {
		return nil, nil
	}
	var there []int
	for _, cpu := range allowed {
		if len(p.cpus) == 0 || slices.Contains(p.cpus, cpu) {
			there = append(there, cpu)
		}
	}
	if len(there) == 0 {
		there, err = slices.Clone(allowed), fmt.Errorf("CPUs %v are not available any more: others of %v are measured", p.cpus, allowed)
	}
	p.rng.Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
	return slices.Sorted(slices.Values(there[:min(n, len(there))])), err
}

// works times known work on this thread.
func (p *Probe) works(ctx context.Context) ([]Work, error) {
	station, release, err := kbest.Here(ctx, kbest.Setting{Clock: p.clock})
	if err != nil {
		return nil, err
	}
	defer release()
	plan := workPlan
	plan.Seed = p.rng.Uint64()
	results, err := station.Measure(ctx, plan,
		kbest.Subject{Name: "chain", Run: func(n int) { clock.Spin(n * chainRounds) }},
		kbest.Subject{Name: "walk", Run: func(n int) { p.walk.steps(n * walkSteps) }})
	var works []Work
	for _, r := range results {
		works = append(works, Work{r.Name, r.Estimate, r.Verdict})
	}
	return works, err
}

// watch records the gaps of t's CPU in t.
func (p *Probe) watch(ctx context.Context, t *Turn) {
	stop := func() activity.KernelEvents { return activity.KernelEvents{} }
	if !p.unnamed && t.CPU >= 0 {
		if following, err := p.follow([]int{t.CPU}, false, p.root); err == nil {
			stop = following
		} else {
			var why *tracepoint.Unavailable
			p.unnamed, p.again = true, errors.As(err, &why) && why.Transient() // rights don't come back: report it once
			t.Failures = append(t.Failures, Failure{StepNames, err})
		}
	}
	o := activity.Options{Duration: watchFor, ThresholdNs: shortestGapNs, MostGaps: mostGaps, CPU: t.CPU, Root: p.root}.On(p.machine)
	trace, err := activity.Record(ctx, p.clock.Clock, p.clock.TickNs.Value, o)
	events := stop()
	if err != nil {
		t.Failures = append(t.Failures, Failure{StepGaps, err})
		return
	}
	a := activity.Analyse(trace)
	t.Watched = time.Duration(a.DurationNs)
	t.Lost = map[activity.Cause]float64{}
	for cause, total := range a.Causes {
		t.Lost[cause] = total.TotalNs / 1e9
	}
	for _, gap := range trace.Gaps {
		t.Gaps = append(t.Gaps, float64(gap.Ticks)*trace.TickNs/1e9)
	}
	t.Disturbers = disturbers(trace.Name(events))
}

// disturbers returns what the kernel's events name.
func disturbers(named *activity.Named) (all []Disturber) {
	if named == nil {
		return nil
	}
	for _, part := range named.By("name") {
		kind := part.Who.Kind
		if kind == "" {
			kind = "unknown"
		}
		all = append(all, Disturber{Kind: kind, Name: part.Who.Name, Seconds: part.TotalNs / 1e9})
	}
	return all
}

// Kernel returns what the kernel has counted so far. It may be called at the same time as the other methods.
func (p *Probe) Kernel() (k Kernel) {
	if times, err := machine.ReadCPUTimes(p.root, machine.AllCPUs); err == nil {
		k.Stolen = stats.FloatOf(times.StolenNs / 1e9)
	}
	k.Throttled = stats.FloatOf(p.throttled.StoppedNs() / 1e9)
	k.RunQueueWait = stats.FloatOf(machine.PressureNs(p.root) / 1e9)
	return k
}

// Survey rates the clocks that programs use most, checks them against one another, and runs the checks
// of chronoscope doctor. It takes mostCPUs or fewer, and up to 300 ms of CPU time on each.
func (p *Probe) Survey(ctx context.Context, mostCPUs int) (s Survey) {
	p.unnamed = p.unnamed && !p.again
	now := p.identify() // before the thread is bound, since a machine's CPUs are those of the calling thread
	cpus, err := p.someCPUs(mostCPUs)
	s.CPUs = len(cpus)
	release, unbound := env.Thread(cpus...)
	if unbound != nil {
		release, _ = env.Thread()
	}
	if err = errors.Join(err, unbound); err != nil {
		s.Failures = append(s.Failures, Failure{StepPin, err})
	}
	local, err := timermeter.RankLocal(ctx, timermeter.Request{Plan: timermeter.QuickPlan, Names: surveyed(), CPUs: cpus, Seed: p.rng.Uint64()})
	if err != nil {
		s.Failures = append(s.Failures, Failure{StepClocks, err})
	}
	if local != nil {
		s.Clocks = local.Ratings
	}
	if s.Checks, err = p.checks(ctx, cpus); err != nil {
		s.Failures = append(s.Failures, Failure{StepChecks, err})
	}
	release()
	s.Findings, _ = machine.Doctor{
		Root: p.root, Machine: now, CPUs: p.cpus, Window: doctorWindow,
		Wait: func(d time.Duration) time.Duration { return clock.Wait(ctx, d) },
	}.Examine()
	return s
}

const doctorWindow = 200 * time.Millisecond

// surveyed returns the names of those clocks to rate that are available.
func surveyed() (names []string) {
	all, _ := clock.List()
	for _, c := range all {
		if slices.Contains(surveyedClocks, c.Name) {
			names = append(names, c.Name)
		}
		c.Close()
	}
	return names
}

var surveyedClocks = append(clock.BareCounters(), "monotonic", "monotonic-raw", "realtime", "go-time-now")

// checks tests the surveyed clocks for faults that a clock's own readings don't show.
func (p *Probe) checks(ctx context.Context, cpus []int) ([]check.Finding, error) {
	var clocks []clock.Rated
	for _, name := range surveyed() {
		if c, err := env.Open(ctx, calibrationFor, name); err == nil {
			defer c.Close()
			clocks = append(clocks, c)
		}
	}
	report, err := check.Local(ctx, check.Request{Clocks: clocks, Plan: check.QuickPlan, CPUs: cpus, Seed: p.rng.Uint64()})
	return report.Findings, err
}
