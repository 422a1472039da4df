package slowclock_test

import (
	"context"
	"math"
	"testing"
	"time"

	"chronoscope/slowclock"
	"chronoscope/stats"
)

// Lambert 2008, table 1: a duration of 10 µs by a clock of 1 ms. The table prints trials with two
// digits, and times with two or three.
func TestTable1(t *testing.T) {
	const second, hour, day, year = 1e9, 3600e9, 86400e9, 365.25 * 86400e9
	for i, want := range []struct {
		epsilonNs, trials, lasts, within float64
	}{
		{1e4, 3.8e2, 0.0038 * second, 0.00005 * second},
		{1e3, 3.8e4, 0.38 * second, 0.005 * second},
		{1e2, 3.8e6, 38 * second, 0.5 * second},
		{1e1, 3.8e8, 1.05 * hour, 0.01 * hour},
		{1e0, 3.8e10, 4.4 * day, 0.05 * day},
		{1e-1, 3.8e12, 1.2 * year, 0.05 * year},
	} {
		rows := slowclock.MakePlan(1e4, 1e6, 6, slowclock.Costs{})
		got := rows[i]
		if got.Digits != i+1 || math.Abs(got.EpsilonNs/want.epsilonNs-1) > 1e-9 {
			t.Errorf("digits %d: ± %v, want ± %v", got.Digits, got.EpsilonNs, want.epsilonNs)
		}
		if math.Abs(got.Trials.Value()/want.trials-1) > 0.05/3.8 {
			t.Errorf("digits %d: %v trials, want %v", got.Digits, got.Trials, want.trials)
		}
		if math.Abs(got.SourceNs.Value()-want.lasts) > want.within {
			t.Errorf("digits %d: %v ns, want %v", got.Digits, got.SourceNs, want.lasts)
		}
		if got.BernoulliNs != got.SourceNs || got.CounterNs.Known() {
			t.Errorf("digits %d: without costs and counter %+v", got.Digits, got)
		}
	}
}

// Every trial of an event of a tick or more sees a tick, so that there is no plan.
func TestNoTrialsOfLongEvents(t *testing.T) {
	for _, durationNs := range []float64{1e6, 1.5e6, 3e6, 0, -1, math.NaN()} {
		if n := slowclock.Trials(durationNs, 1e6, 1e3); !math.IsNaN(n) {
			t.Errorf("%v ns: %v trials", durationNs, n)
		}
	}
	row := slowclock.MakePlan(2e6, 1e6, 1, slowclock.Costs{})[0]
	if row.BernoulliNs.Known() || row.SourceNs.Known() || !row.DiscreteNs.Known() {
		t.Errorf("%+v", row)
	}
}

// An interval that is ten times narrower takes a hundred times as long.
func TestPlanOfCounter(t *testing.T) {
	rows := slowclock.MakePlan(1e4, 1e6, 4, slowclock.Costs{CounterNs: 0.5e9, CounterHalfNs: 50})
	for i, want := range []float64{0.06e9, 0.06e9, 0.125e9, 12.5e9} {
		if got := rows[i].CounterNs.Value(); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d digits: %v ns, want %v", i+1, got, want)
		}
	}
}

// In the time that the plan gives for discrete trials, their interval becomes as narrow as planned.
func TestPlanOfDiscreteTrials(t *testing.T) {
	const digits = 2
	var ratios []float64
	for seed := range uint64(60) {
		c := conditions{eventFrom: 0.01, eventTo: 0.2, jitter: 0.1, dither: true}
		b := c.bench(seed)
		tick := b.lab.Clock.TickNs
		costs := slowclock.Costs{OverheadNs: b.costNs, BetweenNs: b.costNs, Dither: true}
		row := slowclock.MakePlan(b.truthNs, tick, digits, costs)[digits-1]
		const preparation = 15 // in ticks
		results, err := b.lab.Bernoulli(context.Background(), slowclock.Plan{Duration: time.Duration(row.DiscreteNs.Value() + preparation*tick)})
		if err != nil {
			t.Fatal(err)
		}
		ratios = append(ratios, results[1].Estimate.HalfWidth()/row.EpsilonNs)
	}
	if middle := stats.Median(ratios); middle < 0.9 || middle > 1.1 {
		t.Errorf("the interval is %.2f times as wide as planned", middle)
	} else {
		t.Logf("%.2f times as wide as planned", middle)
	}
}
