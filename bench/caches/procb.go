package main

// procB is the same as procA, in another file so that it lies far from it: a
// processor that fetches procA's code also fetches what follows.
//
//go:noinline
func procB(b *eight) { *b = eight{} }

// readB is the same as readA.
//
//go:noinline
func readB(b *eight) {
	for i := range b {
		b[0] += b[i]
	}
}
