// Package bytecode times the instructions of a Java virtual machine, with slow clocks
// and with fine ones (Lambert and Power, "Platform Independent Timing of Java Virtual
// Machine Bytecode Instructions", 2008).
//
// The [Catalogue] lists the 137 instructions of the source's imperative core: what each
// takes from the operand stack and leaves there, and how a long sequence of it is fed and
// balanced. For each a class is generated that runs, again and again, a timer, the
// sequence, and the timer once more (section 3.1); classes are written by this module, so
// that no Java compiler is needed. [Run] starts virtual machines that run them in turn,
// and [Series.Result] makes estimates of what they measured:
//
//   - [Bernoulli] and [Discrete]: System.currentTimeMillis. Bernoulli counts the trials
//     that saw it tick (section 2.1), Discrete the ticks that they saw;
//   - [Counter]: a thread that counts, at the rate that currentTimeMillis shows;
//   - [Nano]: System.nanoTime;
//   - [TSC]: the processor's time stamp counter, the reference of section 5.
//
// What the timers take is measured on an empty sequence, and taken off with its
// uncertainty (section 2.2), and so are the instructions that balance the stack.
//
// The time of an instruction is one of the interpreter: a compiler removes most
// sequences, and what is left after [C1] and [C2] says no more than what survived.
package bytecode
