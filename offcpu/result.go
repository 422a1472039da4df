// Package offcpu says how threads spent their time: when they ran, what they waited for, and who
// made them wait. It follows the kernel's scheduler by its tracepoints, as off-CPU analysis does
// (Gregg: Systems Performance, 2nd edition, section 5.4.2), and adds the waker of each wait and
// the threads that had the CPU during each run-queue wait.
package offcpu

import "chronoscope/stats"

// Cause is what a part of a thread's time is put down to.
type Cause string

// The causes.
const (
	Ran           Cause = "ran"
	RunqueueWait  Cause = "runqueue-wait"
	WakeupLatency Cause = "wakeup-latency"
	Throttled     Cause = "throttled"
	Stopped       Cause = "stopped"
	OwnThread     Cause = "own-thread"
	OwnProcess    Cause = "own-process"
	OtherProcess  Cause = "other-process"
	KernelThread  Cause = "kernel-thread"
	Timer         Cause = "timer"
	Device        Cause = "device"
	Network       Cause = "network"
	Interrupt     Cause = "interrupt"
	NotWoken      Cause = "not-woken"
	Hypervisor    Cause = "hypervisor"
	Unknown       Cause = "unknown"
)

// causes lists all causes, in the order of help texts, with their meanings.
var causes = []struct {
	cause         Cause
	meaning, help string
}{
	{Ran, "it had a CPU", "make the program do less, or profile it"},
	{RunqueueWait, "it could have run, and others had the CPU", "give it CPUs of its own, or move or slow down who has them"},
	{WakeupLatency, "it could have run on a CPU that was idle and had to wake up, or that the host had taken away", "forbid deep idle states, or keep the CPU busy"},
	{Throttled, "the CPU quota of its control group was used up", "raise the quota, or use less CPU time in each period"},
	{Stopped, "it was stopped by a signal or a debugger", "find who sends SIGSTOP"},
	{OwnThread, "it waited until another thread of its own process woke it: a lock, a queue, a join", "shorten what the other thread does before it wakes this one"},
	{OwnProcess, "it waited until another process that is followed as well woke it: a pipe, a child's end", "see what that process did meanwhile: it is in this table as well"},
	{OtherProcess, "it waited until another process woke it: a pipe, a socket, a child's end, a lock", "look why that process takes so long: chronoscope why on it"},
	{KernelThread, "it waited until a thread of the kernel woke it", ""},
	{Timer, "it slept, or waited until a time limit", "it asked for that: look for sleeps and time limits"},
	{Device, "it waited for a device, such as a disk", "do less input and output, or use a faster device"},
	{Network, "it waited for something from the network", "look at the other machine and at the network between"},
	{Blocked, "it waited in this function of the kernel; who woke it is not known", "do what the verdict's reason asks for, to learn who"},
	{Interrupt, "an interrupt or the kernel's deferred work woke it", ""},
	{NotWoken, "it waited, and nobody woke it before the recording ended", ""},
	{Hypervisor, "the host took the CPU away while it ran (estimated from steal)", "move to a host with less load"},
	{Unknown, "events are missing, or came before the recording began", ""},
}

// Causes returns all causes.
func Causes() (all []Cause) {
	for _, c := range causes {
		all = append(all, c.cause)
	}
	return all
}

// Meaning describes a cause.
func (c Cause) Meaning() string {
	for _, known := range causes {
		if known.cause == c {
			return known.meaning
		}
	}
	return ""
}

// Help says what the user can do about a cause; empty if nothing is known to help.
func (c Cause) Help() string {
	for _, known := range causes {
		if known.cause == c {
			return known.help
		}
	}
	return ""
}

// Who identifies what made threads wait: a thread of the target, another process, or a device
// with its interrupt. It is empty if there is no originator.
type Who struct {
	Process   int32  `json:"process,omitempty"`
	Thread    int32  `json:"thread,omitempty"`
	Name      string `json:"name,omitempty"`
	CGroup    string `json:"cgroup,omitempty"`
	Interrupt int32  `json:"interrupt,omitempty"`
}

// Part is the time with one cause and one originator.
type Part struct {
	Cause   Cause   `json:"cause"`
	Who     Who     `json:"who"`
	Share   float64 `json:"share"`
	Count   int64   `json:"count"`
	TotalNs int64   `json:"total_ns"`
	MaxNs   int64   `json:"max_ns"`
}

// Period is a time in which a thread did not run. StartNs is relative to the start of the
// recording. Who is the originator of the largest part of it.
type Period struct {
	Process    int32  `json:"process"`
	Thread     int32  `json:"thread"`
	Name       string `json:"name"`
	StartNs    int64  `json:"start_ns"`
	DurationNs int64  `json:"duration_ns"`
	Cause      Cause  `json:"cause"`
	Who        Who    `json:"who"`
}

// Result says how threads spent their time.
type Result struct {
	RecordedNs int64 `json:"recorded_ns"`
	// ThreadNs is the time during which the threads existed, summed over all threads. The shares
	// of Parts refer to it.
	ThreadNs int64 `json:"thread_ns"`
	Threads  int   `json:"threads"`
	Events   int64 `json:"events"`
	Lost     int64 `json:"lost"`
	// Missed is how often the kernel's events lacked switches between threads that it did not report as lost. MissedIdle is how
	// often the CPU had been idle before.
	Missed     int64  `json:"missed,omitempty"`
	MissedIdle int64  `json:"missed_idle,omitempty"`
	Parts      []Part `json:"parts"` // the largest first
	// Wall says what the target did as a whole, during the WallNs in which it had any thread: at
	// least one thread ran, or none had a CPU though one was runnable, or all were blocked. The
	// last state is put down to the first wake-up. The shares of Wall refer to WallNs.
	WallNs int64  `json:"wall_ns,omitempty"`
	Wall   []Part `json:"wall,omitempty"`
	// Worst lists the longest waits that the thread did not ask for.
	Worst []Period `json:"worst"`
	// Periods lists the longest times in which a thread did not run, in order of time. LeftOut
	// shorter ones were left out; the longest of them took LeftOutNs.
	Periods   []Period `json:"periods"`
	LeftOut   int64    `json:"left_out"`
	LeftOutNs int64    `json:"left_out_ns"`
	stats.Judgement
}
