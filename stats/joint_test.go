package stats_test

import (
	"math"
	"testing"

	"chronoscope/stats"
)

// The probabilities are those of throws of a coin: all of n samples lie above the median with
// probability 1/2^n, and at least all but one with probability (n + 1)/2^n.
func TestPairsForJoint(t *testing.T) {
	for comparisons, want := range map[int]int{
		0:  11, // 12/2048 is 0.59 %, 11/1024 is 1.07 %
		1:  11,
		4:  13, // 14/8192 is 0.17 %, 13/4096 is 0.32 %; 0.25 % is allowed
		40: 17, // 18/131072 is 0.014 %, 17/65536 is 0.026 %; 0.025 % is allowed
	} {
		if got := stats.PairsForJoint(comparisons); got != want {
			t.Errorf("%d comparisons: %d pairs, want %d", comparisons, got, want)
		}
	}
}

func TestJointBounds(t *testing.T) {
	var low, high []float64
	for i := range 13 {
		low, high = append(low, float64(12-i)), append(high, float64(100+i))
	}
	if j := stats.JointBounds(low, high, 4); j.Lo != 1 || j.Hi != 111 || j.Comparisons != 4 || j.FalseAlarms != 0.01 {
		t.Errorf("%+v: the second from below and from above are wanted", j)
	}
	if j := stats.JointBounds(low[:8], high[:8], 4); !math.IsNaN(j.Lo) || !math.IsNaN(j.Hi) { // 1/256 is 0.39 %
		t.Errorf("%+v from eight pairs", j)
	}
}

// The expected quantiles of the normal distribution and of Student's with 5 degrees of freedom are from
// R: qnorm and qt.
func TestJointOf(t *testing.T) {
	for _, c := range []struct {
		n, comparisons int
		wider          float64
	}{
		{0, 1, 2.326348 / 1.959964},
		{1, 4, 2.807034 / 1.959964},
		{6, 1, 3.364930 / 2.570582},
		{6, 4, 4.773341 / 2.570582},
	} {
		e := stats.Estimate{Value: 2, Lo: 2 * math.Exp(-0.1), Hi: 2 * math.Exp(0.2), N: c.n}
		j := stats.JointOf(e, c.comparisons)
		if lo, hi := 2*math.Exp(-0.1*c.wider), 2*math.Exp(0.2*c.wider); math.Abs(j.Lo/lo-1) > 1e-5 || math.Abs(j.Hi/hi-1) > 1e-5 {
			t.Errorf("%+v: %g to %g, want %g to %g", c, j.Lo, j.Hi, lo, hi)
		}
	}
	if j := stats.JointOf(stats.Estimate{Value: 2, Lo: math.NaN(), Hi: math.NaN()}, 1); !math.IsNaN(j.Lo) {
		t.Errorf("%+v of no interval", j)
	}
}
