// Package kbest measures how long a piece of code takes on a machine that is not
// silent, and says how far the figure may be off.
//
// The scheme is that of Bryant 2003, sections 9.3, 9.4 and 9.8: disturbances only
// ever add, so that the K least of many samples, once they agree, are the time
// sought. The source found that this holds for what is shorter than a time slice,
// and that beyond it the scheme is off by the machine's load while it claims a
// tenth of a percent. Here each sample also carries what the kernel counted
// meanwhile and how fast the core ran; what is known to have been taken away is
// taken off, samples with unknown losses are left out, and what the rest can still
// hold is inferred from what short looks between the samples see the CPU lose. The source's
// own figure and claim stand beside the result.
//
// A busy hyperthread on the same core, also one that only the host sees, slows independent
// instructions and no chain of multiplications. A probe before and after each sample tells
// ([clock.PortProbe]): samples on a shared core are left out where they take longer than
// the others, and where there are no others the figure is suspect. Programs on other CPUs
// may slow it through shared caches and memory. How many CPUs they used is watched: where the
// subject ran beside fewer of them for a while, its samples show what they add. Where they were
// there all the time, the figure is suspect, unless the samples are as equal as contention for
// memory never leaves them.
//
// Where calls differ by more than what disturbs them explains, the figure is their mean,
// [Mean], and not the least: a writer that flushes at each 64th call costs what it costs on
// the whole. Where the mean is known to no better than a quarter the least stands, is
// suspect, and says so; the mean is in [Result.Mean]. Where a few long samples may come from slow calls
// or from rare disturbances, the interval of the least reaches up to what both allow. Some samples have many calls, so that slow
// ones which are rare are among them. Slow calls that are rarer than 1 in a third of those that
// were timed may not be: [Result.Caveats] says how many that are. The first trials are spread over
// [Plan.Span], a second by default, so that a cost that changes in phases shows; the caveats say for
// how long the subject was watched. A cost that changes for good in the course of the samples makes the figure
// suspect, if either side of the change has a thirty-second of them. So does a mean that is another in short samples
// than in long ones, as that of a cache which expires after some time. What the garbage collector
// takes for what a call allocates is not in the figure, which is suspect where that can matter.
//
// Times are those at the rate that the core had most of the time, which the result
// names; how far the rate wandered is in their intervals. Cycles, and ratios of subjects
// that were measured in turn, hold for any.
//
// [Measure] is the plain way:
//
//	r, err := kbest.Measure(func() { kbest.Keep(sum(data)) })
//
// [Keep] takes a result that nobody needs, as the compiler may leave out work whose result
// is not used. [Before] prepares each call, untimed, where the work needs its input anew, and
// [WithPlan] asks for more precision, or allows more time, than [DefaultPlan]:
//
//	plan := kbest.DefaultPlan
//	plan.MaxTime = 5 * time.Second
//	r, err := kbest.Measure(func() { slices.Sort(work) },
//		kbest.Before(func() { copy(work, unsorted) }), kbest.WithPlan(plan))
//
// [Subject.Setup] prepares many calls at once, untimed, so that work far shorter than its set-up is
// timed in batches, and [Prepared] gives each call an input of its own. [Station.Calls] says how single
// calls are distributed.
//
// A [Station] with [Station.Measure] measures several subjects in turn, so that drift hits
// all alike, and [Compare] says which is faster.
package kbest

import "math"

var (
	nan = math.NaN()
	inf = math.Inf(1)
)
