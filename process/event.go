package process

// EventKind is the kind of an event in the life of a thread.
type EventKind uint8

// The kinds of events.
const (
	SwitchedIn EventKind = iota // it got a CPU
	Preempted                   // it lost its CPU, and could have gone on
	Blocked                     // it gave up its CPU: it waits for something, or was stopped
	Forked                      // it was started, by Parent
	Executed                    // it became another program
	Exited                      // it ended; before it gave back its memory on Linux 6.16 and later
)

// Event is something that the kernel noted of a thread of the program.
type Event struct {
	// AtNs is when, in nanoseconds of the system's monotonic clock since the program's
	// exec.
	AtNs   int64
	Kind   EventKind
	CPU    int
	Thread int // its number (gettid(2)); the first of a process has the process's
	// Process is the thread's process. Parent is the thread that started it; only Forked has one.
	Process, Parent int
}

// mostEvents of a run are kept, 32 bytes each or so.
const mostEvents = 1 << 20
