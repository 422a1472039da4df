// Package slowclock times events that are shorter than the tick of the available clock.
//
// A clock that ticks once a millisecond can't time one event of 10 µs, but it can time a hundred
// thousand of them: the number of events during which it ticked shows how long they are (Lambert
// and Power, "Platform Independent Timing of Java Virtual Machine Bytecode Instructions", 2008,
// sections 2.1 to 2.3; Falco 2009). The methods:
//
//   - [Bernoulli]: a trial is a success if the clock ticked within it, and the share
//     of successes is the duration in ticks (Lambert 2008, equation 1). An event
//     that was preempted counts one tick, however many passed.
//   - [Discrete]: the same trials, counting all ticks that each of them saw.
//   - [Classic]: many events between two edges of the clock, in loops that may begin and
//     end at any place of the tick.
//   - [CounterClock]: a second thread counts. The share of its counts that falls into events, times
//     the whole duration by the slow clock, is the events' duration.
//
// Terms: a trial is one execution of the event between two readings of the clock; a tick is one
// step of the clock; an edge is the moment at which it ticks; the overhead is the time of an empty
// trial.
//
// All methods give the event's mean duration on this machine, including the time that other
// programs took from it, and its 95 % interval. The overhead is measured in empty trials and
// subtracted, with the uncertainty of both (Lambert 2008, section 2.2).
//
// The intervals rest on the number of ticks that were seen, not on the number of trials: trials
// within one tick of the clock are not independent, although the source's equation (2) assumes it.
// If the timed regions take the share p of a loop's time, an interval of ± e, as a share of the
// mean, takes 1.96² (1-p) / (p e²) ticks.
//
// The intervals hold if trials start evenly over the tick. [Lab.Dither] ensures that; if they
// don't, the verdict says so.
package slowclock
