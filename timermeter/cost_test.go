package timermeter

import (
	"math"
	"slices"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// counter is a fine simulated counter on the machine, to time calls with.
func counter(m *clocktest.Machine) *clocktest.Clock {
	return &clocktest.Clock{Machine: m, QuantumNs: 0.4, UnitNs: 0.4, Cost: clocktest.Constant(8)}
}

// frames are calls without the calls.
func frames(calls func(batch int, durations []int64)) func(batch int, durations []int64) {
	return func(_ int, durations []int64) { calls(0, durations) }
}

// costOf times a simulated clock as a ranking would.
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

// The median cost comes out whatever the clock's quantum is: by its own
// differences where they show it, by batches where the quantum is about as
// large, by the reference where it's larger. One call in a hundred takes up to
// a hundred times as long and moves nothing.
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

// The timer itself may be coarser than the call, as a TSC that moves by 10 ns
// is for a call of 5.
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

// Spread is the share of calls within one accuracy of the median: with three
// steps of 20, 22 and 30 ns, known weights and a quantum of 1 ns, only the
// calls about the median count. Consecutive readings lie one call apart, and
// where within its call each was taken is uniform, so that the difference of
// two readings is u + (1-v) calls: the share within 1 ns of the median is
// enumerated here, not taken from the code.
func TestSpreadOfKnownCosts(t *testing.T) {
	m := clocktest.NewMachine(3)
	c := &clocktest.Clock{Machine: m, QuantumNs: 1, UnitNs: 1, Cost: clocktest.Constant(50)}
	got := sampled(c, counter(m), 40).Spread()
	// The difference of two readings of calls of 50 ns is 50 x (1 - u + v), u and
	// v uniform: triangular on 0 to 100. Rounding both readings down to 1 ns adds
	// a triangular error of up to 1 ns; within one of 50 are then about
	// (density 1/50 per ns) x 3 whole values = 6 %, less what the tips lose.
	if math.Abs(got-0.06) > 0.01 {
		t.Errorf("spread %.4f, want about 0.06", got)
	}
	coarse := &clocktest.Clock{Machine: m, QuantumNs: 4e6, UnitNs: 1, Cost: clocktest.Jittered(5, 0.5)}
	if got := sampled(coarse, counter(m), 40).Spread(); got != 1 {
		t.Errorf("spread of a clock far coarser than its cost: %v, want 1", got)
	}
}

// The family of the costs is that of the simulated distribution, as far as the
// clock shows it: timed by a fine timer, whose own readings blur each call by
// their own place within their call.
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

// The median of values that were rounded at random places is between the steps: of a
// duration of 7.25 steps three readings in four show 7 and one shows 8.
func TestMedianOfSteps(t *testing.T) {
	for _, c := range []struct {
		values []float64
		step   float64
		want   float64
	}{
		{[]float64{7, 7, 7, 7}, 1, 7},
		{[]float64{7, 7, 8, 8}, 1, 7.5},
		{[]float64{7, 7, 7, 8}, 1, 7 - 0.5 + 0.5/0.75}, // within 7's cell, from 6.5 to 7.5
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
