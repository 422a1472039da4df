// Package env prepares the environment in which a method measures: the goroutine's
// thread and its CPUs, the clock, the rate of the core, and what else takes the CPU.
//
// A method calls what it needs. [Hold] keeps the goroutine on its thread and CPUs and
// the garbage collector from running. [Open] opens a clock and finds the length of its
// tick; [ReadingCost] adds what a reading takes. [FollowCore] tells how fast the core
// runs now. [Watch] looks at what interrupts take of the CPU.
//
// Each result is plain data and functions, so that a method measures on a simulated
// machine with the same code.
package env
