package clocktest

import (
	"math"
	"testing"
)

// free returns a clock that costs nothing to read.
func free(m *Machine, quantum, unit float64) *Clock {
	return &Clock{Machine: m, QuantumNs: quantum, UnitNs: unit, Cost: Constant(0)}
}

// Readings follow the formula in the doc comment of Clock; the expected values were computed by
// hand.
func TestReadings(t *testing.T) {
	m := NewMachine(1)
	c := free(m, 2.5, 1)
	want := []int64{0, 0, 0, 2, 2, 5, 5, 5, 7, 7, 10}
	for i, w := range want {
		if got := c.Read(); got != w {
			t.Errorf("at %d ns: %d, want %d", i, got, w)
		}
		m.Idle(1)
	}
}

// A chain takes the time of its work and the cost of its readings, and no more.
func TestChainTakesItsTime(t *testing.T) {
	m := NewMachine(1)
	c := &Clock{Machine: m, QuantumNs: 1, UnitNs: 1, Cost: Constant(30)}
	c.Chain(100, make([]int64, 50))
	if want := 50 * (100*m.WorkNs + 30); math.Abs(m.NowNs()-want) > 1e-6 {
		t.Errorf("%v ns went by, want %v", m.NowNs(), want)
	}
}

// On a machine that is preempted every millisecond for three on average, a thread runs a quarter
// of the time.
func TestPreemption(t *testing.T) {
	m := NewMachine(1)
	m.Preemption = &Preemption{EveryNs: 1e6, ForNs: 3e6}
	for range 200_000 {
		m.Run(50_000)
	}
	if share := 200_000 * 50_000 / m.NowNs(); math.Abs(share-0.25) > 0.01 {
		t.Errorf("it ran %.3f of the time, want 0.25", share)
	}
}

// Each fault changes the readings as its comment says.
func TestFaults(t *testing.T) {
	read := func(c *Clock, atNs float64) int64 {
		c.Machine.Idle(atNs - c.Machine.NowNs())
		return c.Read()
	}
	for _, c := range []struct {
		name   string
		faults Faults
		atNs   float64
		want   int64
	}{
		{"none", Faults{}, 1e6, 1e6},
		{"rate", Faults{RatePPM: 100}, 1e6, 1e6 + 100},
		{"drift: the integral of the rate", Faults{DriftPPMPerSecond: 100}, 1e9, 1e9 + 50_000},
		{"jump", Faults{JumpAtNs: 5e5, JumpNs: 1e4}, 1e6, 1e6 + 1e4},
		{"jump to come", Faults{JumpAtNs: 2e6, JumpNs: 1e4}, 1e6, 1e6},
		{"stuck", Faults{StuckFromNs: 1e5, StuckToNs: 2e6}, 1e6, 1e5},
		{"stuck, over", Faults{StuckFromNs: 1e5, StuckToNs: 5e5}, 1e6, 1e6},
		{"wrap", Faults{WrapBits: 16}, 1e6, 1_000_000 % 65536},
		{"back step", Faults{BackStepEvery: 1, BackStepNs: 700}, 1e6, 1e6 - 700},
	} {
		clock := free(NewMachine(1), 1, 1)
		clock.Faults = c.faults
		if got := read(clock, c.atNs); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	offset := free(NewMachine(1), 1, 1)
	offset.Faults.ThreadOffsetNs = []float64{0, -40}
	offset.Machine.Idle(100)
	if a, b := offset.OnThread(0).Read(), offset.OnThread(1).Read(); a != 100 || b != 60 {
		t.Errorf("threads read %d and %d, want 100 and 60", a, b)
	}
}

// The readings on different CPUs differ by the CPUs' offsets and rates.
func TestCPUs(t *testing.T) {
	c := free(NewMachine(1), 1, 1)
	c.Faults.CPUOffsetNs, c.Faults.CPUSkewPPM = []float64{0, 200, -50}, []float64{0, 0, 100}
	c.Machine.Idle(1e6)
	for cpu, want := range []int64{1e6, 1e6 + 200, 1e6 - 50 + 100, 1e6} {
		c.Machine.CPU = cpu
		if got := c.Read(); got != want {
			t.Errorf("CPU %d: %d, want %d", cpu, got, want)
		}
	}
}

// An early reading shows an earlier time, by no more than asked.
func TestReadEarly(t *testing.T) {
	c := free(NewMachine(1), 1, 1)
	c.Machine.Idle(1e6)
	least := int64(1e6)
	for range 1000 {
		got := c.ReadEarly(100)
		if got > 1e6 || got < 1e6-101 {
			t.Fatalf("%d", got)
		}
		least = min(least, got)
	}
	if least > 1e6-90 {
		t.Errorf("none was early by more than %d ns", int64(1e6)-least)
	}
}

// A unique counter never repeats a value, and is at most one unit ahead.
func TestUnique(t *testing.T) {
	m := NewMachine(1)
	c := &Clock{Machine: m, QuantumNs: 10, UnitNs: 10.0 / 26, Unique: true, Cost: Constant(11)}
	last, raised := int64(-1), 0
	for range 10_000 {
		v := c.Read()
		if v <= last {
			t.Fatalf("%d after %d", v, last)
		}
		switch v % 26 {
		case 0:
		case 1:
			raised++
		default:
			t.Fatalf("%d is neither on the lattice nor one above", v)
		}
		last = v
	}
	if raised == 0 {
		t.Error("no reading was raised, though some would have repeated")
	}
}

// Updates with jitter are late, never early, and at the same time for each reading.
func TestEdgeJitter(t *testing.T) {
	m := NewMachine(1)
	c := free(m, 100, 1)
	c.EdgeJitterNs = 30
	for n := range 1000 {
		m.Idle(float64(100*n) + 31 - m.NowNs())
		if got := c.Read(); got != int64(100*n) {
			t.Fatalf("well after update %d: %d", n, got)
		}
		m.Idle(float64(100*n) + 99 - m.NowNs())
		if got := c.Read(); got != int64(100*n) {
			t.Fatalf("before update %d: %d", n+1, got)
		}
	}
}
