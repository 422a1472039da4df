package program

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"chronoscope/stats"
)

// noisyTexts are values about a centre, whose logarithms are normally distributed with this deviation.
func noisyTexts(rng *rand.Rand, centre, deviation float64) (all []string) {
	for range 997 {
		all = append(all, strconv.FormatFloat(centre*math.Exp(deviation*rng.NormFloat64()), 'g', 8, 64))
	}
	return all
}

// gatedPlan compares the second and third command with the first in "n", which may be worse by limit. Every run takes
// equally long, so that the times are known after the fewest runs.
func gatedPlan(limit float64, mostRuns int) Plan {
	gate := stats.Gate{Limit: math.NaN(), Metrics: map[string]float64{"n": limit}, FalseAlarms: stats.FalseAlarms}
	return Plan{Precision: 0.01, MinRuns: gate.LooksFor(2).First, MaxRuns: mostRuns, MaxTime: time.Hour, Gated: &Gated{gate, [][2]int{{0, 1}, {0, 2}}}}
}

// sidesOf judges as the plan's gate does.
func sidesOf(plan Plan, results []*Result) (sides []stats.Side, runs []int) {
	var all []Comparison
	for _, pair := range plan.Gated.Pairs {
		a, b := results[pair[0]], results[pair[1]]
		all = append(all, Compare(a, b, 0.02, 1), CompareMetric(a, b, 0, 0.02, 1))
	}
	for _, p := range Judge(all, plan.Gated.Gate) {
		if p.Metric != "" {
			sides = append(sides, p.Joint.Side)
		}
	}
	for _, r := range results {
		runs = append(runs, len(r.Runs))
	}
	return sides, runs
}

// A gate that is undecided after the fewest runs goes on until it is decided, with the commands that this
// takes alone: the second is worse by 30 % at once, the third by 4 % amid noise of 6 %.
func TestAnUndecidedGateIsMeasuredOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	plan := gatedPlan(0.01, 900)
	texts := [][]string{noisyTexts(rng, 100, 0.06), noisyTexts(rng, 130, 0.06), noisyTexts(rng, 104, 0.06)}
	sides, runs := sidesOf(plan, measuredAs(t, plan, 0, []Metric{written("n")}, texts...))
	if sides[0] != stats.Beyond || sides[1] != stats.Beyond {
		t.Errorf("%v", sides)
	}
	if few := 2 * plan.MinRuns; runs[1] > few || runs[2] <= few || runs[0] != runs[2] || runs[2] >= plan.MaxRuns {
		t.Errorf("%v runs", runs)
	}
	if _, runs := sidesOf(plan, measuredAs(t, plan, 0, []Metric{written("n")}, texts[0], texts[0], texts[0])); runs[0] > 2*plan.MinRuns {
		t.Errorf("%v runs of equal commands", runs)
	}
}

// What can't be decided ends: with the runs of the plan, however narrow its interval is, or at once where runs lack
// the metric.
func TestAnUndecidableGateEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	near := [][]string{noisyTexts(rng, 100, 0.06), noisyTexts(rng, 101, 0.06), noisyTexts(rng, 101, 0.06)}
	for _, c := range []struct {
		name        string
		most        int
		texts       [][]string
		least, upTo int
	}{
		{"few runs", 60, near, 60, 62},
		{"a narrow interval", 600, [][]string{noisyTexts(rng, 100, 0.02), noisyTexts(rng, 101, 0.02), noisyTexts(rng, 101, 0.02)}, 600, 602},
		{"lacking", 900, [][]string{near[0], {"x"}, {"x"}}, 10, 40},
	} {
		_, runs := sidesOf(gatedPlan(0.01, c.most), measuredAs(t, gatedPlan(0.01, c.most), 0, []Metric{written("n")}, c.texts...))
		if runs[0] < c.least || runs[0] > c.upTo {
			t.Errorf("%s: %v runs, want %d to %d", c.name, runs, c.least, c.upTo)
		}
	}
}

// Looking again and again raises no more than the false alarms that were asked for: 1 of 100 suites, so that
// 4 or more of 60 come by chance in less than 1 of 200.
func TestMeasuringOnRaisesNoFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	alarms := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		plan := gatedPlan(0.02, 120)
		texts := [][]string{noisyTexts(rng, 100, 0.05), noisyTexts(rng, 102, 0.05), noisyTexts(rng, 102, 0.05)}
		sides, _ := sidesOf(plan, measuredAs(t, plan, 0, []Metric{written("n")}, texts...))
		if sides[0] == stats.Beyond || sides[1] == stats.Beyond {
			alarms++
		}
	}
	if alarms > 3 {
		t.Errorf("%d of 60 suites without a change beyond the limit raise an alarm", alarms)
	}
}
