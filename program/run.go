package program

import (
	"math"
	"time"

	"chronoscope/env"
	"chronoscope/process"
)

// Run is one run of a command.
type Run struct {
	process.Run
	Started time.Time
	// BlockedNs is the time for which no thread of the program ran or could have run: all slept, or waited
	// for something else than a CPU. NaN if the kernel does not tell.
	BlockedNs float64
	// RunqueueWaitNs is the run-queue wait of all threads for which it is known; NaN if it is known for none. As far as the
	// kernel noted the waits before the exec and after the end, it is without these.
	RunqueueWaitNs float64
	// StealNs is the steal of all CPUs since the last look at the machine, in steps of 10 ms. ThrottledNs is
	// the time since then for which CPU quotas stopped the control groups of this process, summed over CPUs and groups. It is 0
	// without control groups, and NaN if a group does not tell, or /proc does not tell the groups. Both are NaN without a look
	// after the run, as after short runs.
	StealNs, ThrottledNs float64
	// throttled says that a control group of this process was throttled since the last look.
	throttled bool
	// Others is the CPU time of other processes during the run. Its Known is false if that time is not known.
	Others process.OthersUse
	// around is the CPU time of others by the looks at the machine since the previous run; zero if there was no
	// look. The looks also cover time between the runs.
	around neighbours
	// disks is what the disks did since the previous run, by the looks at the machine. usesDisks says that the program read
	// from disks or wrote to files. diskNs is the most time for which it may have waited for disks, if it does.
	disks     diskUse
	usesDisks bool
	diskNs    float64
	// elsewhere is the number of other CPUs that others used on average during the run; NaN if unknown.
	elsewhere float64
	// InterruptsNs is the time that interrupts typically take from the run's CPU time; NaN if unknown.
	InterruptsNs float64
	// CoreHz is the core's rate before the run, or after a long run the mean of before and after; NaN if unknown.
	CoreHz float64
	// slowedBefore and slowedAfter are the shares by which independent instructions took longer around the
	// run than on a core that nothing shares; NaN if unknown.
	slowedBefore, slowedAfter float64
	// slowedThere is the same for one CPU on which the program ran, after the run, if it may use more CPUs than are
	// probed around it; NaN if unknown.
	slowedThere float64
	// pause is a pause after the run in which the core was probed; nil if there was none.
	pause *env.Pause
	// unsharedFactor is by what the run's time is multiplied to take off what sharing a core cost it.
	unsharedFactor float64
	// startKeptNs is the time since the end of the run before for which others kept the launcher, the preparation, or the
	// program before its exec from a CPU.
	startKeptNs float64
	// coldStartNs is the longest time for which the run refilled caches because its start was late.
	coldStartNs float64
	// LowNs and HighNs bound the time alone, without interrupts and preemptions.
	LowNs, HighNs float64
	// Rejected says that the run does not count; Why then gives the reasons. Why of a run that counts holds
	// remarks on it.
	Rejected bool
	Why      []string

	// favoured says that it is a run at favouredNice. These are rejected, but the estimate may rest on them.
	favoured bool
	// read are the metrics that the program wrote, by their index in the command's metrics.
	read []reading

	// grossLowNs and grossHighNs are LowNs and HighNs with interrupts and preemptions.
	grossLowNs, grossHighNs float64
	// slackNs is the amount by which LowNs may be too high, and slackUpNs that by which HighNs may be too
	// low, since the disturbance of a run is known only on average.
	// slackUpOfLowNs is what slackUpNs would be if the lower bound were the upper one.
	slackNs, slackUpNs, slackUpOfLowNs float64

	// least is the CPU time divided by the number of CPUs, with interrupts and preemptions. leastNs is without
	// their typical time, and surelyNs without the most that they may have taken.
	least             progress
	leastNs, surelyNs float64
	// calm is the wall time less the most that others can have delayed the run; zero if that is not known.
	// calmNs is without interrupts and preemptions.
	calm   progress
	calmNs float64
	// spunOffNs is the amount by which the lower bound was lowered because threads may have spun.
	spunOffNs float64
	// contradicts says that the lower bound came out above the upper one.
	contradicts bool

	// eachCallNs is the time by which an open recorder of timed calls lengthens each system call, even while it is
	// paused. Most calls leave no event.
	eachCallNs float64
	// wakeups are the tracepoints' events of all threads during the run; empty if they were not recorded.
	wakeups wakeupEvents
	// traced is what the kernel's events tell of the run, if noted is set.
	traced trajectory
	noted  bool
	// unsleptNs is a floor for the upper bound of a run that may have passed a deadline to which it would have
	// slept alone; 0 otherwise. late says that it may have passed it because it waited for a CPU.
	unsleptNs float64
	late      bool
	// timedWaits is the number of times that the program asks to wait until some time. waits is the number
	// of times that it waits for that or for something else. Both are 0 if it never asks, or if it is not
	// known. blocks is the number of times that it blocked in this run, however shortly.
	timedWaits, waits, blocks int
	// yields is the number of times that the program gave its CPU away (sched_yield(2)), from traced runs.
	yields int
	// outsideNs is the longest time for which threads may have waited for something outside the program; NaN
	// if their blocks were not noted. outsideKnown says that tracepoints told who ended them, so that outsideNs is the
	// time by which others can have delayed the program there.
	outsideNs    float64
	outsideKnown bool
	// wokenAtMostNs is the longest time for which, as LowNs assumes, all threads except the first together waited
	// for a CPU after they were woken. It is infinite if LowNs assumes no such limit: the accounts of all threads
	// are known, no earlier run gave a limit, or the run was not noted.
	wokenAtMostNs float64
}

// stopped rejects a run during which this process was stopped. Its time may hold that of the stop, and so may what the
// tracer saw.
func (r *Run) stopped() {
	nan := math.NaN()
	r.Events, r.wakeups = nil, wakeupEvents{}
	r.LowNs, r.HighNs, r.BlockedNs, r.outsideNs, r.InterruptsNs, r.elsewhere = nan, nan, nan, nan, nan, nan
	r.grossLowNs, r.grossHighNs = nan, nan
	r.Rejected = true
	r.Why = append(r.Why, "this command was stopped while it ran (Ctrl-Z), or got SIGCONT")
}

// TimeNs is the middle of the run's bounds.
func (r Run) TimeNs() float64 { return (r.LowNs + r.HighNs) / 2 }

// allowFor lowers the lower bound and the least time by something that may have taken so long.
func (r *Run) allowFor(ns float64) { r.slackNs, r.surelyNs = r.slackNs+ns, r.surelyNs-ns }

// waitedSinceExec leaves out of the wait what is not in the wall time: the kernel counts it from the fork until the thread is
// gone.
func (r *Run) waitedSinceExec() {
	t := &r.traced
	r.RunqueueWaitNs = math.Max(0, r.RunqueueWaitNs-t.startKeptNs)
	switch {
	case !r.noted || r.WaitOf != process.FirstThread && t.threads > 1: // several may wait at a time
	case t.threads == 1:
		r.RunqueueWaitNs = math.Min(r.RunqueueWaitNs, math.Max(0, t.wallNs-t.ranNs))
	default:
		r.RunqueueWaitNs = math.Min(r.RunqueueWaitNs, t.wallNs)
	}
}

// OwnCPUNs returns the CPU time without what the process used before the exec, as far as the kernel noted that.
func (r *Run) OwnCPUNs() float64 {
	return math.Max(0, float64(r.CPUNs())-known(r.traced.startNs))
}
