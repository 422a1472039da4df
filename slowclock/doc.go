// Package slowclock times events that are shorter than the tick of the clock at
// hand.
//
// A clock that ticks once a millisecond says nothing of one event of 10 µs, and
// much of a hundred thousand: how many of them saw it tick tells how long they are
// (Lambert and Power, "Platform Independent Timing of Java Virtual Machine Bytecode
// Instructions", 2008, sections 2.1 to 2.3; Falco 2009). The methods:
//
//   - [Bernoulli]: a trial is a success if the clock ticked within it, and the share
//     of successes is the duration in ticks (Lambert 2008, equation 1). An event
//     that was preempted counts one tick however many went by.
//   - [Discrete]: the same trials, with all ticks that each of them saw.
//   - [Classic]: many events between two edges of the clock, in loops that begin and
//     end on any place of the tick.
//   - [CounterClock]: a second thread counts, and which share of its counts falls into
//     events, times what the slow clock says all of it took, is how long they are.
//
// All of them give the mean of the event's duration as it was met with here, with
// what the machine took from it, and its 95 % interval. What the readings take
// themselves is measured in empty trials and taken off, with the uncertainty of
// both (Lambert 2008, section 2.2).
//
// The intervals rest on the ticks that were seen and not on the number of trials:
// trials within one tick of the clock are not independent of one another, as the
// source's equation (2) has it. In a loop that is timed for the share p of its time,
// an interval of ± e, as a share of the mean, takes 1.96² (1-p) / (p e²) ticks.
//
// They hold where trials start evenly over the tick. [Lab.Dither] makes them do so,
// and where they don't the verdict says so.
package slowclock
