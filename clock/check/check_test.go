package check

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		ticks []int64
		want  BackSteps
	}{
		{nil, BackSteps{}},
		{[]int64{5}, BackSteps{}},
		{[]int64{1, 1, 2, 3}, BackSteps{Readings: 3}},
		{[]int64{1, 5, 3, 4, 0}, BackSteps{Readings: 4, Count: 2, Worst: 4}},
	} {
		if got := Order(c.ticks); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.ticks, got, c.want)
		}
	}
}

// The thread whose clock lags by 10 steps back at each of its turns, although the readings of
// each single thread only rise.
func TestAcrossAndWithinThreads(t *testing.T) {
	var handed []Handed
	for i := range int64(100) {
		handed = append(handed, Handed{0, 3 * i}, Handed{1, 3*i + 1 - 10})
	}
	if got, want := AcrossThreads(handed), (BackSteps{Readings: 199, Count: 100, Worst: 9}); got != want {
		t.Errorf("across: %+v, want %+v", got, want)
	}
	if got, want := WithinThreads(handed), (BackSteps{Readings: 198}); got != want {
		t.Errorf("within: %+v, want %+v", got, want)
	}
	handed[100].Ticks = 0
	if got := WithinThreads(handed); got.Count != 1 {
		t.Errorf("within, with one step back: %+v", got)
	}
}

// pairsOf reads the clock shown n times at random moments within a second, with errors of up to
// errorNs.
func pairsOf(seed uint64, n int, errorNs float64, shown func(ns float64) float64) []Pair {
	rng := rand.New(rand.NewPCG(seed, 1))
	var pairs []Pair
	for range n {
		t := 1e9 * rng.Float64()
		pairs = append(pairs, Pair{ReferenceNs: t, ClockNs: shown(t) + errorNs*(2*rng.Float64()-1), ErrorNs: errorNs})
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return int(a.ReferenceNs - b.ReferenceNs) })
	return pairs
}

func TestKeepsRate(t *testing.T) {
	for seed := range uint64(1000) {
		r := KeepsRate(pairsOf(seed, 60, 1000, func(t float64) float64 { return 1.25 * t }))
		if math.Abs(r.Ratio-1.25) > 1.25*r.Resolution || r.WorstDeviation > 2*r.Resolution {
			t.Fatalf("seed %d: a steady clock: %+v", seed, r)
		}
	}
	for name, shown := range map[string]func(float64) float64{
		"drift":      func(t float64) float64 { return t + 1e-3*t*t/1e9 },
		"jump":       func(t float64) float64 { return t + 1e6*math.Round(t/1e9) },
		"stuck":      func(t float64) float64 { return math.Min(t, 9e8) },
		"slows down": func(t float64) float64 { return t - 1e-2*math.Max(0, t-5e8) },
	} {
		for seed := range uint64(100) {
			r := KeepsRate(pairsOf(seed, 60, 1000, shown))
			if !(r.WorstDeviation > 3*r.Resolution) {
				t.Errorf("%s, seed %d: %+v, want a deviation beyond the resolution", name, seed, r)
			}
		}
	}
}

// Steps finds the size and the direction of a step between two pairs if it exceeds what the
// pairs' errors and a slewed rate explain.
func TestSteps(t *testing.T) {
	for seed := range uint64(500) {
		for _, step := range []float64{0, -50e3, 80e3} {
			pairs := pairsOf(seed, 60, 1000, func(t float64) float64 {
				if t > 5e8 {
					return t*(1+100e-6) + step
				}
				return t * (1 + 100e-6)
			})
			count, got := Steps(pairs, 600e-6)
			if step == 0 && count != 0 || count > 1 || count == 1 && got*step <= 0 {
				t.Errorf("seed %d: a step of %v ns is found as %v", seed, step, got)
			}
			if math.Abs(got) > math.Abs(step)+2*1000+100e-6*1e9 {
				t.Errorf("seed %d: a step of %v ns is found as %v", seed, step, got)
			}
		}
	}
	pairs := []Pair{{0, 0, 10}, {1e6, 1e6, 10}, {2e6, 2e6 - 5e4, 10}, {3e6, 3e6 - 5e4, 10}}
	if count, got := Steps(pairs, 600e-6); count != 1 || math.Abs(got+5e4-20-600) > 1e-6 {
		t.Errorf("%d steps, worst %v; want one of -49380", count, got)
	}
}

