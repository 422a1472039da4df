package validate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Work is what is measured: a number of rounds of one piece of code.
type Work string

const (
	// Chain is a chain of dependent multiplications: its time depends on the core's rate alone.
	Chain Work = "chain"
	// Ints writes an array of 2,048 integers and reads it back, as the source does
	// (Bryant 2003, section 9.4.3).
	Ints Work = "ints"
	// Traced is the chain with a reading of the counter after every short step, which shows
	// interrupts in the same run that is measured.
	Traced Work = "traced"
)

// Works lists all kinds of work.
var Works = []Work{Chain, Ints, Traced}

// shortestTraced is long enough that timer interrupts certainly occur.
const shortestTraced = 10 * time.Millisecond

// tells reports whether a cell of this work is worth measuring. Traced work shows what interrupts
// take, which competitors would hide, and which needs some time to occur.
func (w Work) tells(load int, d time.Duration) bool {
	return w != Traced || load == 1 && d >= shortestTraced
}

func (w Work) do(rounds int) {
	switch w {
	case Chain, Traced:
		multiply(rounds)
	case Ints:
		writeAndRead(rounds)
	}
}

// ParseWork reads the name of a kind of work.
func ParseWork(name string) (Work, error) {
	return called("work is", name, Works)
}

// called returns the element with the given name. The error lists the names that exist.
func called[T any](what, name string, all []T) (none T, err error) {
	var names []string
	for _, x := range all {
		names = append(names, fmt.Sprint(x))
	}
	if i := slices.Index(names, name); i >= 0 {
		return all[i], nil
	}
	return none, fmt.Errorf("no %s called %q: choose from %s", what, name, strings.Join(names, ", "))
}

// The chain starts with chainStart, and each round multiplies by chainFactor.
const (
	chainStart  = 3
	chainFactor = 6364136223846793005
)

// factor is a variable, so that it stays in a register. Some compilers build a constant from four
// parts in each round, which can take longer than the multiplication.
var factor uint64 = chainFactor

// link is the product so far. Each call continues with it, so that a processor can't work on two
// calls at once.
var link uint64 = chainStart

//go:noinline
func multiply(rounds int) {
	x, by := link, factor
	for range rounds {
		x *= by
	}
	link = x
}

var (
	block [2048]int32
	total int32
)

// writeAndRead must not range over the block's values: that would copy the block to the stack, and the time would
// depend on where the stack is. The same rounds then took 5 % longer from one caller than from another (Zen 4).
// With such a copy go:nosplit does not compile.
//
//go:noinline
//go:nosplit
func writeAndRead(rounds int) {
	sum := total
	for range rounds {
		for i := range block {
			block[i] = sum
		}
		for i := range block {
			sum += block[i]
		}
	}
	total = sum
}
