package timermeter

import (
	"math"
	"slices"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// counter returns a fine simulated counter on the machine, to time calls with.
func counter(m *clocktest.Machine) *clocktest.Clock {
	return &clocktest.Clock{Machine: m, QuantumNs: 0.4, UnitNs: 0.4, Cost: clocktest.Constant(8)}
}

// frames returns a function that does what calls does, but without the calls.
func frames(calls func(batch int, durations []int64)) func(batch int, durations []int64) {
	return func(_ int, durations []int64) { calls(0, durations) }
}

// sampled times the calls of a simulated clock as a ranking would.
func sampled(c, timer *clocktest.Clock, chunks int) *CostSampler {
	subject := Subject{
		UnitNs: c.UnitNs, Chain: c.Chain, Calls: c.Calls(timer), Frames: frames(c.Calls(timer)),
		Reference: Reference{UnitNs: timer.UnitNs, AccuracyNs: timer.QuantumNs},
	}
	s := NewCostSampler(subject, c.QuantumNs)
	for range chunks {
		s.Chunk()
	}
	return s
}

func costOf(c, timer *clocktest.Clock, chunks int) Cost { return sampled(c, timer, chunks).Cost() }

// The median cost is found whatever the clock's quantum is: by the clock's own differences if they
// show it, by batches if the quantum is about as long as a call, and by the reference if it is
// longer. One call in a hundred takes up to a hundred times as long, which changes nothing.
func TestCostInEveryRegime(t *testing.T) {
	for _, costNs := range []float64{6, 40, 300, 20e3} {
		for _, quantumNs := range []float64{0.4, 1, 10, 41.6, 1e3, 4e6} {
			for seed := range uint64(4) {
				m := clocktest.NewMachine(seed)
				c := &clocktest.Clock{
					Machine: m, QuantumNs: quantumNs, UnitNs: quantumNs,
					Cost: clocktest.WithOutliers(clocktest.Jittered(costNs, 0.02), 0.01, 100),
				}
				got := costOf(c, counter(m), 24)
				if !(math.Abs(got.MedianNs.Value()/costNs-1) <= 0.05) {
					t.Errorf("cost %v ns, quantum %v ns, seed %d: median %v ns", costNs, quantumNs, seed, got.MedianNs)
				}
				if !slices.IsSorted([]float64{got.MinNs.Value(), got.MedianNs.Value(), got.P95Ns.Value(), got.P99Ns.Value(), got.MaxNs.Value()}) {
					t.Errorf("cost %v ns, quantum %v ns, seed %d: out of order: %+v", costNs, quantumNs, seed, got)
				}
				if got.Samples != 24*callsPerChunk {
					t.Errorf("%d calls, want %d", got.Samples, 24*callsPerChunk)
				}
			}
		}
	}
}

// The timer's steps may be longer than a call: for example a TSC with steps of 10 ns for a call
// of 5 ns.
func TestCostWithCoarseTimer(t *testing.T) {
	for seed := range uint64(20) {
		m := clocktest.NewMachine(seed)
		timer := &clocktest.Clock{Machine: m, QuantumNs: 10, UnitNs: 0.4, Cost: clocktest.Jittered(8, 0.05)}
		c := &clocktest.Clock{Machine: m, QuantumNs: 4e6, UnitNs: 1, Cost: clocktest.Jittered(5, 0.05)}
		if got := costOf(c, timer, 24); !(math.Abs(got.MedianNs.Value()/5-1) <= 0.1) {
			t.Errorf("seed %d: median %v ns, want 5", seed, got.MedianNs)
		}
	}
}

// Spread is the share of calls within one accuracy of the median, here for calls of 50 ns and a
// quantum of 1 ns. Consecutive readings are one call apart, and each is taken at a uniformly
// distributed moment within its call. The expected share is computed by hand below, not taken from
// the code.
func TestSpreadOfKnownCosts(t *testing.T) {
	m := clocktest.NewMachine(3)
	c := &clocktest.Clock{Machine: m, QuantumNs: 1, UnitNs: 1, Cost: clocktest.Constant(50)}
	got := sampled(c, counter(m), 40).Spread()
	// The difference of two readings is 50 x (1 - u + v) ns, where u and v are uniform in
	// [0, 1]: it is triangularly distributed from 0 to 100. Rounding both readings down to 1 ns
	// adds a triangular error of up to 1 ns. The density at 50 is 1/50 per ns, and 3 whole values
	// are within one of 50, so the share is about 6 %, minus a little because the density has its
	// peak there.
	if math.Abs(got-0.06) > 0.01 {
		t.Errorf("spread %.4f, want about 0.06", got)
	}
	coarse := &clocktest.Clock{Machine: m, QuantumNs: 4e6, UnitNs: 1, Cost: clocktest.Jittered(5, 0.5)}
	if got := sampled(coarse, counter(m), 40).Spread(); got != 1 {
		t.Errorf("spread of a clock far coarser than its cost: %v, want 1", got)
	}
}

// The family of the costs is that of the simulated distribution, as far as the fine timer shows
// it. Each reading of the timer is taken at a random moment within its call, which blurs the
// costs.
func TestFamilyOfCosts(t *testing.T) {
	m := clocktest.NewMachine(1)
	timer := &clocktest.Clock{Machine: m, QuantumNs: 0.4, UnitNs: 0.4, Cost: clocktest.Constant(0.4)}
	for _, c := range []struct {
		cost clocktest.Distribution
		want string
	}{
		{clocktest.Steps([]float64{200, 260, 400}, []float64{6, 3, 1}), stats.FamilySteps},
		{clocktest.Jittered(200, 0.5), stats.FamilyLogNormal},
	} {
		subject := &clocktest.Clock{Machine: m, QuantumNs: 4e6, UnitNs: 1, Cost: c.cost}
		if got := costOf(subject, timer, 24).Family; got == nil || *got != c.want {
			t.Errorf("family %v, want %q", got, c.want)
		}
	}
}

// The median of values that were rounded at random places lies between the steps: for a duration of
// 7.25 steps, three readings in four show 7 and one shows 8.
func TestMedianOfSteps(t *testing.T) {
	for _, c := range []struct {
		values []float64
		step   float64
		want   float64
	}{
		{[]float64{7, 7, 7, 7}, 1, 7},
		{[]float64{7, 7, 8, 8}, 1, 7.5},
		{[]float64{7, 7, 7, 8}, 1, 7 - 0.5 + 0.5/0.75}, // within the cell of 7, from 6.5 to 7.5
		{[]float64{70, 70, 70, 80}, 10, 70 - 5 + 5/0.75},
		{[]float64{1, 2, 3, 4, 100}, 0, 3},
		{[]float64{1, 2, 3, 4, 100}, 1e-9, 3},
		{nil, 1, math.NaN()},
	} {
		if got := medianOfSteps(c.values, c.step); math.Abs(got-c.want) > 1e-6 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%v in steps of %v: %v, want %v", c.values, c.step, got, c.want)
		}
	}
}
