package clocktest

import "math/rand/v2"

// Crowd simulates a program with several threads and processes on a machine with several CPUs, where
// competitors want each CPU all the time. A CPU serves its queue round robin. A CPU with an empty queue
// takes a thread of the program from another queue. The simulation proceeds from event to event.
//
// Without competitors, switches and interrupts a script takes its time on a dedicated machine.
type Crowd struct {
	// CPUs is the number of CPUs, Load the number of threads that want each of them, including one of
	// the program. 0 means 1.
	CPUs, Load int
	// Loads, where it is not nil, is the Load of each CPU.
	Loads []int
	// Beside are other programs of one thread each: each function returns what such a program does
	// next, and is called again when that is done.
	Beside []func(*rand.Rand) []Step
	// SliceNs is the length of a time slice, SliceJitter the share by which it varies.
	SliceNs, SliceJitter float64
	// EagerWakes is the probability that a thread that wakes up comes to the front of its queue.
	EagerWakes float64
	// SwitchNs and ColdNs are added to a thread's work when it gets its CPU back; nil adds nothing.
	SwitchNs, ColdNs Distribution
	// InterruptShare of the time on a CPU is lost to interrupts.
	InterruptShare float64
}

// Step is something that a thread does. One field is set, but for time-outs.
type Step struct {
	// WorkNs is CPU time, SleepNs a time to sleep, and UntilNs a time to sleep until, counted from
	// the program's start.
	WorkNs, SleepNs, UntilNs float64
	// AnswerNs is the time that a device takes to answer.
	AnswerNs float64
	// Start starts a thread, or a process where Process is set. A Stranger belongs to another program,
	// such as a server. Its script begins with what it has been waiting for. CrowdRun has no Events of
	// it, only Wakings and Turns.
	Start             []Step
	Process, Stranger bool
	// Join waits until all that the thread has started have ended.
	Join bool
	// Bind binds the thread to a CPU from then on; numbers begin with 1.
	Bind int
	// Yield gives the CPU to the next in the queue, if there is one (sched_yield(2)).
	Yield bool
	// Post and Wait are operations on the semaphore with that number, counted from 1. With them
	// threads hand over to one another. A Wait with a SleepNs gives up after that time.
	Post, Wait int
}

// CrowdEventKind is the kind of an event.
type CrowdEventKind int

// The kinds of events.
const (
	CrowdIn CrowdEventKind = iota
	CrowdPreempted
	CrowdBlocked
	CrowdForked
	CrowdExited
)

// CrowdEvent is a note of the kernel about a thread of the program.
type CrowdEvent struct {
	AtNs                    float64
	Kind                    CrowdEventKind
	Thread, Process, Parent int
	CPU                     int
}

// CrowdWaking notes that a thread is woken.
type CrowdWaking struct {
	ByDevice  bool
	AtNs      float64
	Thread    int
	By, ByCPU int // the thread that wakes it, with its CPU; 0 is a timer
	ByProcess int
}

// CrowdTurn notes that a CPU goes from one thread to another: 0 is the idle thread, and endless
// competitors have negative numbers.
type CrowdTurn struct {
	AtNs     float64
	CPU      int
	From, To int
	// FromState is what From does then: CrowdPreempted, CrowdBlocked or CrowdExited.
	FromState CrowdEventKind
}

// CrowdRun is what a kernel would record of a run.
type CrowdRun struct {
	WallNs float64
	Events []CrowdEvent
	// Wakings and Turns are of all threads of the machine.
	Wakings []CrowdWaking
	Turns   []CrowdTurn
	// CPUNs and WaitNs are of each thread, by its number. The first is number 1.
	CPUNs, WaitNs map[int]float64
	Preemptions   int
	// OthersNs is the CPU time of all other programs, OthersWaitNs the time they waited for a CPU.
	OthersNs, OthersWaitNs float64
}
