package memo

import (
	"math/rand/v2"
	"testing"
)

// keys is how many results the cache holds in the end: some 0.5 s of misses.
const keys = 5000

func slow(key int) (sum float64) {
	for i := range 100_000 {
		sum += 1 / float64(i+key+1)
	}
	return sum
}

// BenchmarkMemo computes each result once: go test, whose last run takes a second, says 30 ns,
// and runs of few iterations say 100 µs.
func BenchmarkMemo(b *testing.B) {
	memo := map[int]float64{}
	for range b.N {
		key := rand.IntN(keys)
		if _, ok := memo[key]; !ok {
			memo[key] = slow(key)
		}
	}
}
