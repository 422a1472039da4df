package process

// EventKind is the kind of an event in the life of a thread.
type EventKind uint8

// The kinds of events.
const (
	SwitchedIn EventKind = iota // the thread got a CPU
	Preempted                   // it lost its CPU, and was still runnable
	Blocked                     // it gave up its CPU, to wait for something or because it was stopped
	Forked                      // it was started, by Parent
	Executed                    // it became another program
	Exited                      // it ended; on Linux 6.16 and later, this comes before it gives back its memory
)

// Event is something that the kernel noted of a thread of the program.
type Event struct {
	// AtNs is the time of the event since the program's exec, in nanoseconds of the system's monotonic clock. The time for
	// which the thread that started the program held it up at its exec is left out.
	AtNs   int64
	Kind   EventKind
	CPU    int
	Thread int // its number (gettid(2)); the first thread has the number of the process
	// Process is the thread's process. Parent is the thread that started it; only Forked has one.
	Process, Parent int
}

// mostEvents is the largest number of events that are kept of a run; each takes about 32 bytes.
const mostEvents = 1 << 20
