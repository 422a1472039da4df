// Package lateness measures how late timers wake the code that waits for them: Go's timers, the
// kernel's, and those of other runtimes. Kuperberg 2011a ranks timers that are read, and leaves timers
// that fire to future work.
//
//	timers := append(lateness.GoTimers(), lateness.KernelTimers(0)...)
//	report, err := lateness.Measure(ctx, lateness.DefaultPlan, timers)
//
// The lateness of a wake-up is the time from the moment that was asked for until the waiting code goes
// on. A timer that fires once is asked for a length of time from now on. A periodic timer is asked for
// moments that are a length apart, so that a late wake-up does not delay the next one.
//
// The quality of a timer at a length is
//
//	length / (length + p99 of the absolute lateness) x fired / (fired + missed)
//
// which is 1 for a timer that is never late, and 1/2 for a timer whose p99 equals the length. If there
// are too few wake-ups for a p99, the greatest lateness takes its place.
package lateness
