// Package program finds the time alone of a program: how long it takes if no other program wants a CPU. It runs the
// program on a machine that may be busy, and returns an interval beside the wall time.
//
// The wall time is from exec to exit. It begins when the kernel has put the program in the place of the process that
// started it, and ends when the program's first process has exited and given back its memory. It does not include
// the fork, the search for the file, and the caller's wait for the end.
//
// The kernel notes when each thread gets a CPU, loses it, and gives it up ([process.Event]). These events bound the
// time alone of each run:
//
//   - The lower bound assumes that all time in which the program could have run and did not delayed its end.
//   - The upper bound assumes that the program may have slept to a deadline after a wait for a CPU, so that the wait
//     did not delay the end. A wait certainly delayed the end only if nothing came between both.
//
// Both bounds of a thread that never blocks are its time on the CPU. If the program starts processes and waits for
// them, its critical path leads through them. What servers and disks do for the program counts with the time that it
// took; the result is suspect if programs competed for the CPUs meanwhile.
//
// The events do not tell which thread woke which. Between threads that wait for one another, the lower bound
// therefore subtracts from a thread's blocks all time in which any thread of the program was, or may have been, kept
// from a CPU, and the upper bound subtracts nothing. On a busy machine these bounds lie far apart. For root the
// kernel's tracepoints tell who woke whom, and how long each woken thread waited for a CPU ([Method] CriticalPath). A
// niceness of -20 ([Setting]) avoids most waits, unless the kernel first shares the CPUs among sessions (autogroups,
// sched(7)).
//
// A program that finds its deadline passed in each run has the same events as one that never sleeps. The first one
// or two runs are therefore traced: they show whether the program asks to wait until some time
// ([process.Run.TimedWaits]), how often it blocks for something else, and what it does if its clocks do not show its
// waits ([process.Command.NoteClocks]). If the program may have been late, the wall time is the only upper bound, and
// the verdict says why. The result of a program that had to wait for a CPU is also suspect if the program works more in
// the traced runs, or if its CPU time changes with its waits; and if this is not known, because tracing is forbidden or
// would need too many stops.
//
// Others delay a run by no more than the CPU time that they used, or the time for which they and the program waited
// for a CPU ([process.Others]). On a calm machine both bounds are therefore close to the wall time. If other programs
// come and go, the result may rest on the runs alone that they can hardly have delayed: there have to be 20 of these,
// and the other runs have to be compatible with them.
//
// docs/programs-method.md describes all of this in detail.
//
// [Here] finds out what has to be known of this machine, and [Measure] measures programs in turn:
//
//	setting, release, err := program.Here(ctx, program.Setting{})
//	defer release()
//	commands := []program.Command{{Name: "sort", Command: process.Command{Path: "sort", Args: []string{"words"}}}}
//	results, err := program.Measure(ctx, commands, program.DefaultPlan, setting, nil)
//
// [Compare] tells which of two programs is faster, [Once] makes a single run, and [Attach] watches a running process.
//
// The experimental protocol of Bryant 2003 (section 9.6) chooses between interval counting ([IntervalCounting]) and
// cycle-grade time.
package program
