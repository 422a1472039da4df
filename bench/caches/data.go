package main

// eight is a piece of data, eight doubles: one cache line on most processors.
type eight [8]float64

// procA sets eight doubles to zero, as Bryant's does. Like procB it lies in a file of its own, far from the
// code that measures: a processor that fetches code also fetches what follows.
//
//go:noinline
func procA(b *eight) { *b = eight{} }

// readA adds eight doubles, so that it has to wait for them.
//
//go:noinline
func readA(b *eight) {
	for i := range b {
		b[0] += b[i]
	}
}
