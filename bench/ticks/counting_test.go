package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// simulatedKernel charges CPU time to a thread in one of the three ways of
// kernel/sched/cputime.c of Linux.
type simulatedKernel struct {
	rng          *rand.Rand
	sum, split   Counting
	tickNs       float64
	switchesEach float64 // ns of CPU time between two losses of the CPU, on average

	nowNs, nextTick, nextSwitch float64 // of CPU time
	user, system                float64 // time in either mode, up to now
	ticks                       struct{ user, system float64 }
	ran                         float64 // sum as of the last update
	shown                       CPUTime
}

// run lets the thread run in one mode.
func (k *simulatedKernel) run(system bool, ns float64) {
	for ns > 0 {
		step := min(ns, k.nextTick-k.nowNs, k.nextSwitch-k.nowNs)
		k.nowNs += step
		ns -= step
		if system {
			k.system += step
		} else {
			k.user += step
		}
		if k.nowNs >= k.nextSwitch {
			k.nextSwitch = k.nowNs + k.switchesEach*k.rng.ExpFloat64() + 1
			k.nextTick = k.nowNs + k.tickNs*k.rng.Float64() + 1 // the CPU comes back at any phase
			k.update()
		}
		if k.nowNs >= k.nextTick {
			k.nextTick += k.tickNs
			if system {
				k.ticks.system++
			} else {
				k.ticks.user++
			}
			k.update()
		}
	}
}

// update brings the account up to date: cputime_adjust splits the sum in the
// proportion of the ticks, and lets neither part fall.
func (k *simulatedKernel) update() {
	k.ran = k.nowNs
	switch {
	case k.sum == CountsTicks:
		k.shown = CPUTime{UserNs: k.ticks.user * k.tickNs, SystemNs: k.ticks.system * k.tickNs}
	case k.split == CountsTime:
		k.shown = CPUTime{UserNs: k.user, SystemNs: k.system}
	default:
		system := k.ran
		if k.ticks.system == 0 {
			system = 0
		} else if k.ticks.user > 0 {
			system = k.ran * k.ticks.system / (k.ticks.user + k.ticks.system)
		}
		system = max(system, k.shown.SystemNs)
		if k.ran-system < k.shown.UserNs {
			system = k.ran - k.shown.UserNs
		}
		k.shown = CPUTime{UserNs: k.ran - system, SystemNs: system}
	}
}

// read is the account in whole microseconds.
func (k *simulatedKernel) read() (CPUTime, error) {
	k.run(true, 2000+1000*k.rng.Float64())
	if k.split == CountsTime {
		k.update()
	}
	return CPUTime{UserNs: 1e3 * math.Floor(k.shown.UserNs/1e3), SystemNs: 1e3 * math.Floor(k.shown.SystemNs/1e3)}, nil
}

// However a kernel counts it is told, on quiet and on busy machines, whatever the
// thread did before; and never told wrong. Only where a thread hardly keeps its CPU
// from one tick to the next may the answer be that it is not known.
func TestGranularityOfSimulatedKernels(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		name       string
		sum, split Counting
		switchesNs float64
		known      int // at least, of n
	}{
		{"all by ticks", CountsTicks, CountsTicks, 1e12, n},
		{"all by ticks, busy", CountsTicks, CountsTicks, 10e6, n},
		{"split by ticks", CountsTime, CountsTicks, 1e12, n},
		{"split by ticks, busy", CountsTime, CountsTicks, 40e6, n * 9 / 10},
		{"split by ticks, busier", CountsTime, CountsTicks, 12e6, 1},
		{"split by ticks, very busy", CountsTime, CountsTicks, 3e6, 0},
		{"all by a clock", CountsTime, CountsTime, 1e12, n},
		{"all by a clock, busy", CountsTime, CountsTime, 10e6, n},
	} {
		known := 0
		for seed := range uint64(n) {
			rng := rand.New(rand.NewPCG(seed, 97))
			k := &simulatedKernel{rng: rng, sum: c.sum, split: c.split, switchesEach: c.switchesNs,
				tickNs: []float64{1e6, 1e9 / 300, 4e6, 10e6}[rng.IntN(4)]}
			k.nextTick, k.nextSwitch = k.tickNs*rng.Float64()+1, c.switchesNs*rng.ExpFloat64()+1
			for range rng.IntN(50) { // its past
				k.run(rng.IntN(4) == 0, 2e7*rng.Float64())
			}
			begun := k.nowNs
			o, err := observe(k.read, func() bool {
				k.run(false, 3000+500*rng.Float64())
				return k.nowNs < begun+longestObserved.Seconds()*1e9
			})
			if err != nil {
				t.Fatal(err)
			}
			g := o.judge()
			if g.Sum == c.sum && g.Split == c.split {
				known++
			} else if g.Sum != c.sum || g.Split != CountsUnknown {
				t.Errorf("%s, seed %d, a tick of %v ns: %+v", c.name, seed, k.tickNs, g)
			}
		}
		t.Logf("%s: told %d times in %d", c.name, known, n)
		if known < c.known {
			t.Errorf("%s: told %d times in %d, want %d", c.name, known, n, c.known)
		}
	}
}

// An account that never changes says nothing, and one that can't be read is an
// error.
func TestGranularityOfNothing(t *testing.T) {
	rounds := 0
	o, err := observe(func() (CPUTime, error) { return CPUTime{UserNs: 5e6, SystemNs: 5e6}, nil }, func() bool { rounds++; return rounds < 100 })
	if err != nil {
		t.Fatal(err)
	}
	if g := o.judge(); g.Sum != CountsUnknown || g.Split != CountsUnknown || g.Steps != 0 || !math.IsNaN(g.StepNs) {
		t.Errorf("%+v", g)
	}
	refused := errors.New("refused")
	if _, err := observe(func() (CPUTime, error) { return CPUTime{}, refused }, func() bool { return true }); !errors.Is(err, refused) {
		t.Error(err)
	}
}

// On a live kernel it ends, with one of the known answers or a reason.
func TestGranularityLive(t *testing.T) {
	g, err := ObserveGranularity(t.Context())
	if err != nil {
		t.Skip(err)
	}
	if g.Steps < 0 || g.Steps > observedSteps || g.StepNs < 0 {
		t.Errorf("%+v", g)
	}
	t.Logf("%+v", g)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if g, err := ObserveGranularity(ended); err != nil || g.Split != CountsUnknown {
		t.Errorf("ended before it began: %+v, %v", g, err)
	}
	if allocs := testing.AllocsPerRun(100, func() { usageOfThread() }); allocs > 0 {
		t.Errorf("a reading allocates %v times", allocs)
	}
}
