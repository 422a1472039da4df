// Package clock reads every clock that a program can read on this machine.
//
// A [Clock] is a way to read time or to count: an instruction, a function of
// the kernel's vDSO, a system call. [Names] lists those that are known, [Open]
// opens one, and [List] opens all that can be read here and says of the others
// why not, and what would help.
//
// A reading is a number of ticks. What a tick is worth stands in
// [Clock.UnitNs]; a hardware counter does not know it, and is calibrated
// against another clock with [Calibrate]:
//
//	c, err := clock.Open("tsc") // err says why not, and what helps
//	rate, err := clock.Calibrate(ctx, c, nil, 100*time.Millisecond)
//	start := c.Start()
//	work()
//	elapsed := rate.Ns(c.End() - start)
//
// No clock is vouched for here: how fine it is, what it costs, and whether it
// ever runs backwards is for others to measure.
package clock
