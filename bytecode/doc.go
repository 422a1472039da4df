// Package bytecode times the instructions of a Java virtual machine, with slow clocks
// and with fine ones (Lambert and Power, "Platform Independent Timing of Java Virtual
// Machine Bytecode Instructions", 2008).
//
// The [Catalogue] lists the 137 instructions of the paper's imperative core: what each takes from the
// operand stack and leaves there, and how to supply operands to a long sequence of it and remove its
// results. For each instruction a class is generated that repeatedly reads a timer, runs the sequence,
// and reads the timer again (section 3.1). This module writes the class files itself, so that no Java
// compiler is needed. [Run] starts virtual machines that run them in turn, and [Series.Result]
// computes estimates from their measurements:
//
//   - [Bernoulli] and [Discrete] use System.currentTimeMillis. Bernoulli counts the trials during which
//     it ticked (section 2.1), Discrete counts the ticks;
//   - [Counter] uses a thread that counts, at a rate that is calibrated by currentTimeMillis;
//   - [Nano] uses System.nanoTime;
//   - [TSC] uses the processor's time stamp counter, the reference of section 5.
//
// The cost of the timers is measured on an empty sequence, and subtracted with its uncertainty
// (section 2.2). The times of the instructions that balance the stack are subtracted too.
//
// The time of an instruction is its time in the interpreter. A compiler removes most sequences, so the
// times of [C1] and [C2] only cover what the compiler left.
package bytecode
