// Package gobench measures a module's ordinary Go benchmarks on a machine that other programs use too, and says
// how far each figure may be off.
//
// The benchmarks are compiled as go test compiles them, and run unchanged: each run is a process of its own
// with a fixed number of iterations (-test.benchtime=Nx). A repetition has two such runs, one of few and one of
// many iterations. Repetitions of all benchmarks are interleaved, so that drift hits all alike. The result of a
// repetition is the difference of its two runs: what they have in common, such as the benchmark's setup,
// cancels (nanoBench takes differences for the same reason; Abel and Reineke, nanoBench: A Low-Overhead Tool
// for Running Microbenchmarks on x86 Systems, ISPASS 2020).
//
// The testing package is compiled with one addition (go build -overlay). When the benchmark's timer starts after the
// setup and just after its function, outside of the timer, the process reads what the kernel counted of it and of its
// threads, on Linux. So the CPU time includes neither the start of the process, nor TestMain, nor the setup, and the
// process need not be traced. It also prints time, allocations and bytes before they are divided by b.N and rounded.
// b.RunParallel is told how long an iteration takes, which under go test it learns from earlier runs in the same process, so
// that its goroutines get enough of them at a time. If a Go version's testing package is written otherwise, the figures
// are for the whole process, and b.RunParallel gives out few iterations at a time.
//
// The CPU time of the process and the run-queue wait of its threads are measured together with the benchmark's
// own time. They tell which time would have passed on a machine of its own:
//
//   - if nothing waited for others, the benchmark's own time;
//   - if exactly one thread was runnable, all the time, the CPU time, whatever the load;
//   - if more threads were runnable, such as the garbage collector's, between the CPU time
//     divided by the number of runnable threads and the CPU time;
//   - if it blocks, and others had the CPUs, between its own time without the wait and with it.
//
// Others have delayed it by no more than the CPU time that they used meanwhile ([process.Others]). The rest of the
// wait is its own: its threads waited for one another, or for an idle CPU to wake up.
//
// What slows the whole machine for moments, such as a neighbour on the core's second hyperthread, shows in no
// counter. Two benchmarks that are compared and compute in one thread also run in duets: at the same time on one CPU,
// by turns of milliseconds, so that it slows both. Their ratio is that of the CPU times of the duets.
//
// [Compile] compiles the tests of packages, [Processes.Discover] finds the benchmarks in them, [Measure]
// repeats these in turn, [Conclude] makes a [Result] from the measurements of one, and [Compare] compares two
// that were measured in one group.
//
// A difference tells how long an iteration takes only if each iteration takes equally long, whatever their
// number. A third run, of two iterations, shows setup in the timed part and a cost that grows with b.N. A
// longer run, of a second like the last run of go test, shows whether later iterations take equally long. A
// repetition is left out if the process stood still, stopped by a signal or waiting for a disk.
package gobench
