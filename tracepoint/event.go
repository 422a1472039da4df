// Package tracepoint records what the kernel reports about all threads on all CPUs: which thread
// got a CPU, who woke whom, and which interrupts came. It opens the kernel's tracepoints with
// perf_event_open(2). That needs privileges (CAP_PERFMON and a readable tracefs, or root), but no
// hardware counters and no cgo.
//
// The numbers of the events and the positions of their fields are read from tracefs of the
// running kernel (Documentation/trace/events.rst). Times are of CLOCK_MONOTONIC.
package tracepoint

import "fmt"

// Kind is the kind of an event.
type Kind uint8

// The kinds of events. Thread is the thread that had the CPU; Other is the thread that the event
// affects, if that is a different one.
const (
	Switched     Kind = iota // Thread gave the CPU to Other, called Name, and went into State Value
	Waking                   // Thread, or an interrupt in its place, wakes Other, which was on the CPU Value
	Started                  // Thread started Other, which may run now, on the CPU Value
	Migrated                 // Other was moved to the CPU Value
	Interrupt                // a device interrupts: its number is Value, its handler Name
	InterruptEnd             // the handler of the interrupt Value ended
	Softirq                  // the kernel does deferred work of the vector Value
	SoftirqEnd               // the deferred work of the vector Value ended
	Raised                   // deferred work of the vector Value was requested
	TimerExpired             // a high-resolution timer expired
	Vector                   // an interrupt of the CPU itself, such as its timer's: its name is Name
	VectorEnd                // the interrupt Name ended
	TimedCall                // Thread begins a system call that waits with a time limit
	TimedOut                 // Thread ends a system call because its time limit has passed
	OtherTimer               // Thread begins a call that may set a timer, or that waits in a way for which there is no TimedOut
	Forked                   // the thread Other, of the process Value, was started by Thread
	Executed                 // Thread became another program, called Name
	Renamed                  // Thread is called Name now
	Exited                   // Thread ended
	Losing                   // from here on, events on this CPU were lost
	Lost                     // the loss ends; Value events were lost
)

// Context is what the CPU was executing when the kernel noted an event.
type Context uint8

// The contexts.
const (
	InThread Context = iota
	InSoftirq
	InInterrupt
)

// State is the state of a thread that gave up its CPU.
type State int32

// The states.
const (
	Runnable        State = iota // it would have gone on
	Sleeping                     // S: it can be woken by a signal
	Uninterruptible              // D: it can't, as while it waits for a disk
	Stopped                      // T: by a signal such as SIGSTOP
	Traced                       // t: by a debugger
	Ended                        // X or Z
	Idle                         // I: a kernel thread without work, or P, a parked one
)

// Vectors of deferred work (include/linux/interrupt.h), by what they serve.
const (
	OtherVector = iota
	TimerVector
	NetworkVector
	BlockVector
)

// Foreign is the number of each thread that this process has no number for, since it is outside of the namespace of
// process numbers of this process. It is above all numbers of Linux (PID_MAX_LIMIT of include/linux/threads.h).
const Foreign = 1<<22 + 1

// Event is something that the kernel noted.
type Event struct {
	AtNs            int64 // of CLOCK_MONOTONIC
	CPU             int32
	Process, Thread int32 // what the CPU was running; the idle thread of every CPU has the number 0
	Other           int32
	Value           int32
	Kind            Kind
	Context         Context
	Name            string
}

// Reason says why tracepoints can't be recorded.
type Reason string

// The reasons.
const (
	PermissionDenied Reason = "permission-denied" // the system grants it to other users only
	NoTracefs        Reason = "no-tracefs"        // tracefs can't be read
	NoEvent          Reason = "no-event"          // this kernel lacks an event or one of its fields
	OtherSystem      Reason = "other-system"      // there are none on this operating system
	OtherNamespace   Reason = "other-namespace"   // this process sees other numbers of processes than the events have
	TooManyFiles     Reason = "too-many-files"    // this process may not open as many files
	LockedMemory     Reason = "locked-memory"     // the buffers need more locked memory than is left
	Refused          Reason = "refused"           // the system refused for a reason that Detail names
)

// Unavailable says why tracepoints can't be recorded, and what the user can do. It is an error.
type Unavailable struct {
	Reason Reason
	Detail string // what was tried and what the system answered
	Remedy string // what the user can do; empty if nothing helps
}

// Transient reports whether tracepoints may be recorded later though nobody grants more rights.
func (u *Unavailable) Transient() bool {
	return u.Reason == LockedMemory || u.Reason == TooManyFiles || u.Reason == Refused
}

// Error returns the reason, the detail and the remedy in one line.
func (u *Unavailable) Error() string {
	text := fmt.Sprintf("the kernel's tracepoints are unavailable (%s): %s", u.Reason, u.Detail)
	if u.Remedy != "" {
		text += "; " + u.Remedy
	}
	return text
}
