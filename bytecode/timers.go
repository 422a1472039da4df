package bytecode

import (
	"slices"

	"chronoscope/internal/classfile"
)

// timer is one that is read before and after a sequence.
type timer struct {
	read func(*classfile.Code)
	// ones tells that trials are counted in which it advanced.
	ones bool
}

// columns is the number of columns of a row: the sum of differences, the last reading and, if
// counted, the trials with a tick.
func (t timer) columns() int {
	if t.ones {
		return 3
	}
	return 2
}

// settlingNops stand before the readings that begin a trial and those that end it. A processor
// predicts a jump from the jumps before it, and the interpreter jumps at each instruction. After a
// long sequence the code that reads the timers is therefore mispredicted, after the empty one it
// isn't, which adds some 10 ns to the second reading of the outer timer. After more nops than the
// predictor remembers (100 to 200 jumps on a Zen 5) all readings behave alike.
//
// The nops also keep two readings of the counter some 200 ns apart. A reading moves the count's
// cache line to its own core; a second one soon after would find it there and be faster.
const settlingNops = 300

// settle lets the processor forget what it has executed.
func settle(c *classfile.Code) {
	for range settlingNops {
		c.Do(classfile.Nop)
	}
}

var (
	milliTimer   = timer{read: callsSystem("currentTimeMillis"), ones: true}
	nanoTimer    = timer{read: callsSystem("nanoTime")}
	counterTimer = timer{read: readsCount}
	tscTimer     = timer{read: func(c *classfile.Code) {
		c.Refer(classfile.Invokestatic, classfile.Member{Class: cycleClass, Name: cycleMethod, Descriptor: "()J"})
	}}
)

func callsSystem(name string) func(*classfile.Code) {
	return func(c *classfile.Code) {
		c.Refer(classfile.Invokestatic, classfile.Member{Class: "java/lang/System", Name: name, Descriptor: "()J"})
	}
}

// readsCount reads the counter. The volatile store before it keeps the processor from reading the
// count before earlier instructions are done.
func readsCount(c *classfile.Code) {
	c.Do(classfile.Iconst0)
	c.Refer(classfile.Putstatic, barrierField)
	c.Refer(classfile.Getstatic, countField)
}

// timersOf are the timers that the methods need. The most expensive to read is the outermost.
func timersOf(methods []Method) []timer {
	var timers []timer
	uses := func(m Method) bool { return slices.Contains(methods, m) }
	if readsMillis(methods) {
		timers = append(timers, milliTimer)
	}
	if uses(Nano) {
		timers = append(timers, nanoTimer)
	}
	if uses(Counter) {
		timers = append(timers, counterTimer)
	}
	if uses(TSC) {
		timers = append(timers, tscTimer)
	}
	return timers
}

// readsMillis reports whether currentTimeMillis is read: it counts ticks, and its edges give the
// counter's rate.
func readsMillis(methods []Method) bool {
	return slices.ContainsFunc(methods, func(m Method) bool { return m == Bernoulli || m == Discrete || m == Counter })
}

// rowWidth is how many numbers a row has.
func rowWidth(timers []timer) int {
	n := 0
	for _, t := range timers {
		n += t.columns()
	}
	return n
}
