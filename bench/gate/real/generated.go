package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// work is a kind of work that a generated benchmark repeats.
type work struct {
	name, setUp, body string
	ns                float64 // about what it takes
}

var works = []work{
	{"Sum", "", "sink += int(crc32.ChecksumIEEE(text[:500]))", 30},
	{"Hash", "", "sum := sha256.Sum256(text[:64]); sink += int(sum[0])", 80},
	{"Sort", "var numbers [12]int", "for i := range numbers { numbers[i] = i * 7919 % 211 }; slices.Sort(numbers[:]); sink += numbers[0]", 50},
	{"Parse", "", "n, _ := strconv.Atoi(\"123456789\"); sink += n", 10},
	{"Split", "", "sink += len(strings.Split(\"some words in a line\", \" \"))", 70},
}

// shortestNs and longestNs are about the times of an iteration of the shortest and the longest generated benchmark.
const shortestNs, longestNs = 1e3, 10e6

// generate writes a module of n benchmarks, of each kind of work in turn. Their times lie between shortestNs and longestNs, at
// equal ratios.
func generate(dir string, n int) error {
	var b strings.Builder
	b.WriteString("package suite\n\nimport (\n\t\"crypto/sha256\"\n\t\"hash/crc32\"\n\t\"slices\"\n\t\"strconv\"\n\t\"strings\"\n\t\"testing\"\n)\n\nvar (\n\tsink int\n\ttext = []byte(strings.Repeat(\"some text, \", 50))\n)\n")
	for i := range n {
		w := works[i%len(works)]
		ns := shortestNs * math.Pow(longestNs/shortestNs, float64(i)/float64(max(1, n-1)))
		name := fmt.Sprintf("%s%d", w.name, i+1)
		fmt.Fprintf(&b, "\nconst rounds%s = %.0f\n\n", name, ns/w.ns)
		fmt.Fprintf(&b, "func Benchmark%s(b *testing.B) {\n\t%s\n\tfor range b.N {\n\t\tfor range rounds%s {\n\t\t\t%s\n\t\t}\n\t}\n}\n", name, w.setUp, name, w.body)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/suite\n\ngo 1.26\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "suite_test.go"), []byte(b.String()), 0o644)
}
