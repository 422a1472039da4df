package repeat_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chronoscope/repeat"
)

func TestEnded(t *testing.T) {
	l := repeat.Limits{Least: 6, Most: 100, Time: time.Second}
	for _, c := range []struct {
		n     int
		spent time.Duration
		ended bool
	}{
		{0, time.Hour, false}, // one is always made
		{1, 2 * time.Second, false},
		{1, 2*time.Second + 1, true},
		{5, 1500 * time.Millisecond, false},
		{6, 1500 * time.Millisecond, true},
		{6, time.Second, false},
		{99, 0, false},
		{100, 0, true},
	} {
		if got := l.Ended(c.n, c.spent); got != c.ended {
			t.Errorf("after %d measurements in %v: ended %v, expected %v", c.n, c.spent, got, c.ended)
		}
	}
	if l.Most = 0; l.Ended(1e6, 0) {
		t.Error("it ends though no number is the largest")
	}
}

func TestDue(t *testing.T) {
	dueOf := func(least int, growth float64) (due []int) {
		for n := range 65 {
			if repeat.Due(n, least, growth) {
				due = append(due, n)
			}
		}
		return due
	}
	for _, c := range []struct {
		least  int
		growth float64
		want   []int
	}{
		{6, 1.5, []int{6, 9, 14, 21, 32, 48}},
		{8, 2, []int{8, 16, 32, 64}},
		{1, 1.5, []int{1, 2, 3, 5, 8, 12, 18, 27, 41, 62}},
	} {
		if diff := cmp.Diff(c.want, dueOf(c.least, c.growth)); diff != "" {
			t.Errorf("from %d by %v: %s", c.least, c.growth, diff)
		}
	}
	if repeat.Due(0, 0, 1.5) || !repeat.Due(1, 0, 1.5) {
		t.Error("the first look is at the first measurement")
	}
}

func TestEnough(t *testing.T) {
	l := repeat.Limits{Least: 6, Time: time.Second, Precision: 0.01}
	asked := 0
	width := func(w float64) func() float64 { return func() float64 { asked++; return w } }
	if l.Enough(5, 0, width(0)) || l.Enough(7, 0, width(0)) {
		t.Error("enough where there is no look")
	}
	if !l.Enough(7, 2*time.Second, width(1)) {
		t.Error("it goes on though the time is up")
	}
	if asked != 0 {
		t.Errorf("the width was asked %d times where it does not matter", asked)
	}
	if !l.Enough(6, 0, width(0.01)) || l.Enough(6, 0, width(0.011)) || l.Enough(6, 0, width(math.NaN())) {
		t.Error("the width does not decide at a look")
	}
}

// A sequence that stops when its interval is narrow covers the truth about as often as the interval of
// a fixed number does, because there are few looks. It doesn't where it is looked at all the time. The
// interval is the mean and 1.96 standard errors.
func TestFewLooksKeepCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const sequences = 4000
	covered := func(due func(n int) bool) float64 {
		n := 0
		for range sequences {
			var sum, squares float64
			for i := 1; i <= 400; i++ {
				x := rng.NormFloat64()
				sum, squares = sum+x, squares+x*x
				mean := sum / float64(i)
				deviation := math.Sqrt((squares - sum*mean) / float64(max(1, i-1)))
				half := 1.96 * deviation / math.Sqrt(float64(i))
				if i == 400 || i >= 20 && due(i) && half <= 0.25 {
					if math.Abs(mean) <= half {
						n++
					}
					break
				}
			}
		}
		return float64(n) / sequences
	}
	seldom := covered(func(n int) bool { return repeat.Due(n, 20, repeat.UsualGrowth) })
	always := covered(func(int) bool { return true })
	if seldom < 0.93 || seldom <= always {
		t.Errorf("covered %.3f with few looks, %.3f with many: 0.95 was meant", seldom, always)
	}
}

// Each series is measured once a round, those of a group next to one another, and each comes first
// in about half of the rounds.
func TestInTurn(t *testing.T) {
	const rounds = 1000
	var seen []string
	left := rounds
	unfinished := func() [][]string {
		if left--; left < 0 {
			return nil
		}
		return [][]string{{"a", "b"}, {"c"}}
	}
	err := repeat.InTurn(rand.New(rand.NewPCG(3, 4)), unfinished, func(round int, s string) error {
		if len(seen)/3 != round {
			t.Fatalf("measurement %d is of round %d", len(seen), round)
		}
		seen = append(seen, s)
		return nil
	})
	if err != nil || len(seen) != 3*rounds {
		t.Fatalf("%d measurements, error %v", len(seen), err)
	}
	first := map[string]int{}
	for round := range slices.Chunk(seen, 3) {
		order := strings.Join(round, "")
		if !strings.Contains(order, "ab") && !strings.Contains(order, "ba") {
			t.Fatalf("a round is %q: a and b are a pair", order)
		}
		first[order]++
	}
	for _, order := range []string{"abc", "bac", "cab", "cba"} {
		if n := first[order]; n < 180 || n > 320 { // 250 are expected, with a standard deviation of 14
			t.Errorf("%d of %d rounds are in the order %s", n, rounds, order)
		}
	}
}

func TestInTurnEndsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	err := repeat.InTurn(rand.New(rand.NewPCG(5, 6)), func() [][]int { return repeat.Alone([]int{1, 2}) }, func(int, int) error {
		if n++; n == 3 {
			return broken
		}
		return nil
	})
	if err != broken || n != 3 {
		t.Errorf("error %v after %d measurements", err, n)
	}
}

// Two subjects are measured in turn until each is known within 1 %, or 50 measurements are made.
func Example() {
	limits := repeat.Limits{Least: 5, Most: 50, Time: time.Minute, Precision: 0.01}
	widths := map[string]float64{"steady": 0.02, "restless": 0.2} // after one measurement
	measured := map[string]int{}
	unfinished := func() [][]string {
		var busy []string
		for _, name := range []string{"steady", "restless"} {
			n := measured[name]
			if !limits.Enough(n, 0, func() float64 { return widths[name] / math.Sqrt(float64(n)) }) {
				busy = append(busy, name)
			}
		}
		return repeat.Alone(busy)
	}
	repeat.InTurn(rand.New(rand.NewPCG(1, 1)), unfinished, func(_ int, name string) error {
		measured[name]++
		return nil
	})
	fmt.Println(measured["steady"], measured["restless"])
	// Output: 5 50
}
