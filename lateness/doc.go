// Package lateness measures how late timers wake those who wait for them: Go's own, those of the
// kernel, and those of other runtimes. Kuperberg 2011a ranks timers that are read, and leaves those that
// fire to future work.
//
//	timers := append(lateness.GoTimers(), lateness.KernelTimers(0)...)
//	report, err := lateness.Measure(ctx, lateness.DefaultPlan, timers)
//
// A wake-up is late by the time from when it was asked for to when the waiting code goes on. A timer
// that fires once is asked for a length of time from now on; one that fires periodically for a series of
// moments, a length apart, so that a wake-up that is late does not delay the next one.
//
// The quality of a timer at a length is
//
//	length / (length + p99 of the absolute lateness) x fired / (fired + missed)
//
// which is 1 for a timer that is never late, and 1/2 for one that one time in a hundred is late by as much
// as it was asked for. Where there are too few wake-ups for a p99 it rests on the worst.
package lateness
