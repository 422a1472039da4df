package bytecode

import (
	"slices"

	"chronoscope/internal/classfile"
)

// timer is a timer that is read before and after a sequence.
type timer struct {
	read func(*classfile.Code)
	// ones says that the trials in which it advanced are counted.
	ones bool
	// of returns the timer's place in sums.
	of func(*Sums) *int64
}

// columns returns the timer's number of columns in a row: the sum of differences, the last reading and,
// if counted, the trials with a tick.
func (t timer) columns() int {
	if t.ones {
		return 3
	}
	return 2
}

// settlingNops is the number of nops before the readings that begin a trial and before those that end
// it. A processor predicts a jump from the jumps before it, and the interpreter jumps at each
// instruction. After a long sequence, the jumps in the code that reads the timers are therefore
// mispredicted, and after the empty one they are not, which adds about 10 ns to the second reading of
// the outer timer. After more nops than the predictor remembers (100 to 200 jumps on a Zen 5), all
// readings take the same time.
//
// The nops also keep two readings of the counter about 200 ns apart. A reading moves the count's cache
// line to its own core; a second reading soon after would find it there and be faster.
const settlingNops = 300

// settle appends the nops that make the processor's branch predictor forget the sequence.
func settle(c *classfile.Code) {
	for range settlingNops {
		c.Do(classfile.Nop)
	}
}

var (
	milliTimer   = timer{callsSystem("currentTimeMillis"), true, func(s *Sums) *int64 { return &s.Millis }}
	nanoTimer    = timer{callsSystem("nanoTime"), false, func(s *Sums) *int64 { return &s.Nano }}
	counterTimer = timer{readsCount, false, func(s *Sums) *int64 { return &s.Counts }}
	tscTimer     = timer{readsCycles, false, func(s *Sums) *int64 { return &s.Cycles }}
)

func callsSystem(name string) func(*classfile.Code) {
	return func(c *classfile.Code) {
		c.Refer(classfile.Invokestatic, classfile.Member{Class: "java/lang/System", Name: name, Descriptor: "()J"})
	}
}

func readsCycles(c *classfile.Code) {
	c.Refer(classfile.Invokestatic, classfile.Member{Class: cycleClass, Name: cycleMethod, Descriptor: "()J"})
}

// readsCount appends code that reads the counter. The volatile store before it keeps the processor from
// reading the count before earlier instructions have ended.
func readsCount(c *classfile.Code) {
	c.Do(classfile.Iconst0)
	c.Refer(classfile.Putstatic, barrierField)
	c.Refer(classfile.Getstatic, countField)
}

// timersOf returns the timers that the methods need. The most expensive to read is the outermost.
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

// readsMillis reports whether currentTimeMillis is read: to count its ticks, or because its edges give
// the counter's rate.
func readsMillis(methods []Method) bool {
	return slices.ContainsFunc(methods, func(m Method) bool { return m == Bernoulli || m == Discrete || m == Counter })
}

// rowWidth returns how many numbers a row has.
func rowWidth(timers []timer) int {
	n := 0
	for _, t := range timers {
		n += t.columns()
	}
	return n
}
