// Package clocktest simulates clocks and the machine on which they are read, so that tests can
// compare the results of an algorithm with a known truth: for thousands of clocks with any
// quantum, cost and fault, without hardware and without waiting.
package clocktest

import "math/rand/v2"

// Machine is a simulated computer with one timeline. Reading a clock and working take time on
// it; preemption takes the CPU away from time to time.
//
// Its methods must be called by one goroutine at a time.
type Machine struct {
	// WorkNs is how long one round of work takes, in nanoseconds.
	WorkNs float64
	// Preemption takes the CPU away from time to time; nil means that nothing else runs.
	Preemption *Preemption
	// CPU is the number of the CPU on which the running thread is.
	CPU int

	rng *rand.Rand
	now float64

	scheduler *Scheduler // nil if no other thread uses the CPU
}

// Preemption describes how often other processes take the CPU, and for what time.
type Preemption struct {
	// EveryNs is the mean CPU time between two preemptions (exponential).
	EveryNs float64
	// ForNs is the mean length of a preemption. The length is exponentially distributed, or, if
	// Regular is set, within a tenth of the mean, as a scheduler's time slices are.
	ForNs   float64
	Regular bool

	due float64 // CPU time left until the next preemption
}

// NewMachine returns a machine. All its random choices follow from seed.
func NewMachine(seed uint64) *Machine {
	return &Machine{WorkNs: 0.5, rng: rand.New(rand.NewPCG(seed, 0xc10c))}
}

// Rand returns the machine's source of random numbers.
func (m *Machine) Rand() *rand.Rand { return m.rng }

// NowNs returns the true time since the machine was made, in nanoseconds.
func (m *Machine) NowNs() float64 { return m.now }

// Run gives the running thread ns nanoseconds of CPU time, which takes longer if the thread is
// preempted meanwhile.
func (m *Machine) Run(ns float64) {
	if m.scheduler != nil {
		m.scheduler.run(ns)
		return
	}
	m.now += ns
	p := m.Preemption
	if p == nil {
		return
	}
	if p.due == 0 {
		p.due = p.EveryNs * m.rng.ExpFloat64()
	}
	for p.due -= ns; p.due <= 0; p.due += p.EveryNs * m.rng.ExpFloat64() {
		m.now += p.length(m.rng)
	}
}

// RunWide is [Machine.Run] for work whose instructions are independent and use all of the core's
// execution units: a busy [Sibling] slows it.
func (m *Machine) RunWide(ns float64) {
	if m.scheduler == nil {
		m.Run(ns)
		return
	}
	m.scheduler.wide = true
	m.scheduler.run(ns)
	m.scheduler.wide = false
}

func (p *Preemption) length(rng *rand.Rand) float64 {
	if p.Regular {
		return p.ForNs * (0.9 + 0.2*rng.Float64())
	}
	return p.ForNs * rng.ExpFloat64()
}

// Work does the given number of rounds of work.
func (m *Machine) Work(rounds int) { m.Run(float64(rounds) * m.WorkNs) }

// Idle advances the time by ns nanoseconds in which no thread runs.
func (m *Machine) Idle(ns float64) { m.now += ns }
