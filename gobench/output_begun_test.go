package gobench

import "testing"

// A failure's report has GOMAXPROCS behind the name, or has not if that is 1: a name that ends with a number is then no
// other benchmark's.
func TestBegunName(t *testing.T) {
	begun := []string{"BenchmarkX/aes", "BenchmarkX/aes-128", "BenchmarkY"}
	for reported, want := range map[string]string{
		"BenchmarkX/aes-128": "BenchmarkX/aes-128", "BenchmarkX/aes-128-2": "BenchmarkX/aes-128", "BenchmarkX/aes-2": "BenchmarkX/aes",
		"BenchmarkY-16": "BenchmarkY", "BenchmarkY": "BenchmarkY", "BenchmarkZ-2": "BenchmarkZ-2",
	} {
		if got := begunName(begun, reported); got != want {
			t.Errorf("%s is taken for %s, want %s", reported, got, want)
		}
	}
}
