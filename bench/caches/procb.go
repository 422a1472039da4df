package main

// procB does the same as procA. It lies in another file, far from procA: a processor that fetches procA's code
// also fetches what follows.
//
//go:noinline
func procB(b *eight) { *b = eight{} }

// readB does the same as readA.
//
//go:noinline
func readB(b *eight) {
	for i := range b {
		b[0] += b[i]
	}
}
