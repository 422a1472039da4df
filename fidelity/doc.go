// Package fidelity judges whether the intervals that a counter measures are true (Kuperberg 2011b).
//
// The experiment is a sandwich: read a trusted reference and the counter, run a workload, read both
// again, and compare the two durations. Kuperberg ran it with sleep and with the computation of
// Fibonacci numbers, and found a counter that fell short after every sleep. This package adds the
// other workloads that he proposed ([Workloads]): they may stop a counter, change its rate, or move
// the thread to a CPU on which the counter differs.
//
// Each end of a sandwich consists of three readings (reference, counter, reference), so that it is
// known how far apart in time the two clocks were read. Together with the steps of the clocks, that
// bounds the error of a duration. A larger error is a fault, and the verdict names the fault with
// its size. [Run] does all of this.
//
// If two clocks rest on the same oscillator, their agreement does not show that the oscillator runs
// at the right rate: see [Independence].
package fidelity
