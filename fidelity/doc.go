// Package fidelity says whether intervals that a counter measures are true
// (Kuperberg 2011b).
//
// The experiment is a sandwich: read a proven reference and the counter, run a
// workload, read both again, and compare the two durations. The source ran it
// with sleep and with the computing of Fibonacci numbers, and found a counter
// that fell short after every sleep. Here the workloads that it left to others
// are added ([Workloads]): whatever may stop a counter, change its rate, or move
// the thread to where another counter is read.
//
// Each end of a sandwich is three readings, reference, counter, reference, so
// that how far the two clocks were read apart is known. Together with what each
// clock can show that bounds the error of a duration. What goes beyond the bound
// is a fault, and the verdict names it with its size. [Run] does all of it.
//
// Agreement between clocks that rest on the same oscillator says nothing of how
// fast that oscillator runs: see [Independence].
package fidelity
