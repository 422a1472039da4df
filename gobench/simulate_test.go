package gobench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// simulated runs a benchmark on a simulated machine with one CPU.
type simulated struct {
	machine   *clocktest.Machine
	scheduler *clocktest.Scheduler
	rng       *rand.Rand
	// truthNs is the CPU time of an operation, on a machine of its own; sleepNs it
	// sleeps, and untimedNs it works with its timer stopped.
	truthNs, sleepNs, untimedNs float64
	startNs                     float64          // of the process
	setupNs                     float64          // of each call, timed
	growth                      float64          // by which share of the first an iteration is dearer than the one before
	stopNs                      float64          // how long stopped runs stand still in the midst of their work
	stops                       func(n int) bool // which runs, by their iterations
	slower                      map[string]float64
	runs                        int
	stopNext                    bool
	// noted has the calls of the last run, if iterations that stop their timer are timed one by one;
	// each is longer by a reading of the clock, of readNs.
	noted  []call
	readNs float64
}

func (s *simulated) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	if err := ctx.Err(); err != nil {
		return Observation{}, err
	}
	s.runs++
	factor := 1.0
	if f, ok := s.slower[b.Revision]; ok {
		factor = f
	}
	before, _ := s.scheduler.Use()
	started := s.machine.NowNs()
	s.machine.Run(s.startNs * (0.8 + 0.4*s.rng.Float64()))
	s.call(1, factor)
	s.stopNext = s.stops != nil && s.stops(n)
	var truth []Metric
	if s.stopNext {
		truth = []Metric{{Unit: "stops/op", Value: 1}}
	}
	timedNs := s.call(n, factor)
	s.machine.Run(0.1 * s.startNs)
	o := Observation{N: n, Procs: 1, Metrics: truth, WallNs: s.machine.NowNs() - started, WaitNs: math.NaN()}
	after, _ := s.scheduler.Use()
	use := after.Since(before)
	o.CPUNs, o.InvoluntarySwitches = float64(use.CPUNs), float64(use.InvoluntarySwitches)
	if traced {
		o.WaitNs = float64(use.WaitNs)
	}
	o.TimedNs, o.RoundingNs = printed(timedNs, n)
	return o.timedByCalls(s.noted), nil
}

// callApart is an iteration that works with its timer stopped, and then is timed by itself; the chain
// that is timed as it was has links of 1 ns.
func (s *simulated) callApart(factor float64, twice bool) call {
	before, _ := s.scheduler.Use()
	began := s.machine.NowNs()
	s.machine.Run(s.untimedNs)
	timed := func(ns float64) float64 {
		t := s.machine.NowNs()
		s.machine.Run(s.readNs + ns)
		return s.machine.NowNs() - t
	}
	c := call{timedNs: timed(s.truthNs * factor), sameThread: true, twice: twice, timerOn: false}
	if c.chainNs = timed(64); twice {
		c.chainNs = timed(128)
	}
	after, _ := s.scheduler.Use()
	use := after.Since(before)
	c.wallNs, c.cpuNs, c.involuntary, c.voluntary = s.machine.NowNs()-began, float64(use.CPUNs), int64(use.InvoluntarySwitches), int64(use.VoluntarySwitches)
	return c
}

// call is a call of the benchmark's function.
func (s *simulated) call(n int, factor float64) (timedNs float64) {
	t := s.machine.NowNs()
	s.machine.Run(s.setupNs)
	if s.sleepNs == 0 && s.untimedNs == 0 {
		workNs := float64(n) * s.truthNs * factor * (1 + s.growth*float64(n)/2)
		s.machine.Run(workNs / 2)
		if s.stopNext {
			s.scheduler.Block(s.stopNs)
			s.stopNext = false
		}
		s.machine.Run(workNs / 2)
		return s.machine.NowNs() - t
	}
	timedNs = s.machine.NowNs() - t
	if s.noted != nil {
		s.noted = s.noted[:0]
	}
	for i := range n {
		if s.noted != nil {
			s.noted = append(s.noted, s.callApart(factor, i%2 != 0))
			timedNs += s.noted[i].timedNs
			continue
		}
		t := s.machine.NowNs()
		s.machine.Run(s.truthNs * factor)
		if s.sleepNs > 0 {
			s.scheduler.Block(s.sleepNs)
		}
		timedNs += s.machine.NowNs() - t
		s.machine.Run(s.untimedNs)
	}
	return timedNs
}

// printed rounds as the testing package prints: four digits, whole nanoseconds, or seven
// decimals.
func printed(ns float64, n int) (roundedNs, errorNs float64) {
	perOp := ns / float64(n)
	decimals := max(0, min(7, 3-int(math.Floor(math.Log10(math.Max(perOp, 1e-9))))))
	text := strconv.FormatFloat(perOp, 'f', decimals, 64)
	rounded, _ := strconv.ParseFloat(text, 64)
	return rounded * float64(n), roundingOf(text) * float64(n)
}

