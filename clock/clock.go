package clock

// Kind says what a clock counts.
type Kind string

// The kinds of clocks.
const (
	KindWall    Kind = "wall"    // time that passes, whoever runs
	KindCPU     Kind = "cpu"     // time that was spent on a CPU
	KindCounter Kind = "counter" // events of the hardware, at a rate of their own
)

// Scope says whose readings of a clock may be compared with one another.
type Scope string

// The scopes of clocks.
const (
	ScopeMachine Scope = "machine" // readings of any process of this machine
	ScopeProcess Scope = "process" // readings within one process
	ScopeThread  Scope = "thread"  // readings within one operating system thread
)

// Answer is a yes, a no, or the honest third.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown" // neither the system nor its documents say
)

// Clock is one way to read time or to count events.
//
// A clock of scope [ScopeThread] counts for the thread that reads it, and a perf
// clock for the thread that opened it: lock the goroutine to its thread
// (runtime.LockOSThread) from before [Open] to the last reading. Reading is
// safe from several goroutines at once.
type Clock struct {
	// Name is one of [Names], or what the caller of [New] chose.
	Name string
	// Runtime names the language runtime that reads the clock: "go".
	Runtime string
	// API is how the clock is read: the instruction, or the function and who
	// answers it.
	API string
	// Kind is what the clock counts.
	Kind Kind
	// Scope is whose readings may be compared.
	Scope Scope
	// UnitNs is the length of one tick of a reading, in nanoseconds. It is
	// the unit of the interface, not the resolution. 0 means that only
	// calibration can tell, or that the ticks are no time at all.
	UnitNs float64
	// Calendar reports that the readings tell the date and the time of day, in UTC: atomic
	// time (TAI) is 37 seconds ahead of it.
	Calendar bool
	// Settable reports that the clock can be stepped while the machine runs.
	Settable bool
	// CountsSleep answers whether the clock goes on while the thread that
	// reads it sleeps.
	CountsSleep Answer
	// CountsSuspend answers whether the clock goes on while the machine is
	// suspended.
	CountsSuspend Answer

	read    func() int64
	start   func() int64
	end     func() int64
	chain   func(work int, ticks []int64)
	gaps    func(last int64, w Watch, gaps []Gap) (n int, now int64)
	running func() float64
	close   func() error
}

// New makes a clock of a function that reads it, as a simulation does. All
// that the description says is kept; Start, End, Chain and Gaps read with the same
// function, which has to be safe for use from several goroutines.
func New(description Clock, read func() int64) *Clock {
	c := description
	c.read, c.start, c.end = read, read, read
	c.chain = func(work int, ticks []int64) { chain(read, work, ticks) }
	c.gaps = func(last int64, w Watch, gaps []Gap) (int, int64) { return gapsOf(read, last, w, gaps) }
	c.running, c.close = nil, nil
	return &c
}

// Read is one reading, in ticks.
func (c *Clock) Read() int64 { return c.read() }

// Start is the reading that opens a timed region. Of a hardware counter it is
// fenced, so that earlier work has ended and the region has not begun when the
// counter is read.
func (c *Clock) Start() int64 { return c.start() }

// End is the reading that closes a timed region. Of a hardware counter it is
// fenced, so that the region has ended and later work has not begun when the
// counter is read.
func (c *Clock) End() int64 { return c.end() }

// Chain fills ticks with consecutive readings as [Clock.Read] makes them, with
// [Spin](work) before each. It allocates nothing. The loop over a hardware
// counter is one function in assembly, which the Go scheduler can't interrupt:
// keep it well below a millisecond.
func (c *Clock) Chain(work int, ticks []int64) { c.chain(work, ticks) }

// Running is the share of the time since Open in which the clock counted. It
// is 1 but for hardware events that had to share a counter with others
// (perf_event_open(2), "multiplexing"): their readings fall short by this
// factor.
func (c *Clock) Running() float64 {
	if c.running == nil {
		return 1
	}
	return c.running()
}

// Sharing is the clock with another answer of [Clock.Running], as a simulation of a
// counter has it that shares its hardware.
func (c *Clock) Sharing(running func() float64) *Clock {
	shared := *c
	shared.running = running
	return &shared
}

// Close gives back what the clock holds of the system. The clock must not be
// read afterwards; closing it again does nothing.
func (c *Clock) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// chain is Chain for clocks that are read by a Go function.
func chain(read func() int64, work int, ticks []int64) {
	for i := range ticks {
		if work > 0 {
			Spin(work)
		}
		ticks[i] = read()
	}
}
