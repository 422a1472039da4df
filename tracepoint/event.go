// Package tracepoint records what the kernel notes of all threads on all CPUs: which thread got a CPU,
// who woke whom, and which interrupts came. It opens the kernel's tracepoints by perf_event_open(2),
// which needs rights (CAP_PERFMON and a readable tracefs, or root) and neither hardware nor cgo.
//
// The numbers of the events and the places of their fields are those that the running kernel states in
// tracefs (Documentation/trace/events.rst). Times are of CLOCK_MONOTONIC.
package tracepoint

import "fmt"

// Kind is the kind of an event.
type Kind uint8

// The kinds of events. Thread had the CPU; Other is the thread that the event happened to, if
// another.
const (
	Switched     Kind = iota // Thread gave the CPU to Other, called Name, and went into State Value
	Waking                   // Thread, or an interrupt in its place, wakes Other, which was on the CPU Value
	Started                  // Thread started Other, which may run now, on the CPU Value
	Migrated                 // Other was moved to the CPU Value
	Interrupt                // a device interrupts: its number is Value, its handler Name
	InterruptEnd             //
	Softirq                  // the kernel does deferred work of the vector Value
	SoftirqEnd               //
	Raised                   // the vector Value is to be done
	TimerExpired             // a high-resolution timer expired
	Vector                   // an interrupt of the CPU itself, such as its timer's: its name is Name
	VectorEnd                //
	TimedCall                // Thread begins a system call that waits until some time, at most
	TimedOut                 // Thread ends such a call, or one that waits for ever, since its time has come
	OtherTimer               // Thread begins a call that may set a timer, or wait in a way that TimedOut does not tell of
	Forked                   // the thread Other, of the process Value, was started by Thread
	Executed                 // Thread became another program, called Name
	Renamed                  // Thread is called Name now
	Exited                   // Thread ended
	Losing                   // from here on, events on this CPU could not be kept
	Lost                     // up to here, and there were Value of them
)

// Context is where the kernel was when it noted an event.
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

// Event is something that the kernel noted.
type Event struct {
	AtNs            int64 // of CLOCK_MONOTONIC
	CPU             int32
	Process, Thread int32 // whom the CPU was running; the idle thread of every CPU is 0
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
	PermissionDenied Reason = "permission-denied" // the system allows it to others only
	NoTracefs        Reason = "no-tracefs"        // tracefs can't be read
	NoEvent          Reason = "no-event"          // this kernel lacks an event or one of its fields
	OtherSystem      Reason = "other-system"      // there are none on this operating system
	Refused          Reason = "refused"           // the system refused for a reason that Detail names
)

// Unavailable says why tracepoints can't be recorded, and what the user can do. It is an error.
type Unavailable struct {
	Reason Reason
	Detail string // what was tried and what the system answered
	Remedy string // what the user can do; empty where nothing helps
}

// Error joins all that is known in one line.
func (u *Unavailable) Error() string {
	text := fmt.Sprintf("the kernel's tracepoints are unavailable (%s): %s", u.Reason, u.Detail)
	if u.Remedy != "" {
		text += "; " + u.Remedy
	}
	return text
}
