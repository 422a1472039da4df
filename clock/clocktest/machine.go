// Package clocktest simulates clocks, and the machine that they are read on,
// so that an algorithm can be proved against a truth that is known: thousands
// of clocks with any quantum, cost and fault, without hardware and without
// waiting.
package clocktest

import "math/rand/v2"

// Machine is a simulated computer with one timeline. Reading a clock and
// working take time on it; preemption takes the CPU away for a while.
//
// Its methods are for one goroutine.
type Machine struct {
	// WorkNs is how long one round of work takes, in nanoseconds.
	WorkNs float64
	// Preemption takes the CPU away now and then. Nil for a machine of one's own.
	Preemption *Preemption
	// CPU is the number of the CPU that the running thread is on.
	CPU int

	rng *rand.Rand
	now float64

	scheduler *Scheduler // nil where the thread shares its CPU with nobody
}

// Preemption is what a machine's other processes take.
type Preemption struct {
	// EveryNs is the mean CPU time between two preemptions (exponential).
	EveryNs float64
	// ForNs is the mean length of a preemption: exponential, or within a tenth of
	// the mean where it's Regular, as a scheduler's time slices are.
	ForNs   float64
	Regular bool

	due float64 // CPU time left until the next one
}

// NewMachine returns a machine whose every random choice follows from seed.
func NewMachine(seed uint64) *Machine {
	return &Machine{WorkNs: 0.5, rng: rand.New(rand.NewPCG(seed, 0xc10c))}
}

// Rand is the machine's source of random numbers.
func (m *Machine) Rand() *rand.Rand { return m.rng }

// NowNs is the true time since the machine was made, in nanoseconds.
func (m *Machine) NowNs() float64 { return m.now }

// Run lets the running thread have ns nanoseconds of CPU time, which takes
// longer where it is preempted on the way.
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

// RunWide is [Machine.Run] of work with as many independent instructions as the core has
// room for: a busy [Sibling] slows it.
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

// Work spends rounds of work.
func (m *Machine) Work(rounds int) { m.Run(float64(rounds) * m.WorkNs) }

// Idle lets ns nanoseconds go by in which no thread runs.
func (m *Machine) Idle(ns float64) { m.now += ns }
