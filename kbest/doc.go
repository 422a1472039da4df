// Package kbest measures how long a piece of code takes on a machine that other programs use too, and says how
// far the figure may be off.
//
// The scheme is that of Bryant 2003, sections 9.3, 9.4 and 9.8: disturbances only ever add time. So the K least
// of many samples, once they agree, are the time sought. Bryant found that this holds for code that is shorter
// than a time slice. For longer code the scheme is off by the machine's load, while it claims an error of a
// tenth of a percent. Here each sample also carries what the kernel counted meanwhile and how fast the core
// ran. Known losses are subtracted, and samples with unknown losses are left out. What the other samples may still
// have lost is estimated from looks: a look is a short stretch of known work between the samples, which shows what
// the CPU loses. The result also has the figure of Bryant's scheme, and the accuracy that the scheme claims.
//
// A busy hyperthread on the same core, also one that only the host sees, slows independent instructions but no
// chain of multiplications. A probe before and after each sample shows it ([clock.PortProbe]). Samples on a
// shared core are left out if they take longer than the others; if there are no others, the figure is suspect.
// Programs on other CPUs may slow the core through shared caches and memory. So kbest watches how many CPUs they use.
// If they used fewer for a while, the samples of that time show what these programs add. If they used as many all the
// time, the figure is suspect, unless the samples differ by less than they would if they waited for memory.
//
// If calls differ by more than disturbances explain, the figure is their mean, [Mean], and not the least: a
// writer that flushes at each 64th call costs what it costs on the whole. If the mean is known no better than
// to a quarter, the figure remains the least and is suspect; the mean is in [Result.Mean]. If a few samples are
// long, they may hold slow calls, or rare disturbances; then the figure is the least, and its interval reaches beyond
// the mean. Some samples have many calls, to catch rare slow ones. If n calls were timed, slow calls that are rarer
// than 1 in n/3 may be missed; [Result.Caveats] tells n/3. The first trials are spread over
// [Plan.Span], a second by default, so that a cost that changes in phases shows; the caveats tell how long the
// subject was watched. If the cost changes for good during the measurement, and at least a thirty-second of the
// samples lie on either side of the change, the figure is suspect. So is a mean that differs between short and
// long samples, as that of a cache which expires after some time. The garbage collector's time for what a call
// allocates is not in the figure, which is suspect if that can matter.
//
// Times are those at the rate that the core had most of the time, which the result names; their intervals hold
// how far the rate wandered. Cycles, and ratios of subjects that were measured in turn, hold for any rate.
//
// [Measure] is the plain way:
//
//	r, err := kbest.Measure(func() { kbest.Keep(sum(data)) })
//
// [Keep] takes a result that nobody needs, as the compiler may leave out work whose result is not used.
// [Before] prepares each call, untimed, if the work needs its input anew, and [WithPlan] asks for more
// precision, or allows more time, than [DefaultPlan]:
//
//	plan := kbest.DefaultPlan
//	plan.MaxTime = 5 * time.Second
//	r, err := kbest.Measure(func() { slices.Sort(work) },
//		kbest.Before(func() { copy(work, unsorted) }), kbest.WithPlan(plan))
//
// [Subject.Setup] prepares many calls at once, untimed, so that work far shorter than its set-up is timed in
// batches. [Prepared] gives each call an input of its own. [Station.Calls] returns the distribution of single
// calls.
//
// A [Station] with [Station.Measure] measures several subjects in turn, so that drift hits all alike, and
// [Compare] says which is faster.
package kbest

import "math"

var (
	nan = math.NaN()
	inf = math.Inf(1)
)
