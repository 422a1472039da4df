package fidelity

import (
	"context"
	"math"
	"math/rand/v2"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// world is a simulated machine with some CPUs and one thread, together with what has happened to it
// so far.
type world struct {
	*clocktest.Machine
	rng    *rand.Rand
	plan   Plan
	cpus   int
	cpu    int
	idleNs float64
}

func newWorld(seed uint64) *world {
	w := &world{Machine: clocktest.NewMachine(seed), rng: rand.New(rand.NewPCG(seed, 0xf1de)), plan: simPlan}
	w.cpus = 2 + w.rng.IntN(3)
	w.WorkNs = 1
	return w
}

// between draws a log-uniformly distributed value from lo to hi.
func (w *world) between(lo, hi float64) float64 {
	return lo * math.Pow(hi/lo, w.rng.Float64())
}

func (w *world) sleep(ns float64) {
	ns += 50e3 * w.rng.ExpFloat64()
	w.Idle(ns)
	w.idleNs += ns
}

// look returns what the kernel would count.
func (w *world) look() (machine.ThreadUse, error) {
	w.Run(300)
	return machine.ThreadUse{CPU: w.cpu, CPUNs: int64(w.NowNs() - w.idleNs)}, nil
}

// counter is a simulated clock whose time may be any function of what has happened to its machine.
type counter struct {
	*world
	quantumNs, tickNs, phaseNs float64
	cost                       clocktest.Distribution
	lateNs                     float64        // the most by which an update is late
	seenNs                     func() float64 // the time that the counter counts; nil means the machine's time
}

// read rounds the time down to the quantum, and the result down to the tick.
func (c *counter) read() int64 {
	cost := c.cost(c.Rand())
	before := cost * c.Rand().Float64()
	c.Run(before)
	t := c.NowNs()
	if c.seenNs != nil {
		t = c.seenNs()
	}
	c.Run(cost - before)
	return int64(math.Floor(c.updates(t+c.phaseNs) * (c.quantumNs / c.tickNs)))
}

// updates returns how many updates there were by the time t. The delay of an update is the same each
// time.
func (c *counter) updates(t float64) float64 {
	n := math.Floor(t / c.quantumNs)
	if c.lateNs > 0 && t-n*c.quantumNs < c.lateNs*rand.New(rand.NewPCG(uint64(n), 1)).Float64() {
		n--
	}
	return n
}

// rated returns the clock in the form that methods take. Its rate was calibrated before, with an
// interval that holds the truth.
func (c *counter) rated(name string, offPPM float64) clock.Rated {
	off := offPPM * (2*c.rng.Float64() - 1) / 1e6
	tick := c.tickNs * (1 + off)
	return clock.Rated{
		Clock:  clock.New(clock.Clock{Name: name, Kind: clock.KindCounter, CountsSleep: clock.Yes}, c.read),
		TickNs: stats.Estimate{Value: tick, Lo: tick * (1 - offPPM/1e6), Hi: tick * (1 + offPPM/1e6)}, AccuracyNs: c.quantumNs + c.lateNs,
	}
}

// reference returns a clock without faults that counts nanoseconds.
func (w *world) reference() clock.Rated {
	c := counter{world: w, quantumNs: 1, tickNs: 1, cost: clocktest.Jittered(w.between(15, 40), 0.1)}
	return c.rated("reference", 0)
}

// fine returns a counter like a processor's, calibrated to a part per million.
func (w *world) fine() *counter {
	tick := 1 / w.between(1, 4)
	return &counter{
		world: w, tickNs: tick, quantumNs: tick * float64(1+w.rng.IntN(4)), phaseNs: 1e9 * w.rng.Float64(),
		cost: clocktest.WithOutliers(clocktest.Jittered(w.between(5, 40), 0.1), 0.01, 50),
	}
}

// preempted makes the machine take the CPU away from time to time.
func (w *world) preempted() {
	w.Preemption = &clocktest.Preemption{EveryNs: w.between(1e6, 1e8), ForNs: w.between(1e4, 1e7)}
}

// workloads returns the simulated workloads.
func (w *world) workloads() []Workload {
	shares := 0.25
	one := func(name string, run func(ns float64)) Workload {
		return Workload{Name: name, Prepare: func(_ context.Context, s *Sampler) (Task, error) { return around(s, run, nil), nil }}
	}
	return []Workload{
		one(Sleep, w.sleep),
		one(Fibonacci, w.Run),
		one(Migration, func(ns float64) {
			for range w.cpus + 1 {
				w.cpu = (w.cpu + 1) % w.cpus
				w.Run(ns / float64(w.cpus+1))
			}
		}),
		one(Frequency, func(ns float64) {
			w.sleep(shares * ns)
			w.Run((1 - shares) * ns)
			shares = 1 - shares
		}),
	}
}

// simPlan is the default plan, with fewer repetitions.
var simPlan = Plan{SleepNs: DefaultPlan.SleepNs, SleepRepeats: 5, OtherNs: DefaultPlan.OtherNs, OtherRepeats: 20}

// experiment runs the given simulated workloads, or all of them if none is given.
func (w *world) experiment(counter clock.Rated, workloads ...Workload) *Outcome {
	outcome, err := Run(context.Background(), Request{
		Counter: counter, Reference: w.reference(), Why: "they are simulated",
		Workloads: workloads, Plan: w.plan, Look: w.look,
	})
	if err != nil {
		panic(err)
	}
	return outcome
}
