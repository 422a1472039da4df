// Package env prepares the environment in which a method measures: the goroutine's thread and its
// CPUs, the clock, and the rate of the core. It also observes what else takes the CPU.
//
// A method calls what it needs. [Hold] keeps the goroutine on its thread and CPUs, and keeps the
// garbage collector from running. [Open] opens a clock and finds the length of its tick;
// [ReadingCost] adds the cost of a reading. [FollowCore] measures how fast the core runs now.
// [Watch] measures how much of the CPU interrupts take.
//
// Each result consists of plain data and functions, so that a method can measure on a simulated
// machine with the same code.
package env
