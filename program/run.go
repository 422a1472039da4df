package program

import (
	"math"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
)

// Run is one run of a command.
type Run struct {
	process.Run
	Started time.Time
	// BlockedNs is the time for which nothing of the program ran or could have run: it slept, or
	// waited for others. It is NaN where the kernel does not tell.
	BlockedNs float64
	// RunqueueWaitNs is the run-queue wait of all threads for which it is known; NaN if it is for
	// none.
	RunqueueWaitNs float64
	// StealNs is the time for which a hypervisor kept the CPUs from running since the last look, in
	// steps of 10 ms; NaN without a look, as after short runs. ThrottledNs is the time since then
	// for which a CPU quota stopped control groups that hold this process: 0 without such groups,
	// NaN without a look, or if a group does not tell.
	StealNs, ThrottledNs float64
	// Contention is how far programs competed for the machine's CPUs since the last look; of no
	// stretch where there was none, as after short runs.
	Contention machine.Contention
	// Others is the CPU time of other processes during the run, if it was looked at.
	Others process.OthersUse
	// around is what others ran between the machine's last look before the run and that at its end, of
	// no time where there was none meanwhile.
	around neighbours
	// elsewhere is how many other CPUs others used on average while the program ran; NaN where that
	// is not known of this run.
	elsewhere float64
	// InterruptsNs is the time that interrupts typically take out of this much CPU time.
	InterruptsNs float64
	// CoreHz is the core's rate by the mean of before and after; NaN where not known.
	CoreHz float64
	// slowedBefore and slowedAfter are the shares by which independent instructions took longer around the
	// run than on a core that nothing shares; NaN if unknown.
	slowedBefore, slowedAfter float64
	// LowNs and HighNs bound the time that the run would have taken alone, interrupts and
	// preemptions taken off.
	LowNs, HighNs float64
	// Rejected runs don't count, Why says why. Of a run that counts, Why holds what else
	// is to be said.
	Rejected bool
	Why      []string

	// read are the metrics that the program wrote, by their index among its command's.
	read []reading

	// grossLowNs and grossHighNs are those bounds with interrupts and preemptions in them.
	grossLowNs, grossHighNs float64
	// slackNs is by how much less the bounds may be, and slackUpNs by how much more, since
	// what disturbed the run is only known on average.
	// slackUpOfLowNs is what slackUpNs would be if the lower bound were the upper one.
	slackNs, slackUpNs, slackUpOfLowNs float64

	// least is the CPU time over the CPUs, with interrupts and preemptions in it, leastNs without
	// those, and surelyNs with all that these may have taken taken off.
	least             progress
	leastNs, surelyNs float64
	// calm is what it took less all that others did, and calmNs that without interrupts and
	// preemptions: by no more than that did they delay it. calm is of no time where that is not known.
	calm   progress
	calmNs float64
	// spunOffNs is the amount by which the lower bound was lowered because threads may have spun.
	spunOffNs float64
	// contradicts says that the lower bound came out above the upper one.
	contradicts bool

	// wakeups are the tracepoints' events of all threads during the run; empty if they were not
	// recorded.
	wakeups wakeupEvents
	// traced is what the kernel noted of it, where noted.
	traced trajectory
	noted  bool
	// unsleptNs is what it may have taken at least had it slept to a deadline that it may
	// have passed; 0 where it passed none. late says that it did so for what it waited.
	unsleptNs float64
	late      bool
	// timedWaits is how often the program asks to wait until some time, and waits how often it
	// waits for that or for something else; 0 where it asks for no time, or that is not known.
	// blocks is how often it did, for however short a time.
	timedWaits, waits, blocks int
	// yields is how often the program gave its CPU away itself (sched_yield(2)) in a traced run.
	yields int
	// outsideNs is the time for which threads waited for what is no part of the program, at most; NaN
	// where their blocks were not noted.
	outsideNs float64
	// wokenAtMostNs is the time for which threads of which that is not known were allowed to have
	// waited for a CPU when they were woken; without limit where it is known of all.
	wokenAtMostNs float64
}

// TimeNs is the middle of the run's bounds.
func (r Run) TimeNs() float64 { return (r.LowNs + r.HighNs) / 2 }

// ownCPUNs is the CPU time without what the process used before it became the program, as
// far as the kernel noted that.
func (r *Run) ownCPUNs() float64 {
	return math.Max(0, float64(r.CPUNs())-known(r.traced.startNs))
}
