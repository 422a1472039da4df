package clocktest

import (
	"math"
	"math/rand/v2"

	"chronoscope/machine"
)

// Scheduler shares the CPU of a [Machine] between a traced thread, its competitors, timers,
// interrupts and a hypervisor. It counts for the traced thread what Linux counts. It jumps from
// event to event, so that a simulated second costs microseconds. The truth is known: on a core
// of speed 1 that is not shared, [Machine.Run] of ns nanoseconds takes ns nanoseconds.
//
// All random values follow from the machine's seed.
type Scheduler struct {
	machine *Machine
	given   Sharing
	use     machine.ThreadUse

	events []event
	next   float64 // when the first of the events is due
	kernel float64 // period of the kernel's tick, 0 for none
	slices int     // index of the event that ends the slice

	cpuNs, waitNs float64
	speed         float64 // of the core; 1 is nominal
	siblingBusy   bool
	wide          bool    // the thread's work competes with a sibling for execution units
	sliceUsedUp   bool    // the slice is over; the next tick takes the CPU
	turns         float64 // the thread's slices are longer than the others' by this factor
}

// Sharing says what shares the CPU with the traced thread. The zero value means that nothing
// does.
type Sharing struct {
	// Load is the number of threads that want the CPU all the time, including the traced one;
	// 0 means 1.
	Load int
	// SliceNs is how long a thread runs before the next one's turn; it varies by the share
	// SliceJitter. If AtTicks is set, the thread runs on until the kernel's next tick, as on a
	// kernel without a high-resolution scheduler tick.
	SliceNs, SliceJitter float64
	AtTicks              bool
	// SwitchNs is the time that a preemption takes in addition to the wait. ColdNs is the time
	// that the thread then loses because other threads used the caches. Nil means 0.
	SwitchNs, ColdNs Distribution
	// Timers are interrupts at fixed periods, Interrupts are interrupts at random times.
	Timers     []Timer
	Interrupts []Arrivals
	// InterruptsApart says that the kernel does not charge interrupts to the thread that they
	// interrupt (CONFIG_IRQ_TIME_ACCOUNTING). This concerns the kernel's own timers and
	// Interrupts; the kernel does not know of the host's interrupts.
	InterruptsApart bool
	// Stolen is the time that a hypervisor takes. StealKnown says that the kernel subtracts it
	// from the thread's CPU time (CONFIG_PARAVIRT_TIME_ACCOUNTING).
	Stolen     Arrivals
	StealKnown bool
	// Speeds are the core's possible speeds, as shares of its nominal speed. The core begins with
	// the first and changes to a random one after SpeedDwellNs on average (exponential).
	Speeds       []float64
	SpeedDwellNs float64
	// Sibling is another thread on the same core.
	Sibling Sibling
	// MigrationsPerSecond is how often the thread moves to the other one of two CPUs, where the
	// caches are cold.
	MigrationsPerSecond float64
	// Recorded, if not nil, is a recording of real gaps. It is replayed from a random moment on
	// and repeated.
	Recorded *Recording
	// LookNs is the time that it takes to read the kernel's counts.
	LookNs float64
	// Watch, if not nil, is called with each gap that the thread sees.
	Watch func(Gap)
}

// Sibling is a hyperthread that shares the core with the traced thread. While it is busy, it
// slows [Machine.RunWide] but not a chain of dependent instructions.
type Sibling struct {
	// Slows is the share by which wide work takes longer; 0 if no sibling is ever busy.
	Slows float64
	// BusyNs and IdleNs are its mean times of being busy and idle (exponential). If IdleNs is 0,
	// it is always busy.
	BusyNs, IdleNs float64
	// Recorded says when it is busy instead, if it is not nil. The recording is replayed over and over, beginning at a random
	// moment.
	Recorded *SharedCore
}

// Timer is an interrupt at a fixed period, in nanoseconds.
type Timer struct {
	PeriodNs, PhaseNs float64
	Cost              Distribution
	// Kernel marks the kernel's own tick, at which the kernel also schedules.
	Kernel bool
}

// Arrivals happen at random times, PerSecond of them on average (Poisson).
type Arrivals struct {
	PerSecond float64
	Length    Distribution
}

// Source names what caused a [Gap].
type Source string

// The sources of gaps.
const (
	TimerGap     Source = "timer"
	InterruptGap Source = "interrupt"
	StolenGap    Source = "stolen"
	SwitchGap    Source = "switch"
	MigrationGap Source = "migration"
)

// Gap is a stretch of time in which the traced thread did not progress.
type Gap struct {
	Source Source
	// Index says which of the timers or interrupts caused it.
	Index int
	// AtNs is when the gap began and Ns is its length, in true time. WaitNs is the part of Ns in
	// which the thread waited for the CPU.
	AtNs, Ns, WaitNs float64
}

// event is a repeated event.
type event struct {
	atNs float64
	// happen simulates the event.
	happen func()
	// again returns when it is due next.
	again func() float64
	// others says that it also happens while other threads have the CPU.
	others bool
}