// simulatedCase is one random machine with one random benchmark.
type simulatedCase struct {
	seed    uint64
	truthNs float64
	load    int
	sharing clocktest.Sharing
	watchNs float64
}

func logUniform(rng *rand.Rand, lo, hi float64) float64 {
	return lo * math.Exp(rng.Float64()*math.Log(hi/lo))
}

// randomCase draws kernels of 100 to 1,000 Hz, hosts that tick beside them, slices of 1
// to 50 ms, and steal that the kernel knows.
func randomCase(seed uint64) simulatedCase {
	rng := rand.New(rand.NewPCG(seed, 0xb3))
	c := simulatedCase{seed: seed, truthNs: logUniform(rng, 1, 50e6), load: []int{1, 2, 4, 11}[rng.IntN(4)], watchNs: 0.5e9}
	s := clocktest.Sharing{Load: c.load, SliceNs: logUniform(rng, 2.5e6, 4.5e6), SliceJitter: 0.3 * rng.Float64(), LookNs: 1500}
	if rng.IntN(4) == 0 {
		s.SliceNs = logUniform(rng, 1e6, 50e6)
	}
	s.AtTicks = rng.IntN(2) == 0
	period, least := 1e9/[]float64{100, 250, 1000}[rng.IntN(3)], logUniform(rng, 1e3, 5e3)
	s.Timers = append(s.Timers, clocktest.Timer{PeriodNs: period, PhaseNs: period * rng.Float64(), Kernel: true, Cost: clocktest.Above(least, 0.5*least, 0.5)})
	if rng.IntN(2) == 0 {
		least := logUniform(rng, 2e3, 9e3)
		s.Timers = append(s.Timers, clocktest.Timer{PeriodNs: 1e6, PhaseNs: 1e6 * rng.Float64(), Cost: clocktest.Above(least, 0.5*least, 0.5)})
	}
	s.Interrupts = []clocktest.Arrivals{{PerSecond: logUniform(rng, 10, 1000), Length: clocktest.Jittered(logUniform(rng, 500, 10e3), 0.3+0.9*rng.Float64())}}
	if rng.IntN(3) == 0 {
		s.Stolen, s.StealKnown = clocktest.Arrivals{PerSecond: logUniform(rng, 1, 20), Length: clocktest.Above(50e3, logUniform(rng, 1e5, 2e6), 0.8)}, true
	}
	s.SwitchNs = clocktest.Above(1e3, logUniform(rng, 300, 4e3), 0.4)
	s.ColdNs = clocktest.Jittered(logUniform(rng, 500, 40e3), 0.3)
	c.sharing = s
	return c
}

// start makes the machine, and watches its noise.
func (c simulatedCase) start() (*simulated, machine.Noise) {
	s, noises := c.watched(1)
	return s, noises[0]
}

// watched makes the machine, and watches its noise in several looks of the same length.
func (c simulatedCase) watched(looks int) (*simulated, []machine.Noise) {
	var gaps []clocktest.Gap
	watching := true
	sharing := c.sharing
	sharing.Watch = func(g clocktest.Gap) {
		if watching {
			gaps = append(gaps, g)
		}
	}
	s := &simulated{machine: clocktest.NewMachine(c.seed), truthNs: c.truthNs, startNs: 3e6, rng: rand.New(rand.NewPCG(c.seed, 0xb4))}
	s.scheduler = clocktest.Share(s.machine, sharing)
	var noises []machine.Noise
	for range looks {
		gaps = gaps[:0]
		ran := s.scheduler.RanNs()
		s.machine.Run(c.watchNs / float64(looks))
		noises = append(noises, noiseOf(gaps, s.scheduler.RanNs()-ran))
	}
	watching = false
	return s, noises
}

// noiseOf returns the noise that gaps in a time of running show.
func noiseOf(gaps []clocktest.Gap, ranNs float64) machine.Noise {
	n := machine.Noise{WatchedNs: ranNs, SwitchNs: math.NaN()}
	var switches []float64
	for _, g := range gaps {
		switch g.Source {
		case clocktest.SwitchGap:
			switches = append(switches, g.Ns-g.WaitNs)
		case clocktest.StolenGap:
		default:
			n.LostShare += g.Ns / ranNs
		}
	}
	if len(switches) > 0 {
		n.SwitchNs = stats.Median(switches)
	}
	return n
}

var background = context.Background()

