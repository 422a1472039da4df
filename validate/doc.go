// Package validate says how good methods of measuring are on this machine. It repeats the
// experiments of Bryant 2003 (Figures 9.8, 9.11, 9.12, 9.14 to 9.19, 9.21 and 9.22).
//
// A scheme is a way to find out how long something takes. A [Cell] is one experiment: work of a
// known length, beside the competitors ("neighbours") of a [Regime]. In each cell every scheme
// measures the same work, and its answer is compared with the truth, which gives an [Outcome]: the
// error, and whether the scheme's interval contained the truth. [CoverageOf] counts how often it
// did, and [ReachOf] finds the shortest and the longest work for which a scheme stays within a
// tolerance.
//
// For each cell one [Stream] of samples is taken by a separate process, the lab, whose threads are
// all on one CPU. Every scheme that works within a process is evaluated on these samples. Whole
// programs are measured by package program and by hyperfine; what such a program does is its
// [Kind].
//
// The truth is measured too. Short batches of the same work run before and after each sample. Most
// of them escape every disturbance, and together they tell how long the work takes at the rate that
// the core has at that moment. A cell whose truth has an interval wider than ± 5 % is left out of
// all counts, and shown with the scheme's own verdict.
//
//	store, err := validate.OpenStore(here) // keeps finished cells; nil keeps nothing
//	report, err := validate.Run(ctx, validate.QuickPlan, here, store, nil)
package validate

import "math"

var nan = math.NaN()
