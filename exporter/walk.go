package exporter

import "math/rand/v2"

// walk is a chain of loads from memory, each from the address that the previous one returned.
type walk struct {
	next []uint32
	at   uint32
}

const (
	walkBytes     = 8 << 20
	walkLineBytes = 64
	wordsInLine   = walkLineBytes / 4
)

// newWalk returns a walk that visits every cache line once before it returns to the first (Sattolo's
// algorithm). The order is the same on every machine.
func newWalk() *walk {
	order := make([]uint32, walkBytes/walkLineBytes)
	for i := range order {
		order[i] = uint32(i)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := len(order) - 1; i > 0; i-- {
		j := rng.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	w := &walk{next: make([]uint32, walkBytes/4)}
	for i, line := range order {
		w.next[i*wordsInLine] = line * wordsInLine
	}
	return w
}

// steps makes n loads.
func (w *walk) steps(n int) {
	at := w.at
	for range n {
		at = w.next[at]
	}
	w.at = at
}
