package clocktest

import "math/rand/v2"

// Crowd simulates a program with several threads and processes on a machine with several CPUs, where
// competitors want each CPU all the time. A CPU serves its queue round robin. A CPU with an empty queue
// takes a thread of the program from another queue. The simulation proceeds from event to event.
//
// Without competitors, switches and interrupts, a script takes as long as on a dedicated machine.
type Crowd struct {
	// CPUs is the number of CPUs. Load is the number of threads that want each CPU, including one
	// of the program. 0 means 1.
	CPUs, Load int
	// Loads holds the Load of each CPU; nil means Load for all.
	Loads []int
	// Beside holds other programs of one thread each. A function returns the next steps of its
	// program, and is called again when they are done.
	Beside []func(*rand.Rand) []Step
	// SliceNs is the length of a time slice, and SliceJitter the share by which it varies.
	SliceNs, SliceJitter float64
	// EagerWakes is the probability that a thread that wakes up goes to the front of its queue.
	EagerWakes float64
	// SwitchNs and ColdNs are added to a thread's work when it gets its CPU back; nil adds nothing.
	SwitchNs, ColdNs Distribution
	// InterruptShare is the share of the time on a CPU that interrupts take.
	InterruptShare float64
}

// Step is something that a thread does. One field is set, with two exceptions: Process and OtherProgram are
// set together with Start, and a Wait with a time-out has a SleepNs.
type Step struct {
	// WorkNs is CPU time, SleepNs is a time to sleep, and UntilNs is the end of a sleep, counted
	// from the program's start.
	WorkNs, SleepNs, UntilNs float64
	// AnswerNs is the time that a device takes to answer.
	AnswerNs float64
	// Start starts a thread, or a process if Process is set, that executes these steps. If
	// OtherProgram is set, it belongs to another program, such as a server; its first step is a wait
	// that began before the program started. CrowdRun has no Events of such a thread, only Wakings
	// and Turns.
	Start                 []Step
	Process, OtherProgram bool
	// Join waits until all threads and processes that the thread has started have ended.
	Join bool
	// Bind binds the thread to a CPU from then on; CPU numbers begin with 1.
	Bind int
	// Yield gives the CPU to the next thread in the queue, if there is one (sched_yield(2)).
	Yield bool
	// Post and Wait are operations on the semaphore with that number, counted from 1. Threads
	// hand over to one another with them. A Wait with a SleepNs gives up after that time.
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

// CrowdEvent is what the kernel reports about a thread of the program.
type CrowdEvent struct {
	AtNs                    float64
	Kind                    CrowdEventKind
	Thread, Process, Parent int
	CPU                     int
}

// CrowdWaking reports that a thread is woken.
type CrowdWaking struct {
	ByDevice  bool
	AtNs      float64
	Thread    int
	By, ByCPU int // the thread that wakes it, and that thread's CPU; By is 0 for a timer
	ByProcess int
}

// CrowdTurn reports that a CPU goes from one thread to another. Number 0 is the idle thread, and
// competitors that never end have negative numbers.
type CrowdTurn struct {
	AtNs     float64
	CPU      int
	From, To int
	// FromState is the state of From afterwards: CrowdPreempted, CrowdBlocked or CrowdExited.
	FromState CrowdEventKind
}

// CrowdRun is what a kernel would record about a run.
type CrowdRun struct {
	WallNs float64
	Events []CrowdEvent
	// Wakings and Turns are those of all threads of the machine.
	Wakings []CrowdWaking
	Turns   []CrowdTurn
	// CPUNs and WaitNs hold the times of each thread, by its number. The first thread is number 1.
	CPUNs, WaitNs map[int]float64
	Preemptions   int
	// OthersNs is the CPU time of all other programs, and OthersWaitNs is how long they waited for
	// a CPU.
	OthersNs, OthersWaitNs float64
}