// Above returns the distribution of least plus a log-normal value with the given median and
// sigma.
func Above(least, median, sigma float64) Distribution {
	tail := Jittered(median, sigma)
	return func(r *rand.Rand) float64 { return least + tail(r) }
}

// Share makes the machine's thread share its CPU from now on, as given says.
func Share(m *Machine, given Sharing) *Scheduler {
	s := &Scheduler{machine: m, given: given, speed: 1, turns: 1}
	m.scheduler = s
	for i, t := range given.Timers {
		s.addTimer(i, t)
	}
	for i, a := range given.Interrupts {
		s.addArrivals(a, InterruptGap, i, !given.InterruptsApart)
	}
	s.addArrivals(given.Stolen, StolenGap, 0, !given.StealKnown)
	if given.Load > 1 {
		s.addSlices()
	}
	if len(given.Speeds) > 0 && given.SpeedDwellNs > 0 {
		s.addSpeeds()
	}
	if given.Recorded != nil {
		s.addRecording(given.Recorded)
	}
	if given.Sibling.Slows > 0 {
		s.addSibling()
	}
	if given.MigrationsPerSecond > 0 {
		s.addMigrations()
	}
	s.schedule()
	return s
}

// Use returns what the kernel counts for the thread. Reading the counts takes time too.
func (s *Scheduler) Use() (machine.ThreadUse, error) {
	s.run(s.given.LookNs / 2)
	u := s.use
	u.CPUNs, u.WaitNs = int64(s.cpuNs), int64(s.waitNs)
	u.CPU = s.machine.CPU
	s.run(s.given.LookNs / 2)
	return u, nil
}

// Speed returns the core's present speed as a share of the nominal one.
func (s *Scheduler) Speed() float64 { return s.speed }

// RanNs returns how long the thread has had the CPU so far, including the time of interrupts.
func (s *Scheduler) RanNs() float64 { return s.machine.now - s.waitNs }

// Block makes the thread sleep for ns nanoseconds. If there are competitors, it then waits for
// the tick at which it gets the CPU back.
func (s *Scheduler) Block(ns float64) {
	s.machine.now += ns
	s.use.VoluntarySwitches++
	if s.given.Load > 1 {
		wait := s.given.SliceNs * s.machine.rng.Float64()
		s.machine.now += wait
		s.waitNs += wait
	}
	s.takeUp()
}

// Fault simulates a page fault that takes ns nanoseconds. The kernel works during that time, or,
// if the fault is major, the thread sleeps until a disk has answered.
func (s *Scheduler) Fault(ns float64, major bool) {
	if major {
		s.use.MajorFaults++
		s.Block(ns)
		return
	}
	s.use.MinorFaults++
	s.run(ns * s.speed)
}

// run makes the thread do the work that takes ns nanoseconds on a core of speed 1.
func (s *Scheduler) run(ns float64) {
	m := s.machine
	for {
		pace := s.pace()
		need := ns / pace
		if m.now+need < s.next {
			m.now += need
			s.cpuNs += need
			return
		}
		if ran := s.next - m.now; ran > 0 {
			ns -= ran * pace
			s.cpuNs += ran
			m.now = s.next
		}
		s.happen()
	}
}

// pace returns how fast the thread works: 1 on a core of speed 1 that is not shared.
func (s *Scheduler) pace() float64 {
	if s.wide && s.siblingBusy {
		return s.speed / (1 + s.given.Sibling.Slows)
	}
	return s.speed
}

// happen simulates the events that are due.
func (s *Scheduler) happen() {
	due := s.next
	for i := range s.events {
		if e := &s.events[i]; e.atNs <= due {
			e.happen()
			e.atNs = e.again()
		}
	}
	s.schedule()
}

// schedule sets s.next to the time of the first event that is due. An event whose time passed
// during a gap is due at the end of the gap.
func (s *Scheduler) schedule() {
	s.next = math.Inf(1)
	for i := range s.events {
		s.next = math.Min(s.next, s.events[i].atNs)
	}
}

// gap lets ns nanoseconds go by in which the thread does not progress. onCPU says whether the
// kernel counts the thread as running meanwhile.
func (s *Scheduler) gap(source Source, index int, ns float64, onCPU bool) {
	if s.given.Watch != nil {
		s.given.Watch(Gap{Source: source, Index: index, AtNs: s.machine.now, Ns: ns})
	}
	s.machine.now += ns
	if onCPU {
		s.cpuNs += ns
	}
}

// after returns a random time from now on, exponentially distributed with the given rate.
func (s *Scheduler) after(perSecond float64) float64 {
	return s.machine.now + 1e9/perSecond*s.machine.rng.ExpFloat64()
}

func (s *Scheduler) add(e event) {
	e.atNs = e.again()
	s.events = append(s.events, e)
}

func (s *Scheduler) addTimer(index int, t Timer) {
	if t.Kernel {
		s.kernel = t.PeriodNs
	}
	s.add(event{
		others: true,
		happen: func() {
			s.gap(TimerGap, index, t.Cost(s.machine.rng), !(t.Kernel && s.given.InterruptsApart))
			if t.Kernel && s.sliceUsedUp {
				s.preempt()
			}
		},
		again: func() float64 {
			return t.PhaseNs + t.PeriodNs*(math.Floor((s.machine.now-t.PhaseNs)/t.PeriodNs)+1)
		},
	})
}

