// Package clock reads every clock that a program can read on this machine.
//
// A [Clock] is a way to read time or to count events: an instruction, a function of the kernel's
// vDSO, or a system call. [Names] lists the known clocks, [Open] opens one, and [List] opens all
// that can be read here and says why the others can't be and what would help.
//
// A reading is a number of ticks. [Clock.UnitNs] is the length of a tick. For a hardware counter
// it is not known, and [Calibrate] measures it against another clock:
//
//	c, err := clock.Open("tsc") // err says why not, and what helps
//	rate, err := clock.Calibrate(ctx, c, nil, 100*time.Millisecond)
//	start := c.Start()
//	work()
//	elapsed := rate.Ns(c.End() - start)
//
// This package does not say how good a clock is: other packages measure how fine it is, what a
// reading costs, and whether it ever runs backwards.
package clock
