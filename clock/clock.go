package clock

// Kind says what a clock counts.
type Kind string

// The kinds of clocks.
const (
	KindWall    Kind = "wall"    // real time, whichever thread runs
	KindCPU     Kind = "cpu"     // time that was spent on a CPU
	KindCounter Kind = "counter" // hardware events, at a rate of their own
)

// Scope says which readings of a clock may be compared with one another.
type Scope string

// The scopes of clocks.
const (
	ScopeMachine Scope = "machine" // readings of any process of this machine
	ScopeProcess Scope = "process" // readings within one process
	ScopeThread  Scope = "thread"  // readings within one operating system thread
)

// Answer is yes, no or unknown.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown" // neither the system nor its documentation says
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
	// API is how the clock is read: the instruction, or the function together with what
	// implements it (the vDSO or the kernel).
	API string
	// Kind is what the clock counts.
	Kind Kind
	// Scope is which readings may be compared.
	Scope Scope
	// UnitNs is the length of one tick of a reading, in nanoseconds. It is the unit of the
	// interface, not the resolution. 0 means that the length is known only after a calibration,
	// or that ticks are not a unit of time.
	UnitNs float64
	// Calendar reports that the readings tell the date and the time of day in UTC, not in atomic
	// time (TAI), which is 37 seconds ahead.
	Calendar bool
	// Settable reports that the clock can be set while the machine runs.
	Settable bool
	// CountsSleep says whether the clock goes on while the thread that reads it sleeps.
	CountsSleep Answer
	// CountsSuspend says whether the clock goes on while the machine is suspended.
	CountsSuspend Answer

	read    func() int64
	start   func() int64
	end     func() int64
	chain   func(work int, ticks []int64)
	gaps    func(last int64, w Watch, gaps []Gap) (n int, now int64)
	running func() float64
	close   func() error
}

// New returns a clock that is read by a function, such as a simulated one. The clock keeps all
// that description says. Start, End, Chain and Gaps also call read, which has to be safe for
// use by several goroutines.
func New(description Clock, read func() int64) *Clock {
	c := description
	c.read, c.start, c.end = read, read, read
	c.chain = func(work int, ticks []int64) { chain(read, work, ticks) }
	c.gaps = func(last int64, w Watch, gaps []Gap) (int, int64) { return gapsOf(read, last, w, gaps) }
	c.running, c.close = nil, nil
	return &c
}

// Read returns one reading, in ticks.
func (c *Clock) Read() int64 { return c.read() }

// Start returns the reading that opens a timed region. A hardware counter is read between
// fences, so that earlier work has ended and the region has not begun when it is read.
func (c *Clock) Start() int64 { return c.start() }

// End returns the reading that closes a timed region. A hardware counter is read between
// fences, so that the region has ended and later work has not begun when it is read.
func (c *Clock) End() int64 { return c.end() }

// Chain fills ticks with consecutive readings as [Clock.Read] makes them, with
// [Spin](work) before each. It allocates nothing. The loop over a hardware
// counter is one function in assembly, which the Go scheduler can't interrupt:
// keep it well below a millisecond.
func (c *Clock) Chain(work int, ticks []int64) { c.chain(work, ticks) }

// Running returns the share of the time since Open in which the clock counted. It is 1 except
// for hardware events that had to share a counter with others (perf_event_open(2),
// "multiplexing"): their readings are too small by this factor.
func (c *Clock) Running() float64 {
	if c.running == nil {
		return 1
	}
	return c.running()
}

// Sharing returns a copy of the clock whose [Clock.Running] is the given function. Simulations
// use it for a counter that shares its hardware.
func (c *Clock) Sharing(running func() float64) *Clock {
	shared := *c
	shared.running = running
	return &shared
}

// Close releases the system resources that the clock holds. The clock must not be read
// afterwards; closing it again does nothing.
func (c *Clock) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// chain implements Chain for clocks that are read by a Go function.
func chain(read func() int64, work int, ticks []int64) {
	for i := range ticks {
		if work > 0 {
			Spin(work)
		}
		ticks[i] = read()
	}
}
