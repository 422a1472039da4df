package clocktest

import (
	"math"
	"os"
	"strconv"
	"testing"
)

// Cases returns how many of n cases a simulation goes through: half of them in make test, a tenth
// in short tests, and CHRONOSCOPE_CASES times n in make test-long.
func Cases(t testing.TB, n int) int {
	t.Helper()
	if testing.Short() {
		return max(1, n/10)
	}
	text := os.Getenv("CHRONOSCOPE_CASES")
	if text == "" {
		return (n + 1) / 2
	}
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 {
		t.Fatalf("CHRONOSCOPE_CASES: %q is not a count: give a whole number, 1 or more", text)
	}
	return times * n
}

// FewestCovered returns how many of n intervals of 95 % must hold the truth: two standard
// deviations less than the mean, which a correct method reaches nearly always.
func FewestCovered(n int) int {
	return int(math.Ceil(0.95*float64(n) - 2*math.Sqrt(0.05*0.95*float64(n))))
}
