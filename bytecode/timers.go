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

// columns are how many numbers of a row it fills: the sum of its differences, its last
// reading, and where they are counted the ones.
func (t timer) columns() int {
	if t.ones {
		return 3
	}
	return 2
}

// settlingNops stand before the readings that begin a trial and before those that end it,
// whatever the sequence is. A processor predicts a jump by the jumps before it, and the
// interpreter jumps at each instruction: after a long sequence it mispredicts what reads
// the timers, and after none it doesn't. The second reading of the outer of two timers then
// comes some 10 ns later, which the empty sequence does not show. After nops, as many as a
// predictor looks back on (it forgets between 100 and 200 jumps on a Zen 5), all readings
// find the same.
//
// They also keep the two readings of the counter some 200 ns apart. A reading takes the
// count from the cache of another core; one that follows too closely would find it in its
// own, and take less.
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

// readsCount reads the counter. The volatile store before it keeps the processor from
// reading ahead of what comes first: it has to be done before any later reading.
func readsCount(c *classfile.Code) {
	c.Do(classfile.Iconst0)
	c.Refer(classfile.Putstatic, barrierField)
	c.Refer(classfile.Getstatic, countField)
}

// timersOf are those that the methods need, the outermost first: the costlier it is to
// read one, the further out it stands.
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

// readsMillis tells whether currentTimeMillis is among the timers: trials are counted by
// it, and the counter's rate is found between its edges.
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