func TestKeepsRateSaysWhatItCannotKnow(t *testing.T) {
	one := Pair{ReferenceNs: 1, ClockNs: 1}
	still := []Pair{one, one, one, one, one, one, one}
	for _, pairs := range [][]Pair{nil, {one}, {one, {ReferenceNs: 2}, {ReferenceNs: 3}}, still} {
		if r := KeepsRate(pairs); !math.IsNaN(r.Ratio) {
			t.Errorf("%d pairs: %+v, want no ratio", len(pairs), r)
		}
	}
}

// Real threads take their turns in order, each as often as asked, and Go's monotonic clock never
// steps back from one to the next.
func TestHandOver(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs and the right to choose: %v, %v", cpus, err)
	}
	c, err := clock.Open("go-time-now")
	if err != nil {
		t.Fatal(err)
	}
	handed, err := HandOver(t.Context(), cpus[:2], c.Start, 200)
	if err != nil || len(handed) != 400 {
		t.Fatalf("%d readings, %v; want 400", len(handed), err)
	}
	for i, h := range handed {
		if h.Thread != i%2 {
			t.Fatalf("reading %d is of thread %d", i, h.Thread)
		}
	}
	if b := AcrossThreads(handed); b.Count > 0 {
		t.Errorf("%+v", b)
	}
}

// With GOMAXPROCS below the number of threads (Go also lowers it to a container's CPU limit),
// each turn once waited until the other thread was preempted: the turns of this test took two
// minutes instead of a tenth of a second. The test's time limit only detects a hang; it is
// generous enough for any load.
func TestHandOverWithFewerThreadsThanCPUs(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs and the right to choose: %v, %v", cpus, err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	count := int64(0)
	read := func() int64 { count++; return count }
	handed, err := HandOver(ctx, cpus[:2], read, 2500)
	if err != nil || len(handed) != 5000 {
		t.Fatalf("%d readings, %v; want 5000", len(handed), err)
	}
}

func TestHandOverRefusals(t *testing.T) {
	read := func() int64 { return 0 }
	if _, err := HandOver(t.Context(), []int{0}, read, 10); err == nil {
		t.Error("one CPU is enough?")
	}
	if _, err := HandOver(t.Context(), []int{0, 1 << 20}, read, 10); err == nil {
		t.Error("a CPU that does not exist is accepted")
	}
}

// If its context ends, HandOver returns the readings so far, all of them in order.
func TestHandOverEndsWithItsContext(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs and the right to choose: %v, %v", cpus, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	count := int64(0)
	read := func() int64 { // only called by the thread whose turn it is
		if count++; count == 50 {
			cancel()
			time.Sleep(time.Millisecond)
		}
		return count
	}
	handed, err := HandOver(ctx, cpus[:2], read, 1_000_000)
	if !errors.Is(err, context.Canceled) || len(handed) < 50 {
		t.Fatalf("%d readings, %v", len(handed), err)
	}
	for i, h := range handed {
		if h.Ticks != int64(i+1) {
			t.Fatalf("reading %d is %d", i, h.Ticks)
		}
	}
}

// A plan that is left out is the default one. It was a division by zero.
func TestPlanThatIsLeftOut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	monotonic, err := clock.Open("go-time-now")
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Rated{Clock: monotonic, TickNs: stats.Estimate{Value: 1, Lo: 1, Hi: 1}, AccuracyNs: 1}
	reference := c
	reference.Clock = clock.New(clock.Clock{Name: "monotonic", Kind: clock.KindWall, UnitNs: 1}, monotonic.Read)
	q := Request{Clocks: []clock.Rated{c, reference}}
	if r, err := Local(ctx, q); r == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, plan := range []Plan{{Watch: -1, Every: 1}, {Watch: 1, Every: -1}, {Watch: time.Second}, {Watch: 1, Every: 1, HandOvers: -1}} {
		q.Plan = plan
		if r, err := Local(ctx, q); r == nil || err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %+v, %v", plan, r, err)
		}
	}
}
