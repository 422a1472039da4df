// Package gobench measures a module's ordinary Go benchmarks on a machine that is not
// silent, and says how far each figure may be off.
//
// The benchmarks are compiled as go test compiles them, and run as they are: each run
// is a process of its own with a fixed number of iterations (-test.benchtime=Nx).
// Repetitions of two such runs, one of few and one of many iterations, are interleaved
// over all benchmarks, so that drift hits all alike, and what a repetition says is the
// difference of its two runs: what they have in common, such as the benchmark's setup,
// cancels (nanoBench takes differences for the same reason; Abel and Reineke,
// nanoBench: A Low-Overhead Tool for Running Microbenchmarks on x86 Systems, ISPASS
// 2020).
//
// The testing package is compiled with one addition (go build -overlay): just before and just
// after the benchmark's function, outside of its timer, the process reads on Linux what the kernel
// counted of it and of its threads. So neither the start of the process nor TestMain is part of
// the CPU time, and the process need not be traced. It also prints time, allocations and
// bytes before they are divided by b.N and rounded. With a Go whose testing package is written
// otherwise, the figures are those of the whole process.
//
// Beside the benchmark's own time stand the CPU time of the process and the run-queue
// wait of its threads. They tell which time would have passed on a machine of its own:
//
//   - where nothing waited, the benchmark's own time;
//   - where one thread at a time could run, all the time, the CPU time, whatever the load;
//   - where others could run beside it, as those of the garbage collector, between the CPU time
//     over the number of threads that could run and all of it;
//   - where it blocks, and others had the CPUs, between its time without the wait and with it.
//
// [Compile] compiles the tests of packages, [Processes.Discover] finds the benchmarks in them,
// [Measure] repeats these in turn, [Conclude] makes a [Result] of what was measured of one, and
// [Compare] says how two that were measured in one group relate.
//
// A difference says how long an iteration takes only if each takes as long, whatever their
// number. A third run, of two iterations, shows setup in the timed part and a cost that grows
// with b.N. A longer run, of a second as the last one of go test, shows whether later iterations
// take as long. A repetition in which the process stood still, stopped by a signal or waiting for
// a disk, is left out.
package gobench