func (s *Scheduler) addArrivals(a Arrivals, source Source, index int, onCPU bool) {
	if a.PerSecond <= 0 {
		return
	}
	s.add(event{
		others: true,
		happen: func() { s.gap(source, index, a.Length(s.machine.rng), onCPU) },
		again:  func() float64 { return s.after(a.PerSecond) },
	})
}

// addSlices adds the event that takes the CPU away when the thread's slice is used up, or at the
// kernel's next tick after that.
func (s *Scheduler) addSlices() {
	s.slices = len(s.events)
	s.add(event{
		happen: func() {
			if s.ticks() {
				s.sliceUsedUp = true
			} else {
				s.preempt()
			}
		},
		again: func() float64 {
			if s.sliceUsedUp {
				return math.Inf(1)
			}
			return s.machine.now + s.turns*s.slice()
		},
	})
}

// AskForTurns makes the traced thread's time slices longer, from the next one on: by a factor, the parameter times.
// They also come less often by the same factor, so that the thread's share of the CPU stays the same.
func (s *Scheduler) AskForTurns(times float64) { s.turns = times }

// ticks reports whether slices end at the kernel's ticks.
func (s *Scheduler) ticks() bool { return s.given.AtTicks && s.kernel > 0 }

func (s *Scheduler) slice() float64 {
	return s.given.SliceNs * (1 + s.given.SliceJitter*(2*s.machine.rng.Float64()-1))
}

// preempt gives each competitor as many turns as the thread's own slice was long.
func (s *Scheduler) preempt() {
	started, wait := s.machine.now, 0.0
	for range int(math.Round(s.turns * float64(s.given.Load-1))) {
		wait += s.turn()
	}
	lost := draw(s, s.given.SwitchNs)
	s.use.InvoluntarySwitches++
	s.waitNs += wait
	s.cpuNs += lost
	s.machine.now += wait + lost
	if s.given.Watch != nil {
		s.given.Watch(Gap{Source: SwitchGap, AtNs: started, Ns: wait + lost, WaitNs: wait})
	}
	s.takeUp()
}

// turn returns how long a competitor keeps the CPU.
func (s *Scheduler) turn() float64 {
	ns := s.slice()
	if s.ticks() {
		ns = s.kernel * math.Ceil(ns/s.kernel)
	}
	return ns
}

// takeUp gives the thread the CPU again, with cold caches and a new slice. Events that were due
// meanwhile happened to other threads, so they are scheduled anew.
func (s *Scheduler) takeUp() {
	cold := draw(s, s.given.ColdNs)
	s.machine.now += cold
	s.cpuNs += cold
	s.sliceUsedUp = false
	for i := range s.events {
		if e := &s.events[i]; e.others && e.atNs < s.machine.now || i == s.slices && s.given.Load > 1 {
			e.atNs = e.again()
		}
	}
	s.schedule()
}

func (s *Scheduler) addSpeeds() {
	s.speed = s.given.Speeds[0]
	s.add(event{
		happen: func() { s.speed = s.given.Speeds[s.machine.rng.IntN(len(s.given.Speeds))] },
		again:  func() float64 { return s.after(1e9 / s.given.SpeedDwellNs) },
	})
}

func (s *Scheduler) addSibling() {
	given := s.given.Sibling
	if given.Recorded != nil {
		s.addRecordedSibling(given.Recorded)
		return
	}
	s.siblingBusy = true
	if given.IdleNs <= 0 {
		return
	}
	s.siblingBusy = s.machine.rng.Float64()*(given.BusyNs+given.IdleNs) < given.BusyNs
	s.add(event{
		happen: func() { s.siblingBusy = !s.siblingBusy },
		again: func() float64 {
			if s.siblingBusy {
				return s.after(1e9 / given.BusyNs)
			}
			return s.after(1e9 / given.IdleNs)
		},
	})
}

func (s *Scheduler) addRecordedSibling(c *SharedCore) {
	slot := s.machine.rng.IntN(len(c.Slowed))
	busy := func() bool { return c.Slowed[slot%len(c.Slowed)] > 0 }
	began := s.machine.now - float64(slot)*slotNs
	s.siblingBusy = busy()
	s.add(event{
		happen: func() { s.siblingBusy = busy() },
		again: func() float64 {
			for slot++; busy() == s.siblingBusy; slot++ {
			}
			return began + float64(slot)*slotNs
		},
	})
}

func (s *Scheduler) addMigrations() {
	s.add(event{
		happen: func() {
			s.machine.CPU = 1 - s.machine.CPU
			s.gap(MigrationGap, 0, draw(s, s.given.SwitchNs)+draw(s, s.given.ColdNs), true)
		},
		again: func() float64 { return s.after(s.given.MigrationsPerSecond) },
	})
}

// draw draws a duration from d; it is 0 if d is nil.
func draw(s *Scheduler, d Distribution) float64 {
	if d == nil {
		return 0
	}
	return d(s.machine.rng)
}
