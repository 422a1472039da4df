// Package program says how long a program takes, on a machine that has other things to
// do: the time that it would take if it had the machine to itself, with an interval,
// next to what it took.
//
// A program's time is from exec to exit: from when the kernel has put the program in the
// place of the process that started it, to when its first process has ended and given
// back its memory. Forking and looking up the file belong to who starts it, and so does
// waiting for its end.
//
// Of each run the kernel tells when which thread had a CPU, lost it, and gave it up
// ([process.Event]). From that follow bounds of the time without the others:
//
//   - Time in which the program could have run and did not may all have delayed the end.
//     Without it, the time is at its least.
//   - After a wait the program may have slept to a deadline that did not move, which
//     then absorbed the wait. Only where nothing came between a wait and the end did it
//     delay the end for certain. Without those waits, the time is at its most.
//
// A thread that never blocks has both bounds in one place, its time on the CPU. Where
// processes are started and waited for, the way from the end back to the start leads
// through them. What others than the program do for it, such as servers and disks, is
// taken as it was; where programs competed for the CPUs meanwhile, the result is suspect.
//
// Among threads that wait for one another, switches don't tell who woke whom. At the least,
// a thread's blocks are therefore without all time in which some thread of the program was
// kept from a CPU, or may have been; at the most, they were as long as they were seen. On a
// busy machine these lie far apart. A niceness of -20 ([Setting]), for those who may ask for
// it, leaves little to be taken off in the first place, where the kernel does not share the
// CPUs among sessions first (autogroups, sched(7)).
//
// A program that would have slept to a deadline, and finds it passed in each of its runs,
// shows the switches of one that never sleeps. In the first run or two, which are traced, it is
// therefore noted whether it asks to wait until some time ([process.Run.TimedWaits]), and how
// often it blocked for something else, so that an answer that it waited for is not taken for
// that sleep. A program that does, had to wait for a CPU, and blocked less often than that or
// not at all, may have been late: then the time that the run took is the only upper bound, and
// the verdict says why. On a calmer machine, or with such a niceness, its sleep shows.
// Programs may also look at a clock themselves, or at how often they were preempted, and do less when
// they are late, or ask for no sleep at all. What they see in the same runs does not show what they
// waited ([process.Command.NoteClocks]): where
// a program that had to wait works more there than in other runs, or where its CPU time falls as its
// waiting rises, the result is suspect. So it is where nothing is known of this, since tracing is
// forbidden, or since a program makes more such calls than are worth a stop each.
//
// To root the kernel's tracepoints tell who woke whom ([Method] CriticalPath): a block then moves with the
// thread that ended it, of the program or of a server that it called, and it is known how long each thread
// that was woken waited for a CPU.
//
// No run is delayed by more than other processes ran meanwhile ([process.Others]), or waited for a CPU:
// on a calm machine both bounds are the time by the clock. Where others come and go, the runs count in which
// nobody can have delayed the program by more than matters: if there are 20, and most of the others may
// have taken as long.
//
// [Here] says what has to be known of this machine, and [Measure] measures one program or
// several in turn:
//
//	setting, release, err := program.Here(ctx, program.Setting{})
//	defer release()
//	commands := []program.Command{{Name: "sort", Command: process.Command{Path: "sort", Args: []string{"words"}}}}
//	results, err := program.Measure(ctx, commands, program.DefaultPlan, setting, nil)
//
// [Compare] says which is faster, [Once] makes a single run, and [Attach] watches a process
// that runs already.
//
// The experimental protocol of Bryant 2003 (section 9.6) chooses between interval
// counting ([IntervalCounting]) and cycle-grade time.
package program