// measureOne measures the simulated benchmark by itself.
func measureOne(s *simulated, noise machine.Noise, plan Plan) *Result {
	setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
	all, err := Measure(background, s, [][]Benchmark{{{Name: "BenchmarkWork"}}}, plan, setting, nil)
	if err != nil {
		panic(err)
	}
	return Conclude(all[0][0], plan, setting)
}

func parallel(n int, do func(i int)) {
	var all sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := worker; i < n; i += runtime.GOMAXPROCS(0) {
				do(i)
			}
		})
	}
	all.Wait()
}

// tally counts the cases of one stratum.
type tally struct {
	n, usable, trusted, covered int
	widths, errors, wallErrors  []float64
}

func (t *tally) add(r *Result, truthNs float64) {
	t.n++
	t.wallErrors = append(t.wallErrors, math.Abs(r.Wall.Value/truthNs-1))
	if r.Verdict == stats.Unusable {
		return
	}
	t.usable++
	if r.Verdict == stats.Trusted {
		t.trusted++
	}
	if r.Estimate.Covers(truthNs) {
		t.covered++
	}
	t.widths = append(t.widths, r.Estimate.RelativeHalfWidth())
	t.errors = append(t.errors, math.Abs(r.Estimate.Value/truthNs-1))
}

// atLeast is how many of n intervals have to cover: a count that a perfect method of
// 95 % passes nearly always.
func atLeast(n int) int {
	return int(0.95*float64(n) - 2.05*math.Sqrt(float64(n)*0.95*0.05))
}

func (c simulatedCase) strata() []string {
	length := "1 ns to 1 µs"
	if c.truthNs > 1e6 {
		length = "1 to 50 ms"
	} else if c.truthNs > 1e3 {
		length = "1 µs to 1 ms"
	}
	loaded := fmt.Sprintf("load %d", c.load)
	return []string{"all", loaded, length, length + ", " + loaded}
}

func quantile(values []float64, p float64) float64 {
	slices.Sort(values)
	return stats.Quantile(values, p)
}

// A thousand machines and benchmarks that keep one thread busy: the interval covers the
// truth in every stratum, is narrow, and trusted; what go test prints is off by the
// load.
func TestRandomMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const n = 1000
	results := make([]*Result, n)
	parallel(n, func(i int) {
		s, noise := randomCase(uint64(i)).start()
		plan := DefaultPlan
		plan.Seed = uint64(i)
		results[i] = measureOne(s, noise, plan)
	})
	strata := map[string]*tally{}
	alarms, rejected := 0, 0
	for i, r := range results {
		rejected += r.Rejected
		if says(r, saysOptimised) || says(r, saysSetup) || says(r, saysGrows) {
			alarms++
			t.Logf("a false alarm: seed %d: %q", i, r.Reasons)
		}
		c := randomCase(uint64(i))
		for _, name := range c.strata() {
			if strata[name] == nil {
				strata[name] = &tally{}
			}
			strata[name].add(r, c.truthNs)
		}
		if off := math.Abs(r.Estimate.Value - c.truthNs); r.Verdict == stats.Trusted && off > 0.05*c.truthNs && off > 3*r.Estimate.HalfWidth() {
			t.Errorf("wrongly trusted: seed %d: %.4g ns measured as %+v", i, c.truthNs, r.Estimate)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		c := strata[name]
		t.Logf("%-24s %4d: %4d usable, %4d trusted, %4d covered; half-width median %.2g %%; error median %.2g %%, p95 %.2g %%; error of go test median %.2g %%",
			name, c.n, c.usable, c.trusted, c.covered, 100*quantile(c.widths, 0.5), 100*quantile(c.errors, 0.5), 100*quantile(c.errors, 0.95), 100*quantile(c.wallErrors, 0.5))
		if c.covered < atLeast(c.usable) {
			t.Errorf("%s: %d of %d intervals cover, want %d", name, c.covered, c.usable, atLeast(c.usable))
		}
		if width := quantile(c.widths, 0.5); width > 0.01 {
			t.Errorf("%s: the median half-width is %.2g %%, want at most 1 %%", name, 100*width)
		}
	}
	t.Logf("%d false alarms, %d repetitions rejected", alarms, rejected)
	if alarms > n/100 {
		t.Errorf("%d of %d ordinary benchmarks are said to be at fault", alarms, n)
	}
	if c := strata["all"]; float64(c.trusted) < 0.8*float64(c.n) {
		t.Errorf("%d of %d are trusted, want 80 %%", c.trusted, c.n)
	}
	if off := quantile(strata["load 11"].wallErrors, 0.5); off < 8 || off > 12 {
		t.Errorf("go test is off by a factor of %.3g at load 11: the machine is not what the test takes it for", 1+off)
	}
}
