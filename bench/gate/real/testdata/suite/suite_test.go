package suite

import (
	"crypto/sha256"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
)

// How often a benchmark repeats its work in an iteration.
const roundsSum = 400

const roundsHash = 40

const roundsSort = 40

const roundsDecode = 40

const roundsSplit = 100

var (
	sink    int
	bytes   = []byte(strings.Repeat("some text to hash, ", 50))
	decoded struct {
		Name   string
		Values []int
	}
)

func BenchmarkSum(b *testing.B) {
	for range b.N {
		for range roundsSum {
			sink += int(crc32.ChecksumIEEE(bytes[:100]))
		}
	}
}

func BenchmarkHash(b *testing.B) {
	for range b.N {
		for range roundsHash {
			sum := sha256.Sum256(bytes)
			sink += int(sum[0])
		}
	}
}

func BenchmarkSort(b *testing.B) {
	numbers := make([]int, 200)
	for range b.N {
		for range roundsSort {
			for i := range numbers {
				numbers[i] = i * 7919 % 211
			}
			slices.Sort(numbers)
			sink += numbers[0]
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(`{"Name": "a name", "Values": [1, 2, 3, 4, 5, 6, 7, 8]}`)
	for range b.N {
		for range roundsDecode {
			if err := json.Unmarshal(text, &decoded); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("a line of words\n", 20)
	for range b.N {
		for range roundsSplit {
			sink += len(strings.Split(text, "\n"))
		}
	}
}
