package fidelity

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Two oscillators drift apart as their temperature changes, by a part per million within seconds.
// That is no fault of an interval.
func TestWarmthIsNoFault(t *testing.T) {
	for seed := range uint64(100) {
		w := newWorld(6000 + seed)
		c := w.fine()
		periodNs := w.between(5e9, 60e9)
		c.seenNs = func() float64 {
			return w.NowNs() + 1e-6*periodNs/(2*math.Pi)*math.Sin(2*math.Pi*w.NowNs()/periodNs)
		}
		for _, r := range w.experiment(c.rated("counter", 2), w.workloads()...).Results {
			if r.Verdict != stats.Trusted {
				t.Errorf("seed %d, period %.3g s: %s is %s: %q", seed, periodNs/1e9, r.Workload, r.Verdict, r.Reasons)
			}
		}
	}
}

// A counter that loses a small share of each sleep is reported to do so.
func TestSmallSharesOfSleepAreNamed(t *testing.T) {
	for seed := range uint64(20) {
		for _, share := range []float64{1e-3, 1e-4} {
			w := newWorld(6200 + seed)
			c := w.fine()
			c.seenNs = func() float64 { return w.NowNs() - share*w.idleNs }
			r := w.experiment(c.rated("counter", 1), w.workloads()...).Results[0]
			if len(r.Faults) != 1 || r.Faults[0].Kind != FollowsFrequency || math.Abs(1-r.Faults[0].Size.Value()-share) > 0.05*share || strings.Contains(r.Reasons[0], " 1 times") {
				t.Errorf("seed %d, share %v: %+v", seed, share, r.Faults)
			}
		}
	}
}

// If there are many CPUs, few samples have the same first and the same last CPU. An odd CPU is named
// nevertheless, and a jump is not reported as an odd CPU.
func TestOddCPUOfMany(t *testing.T) {
	for seed := range uint64(20) {
		for _, jumps := range []bool{false, true} {
			w := newWorld(6300 + seed)
			w.cpus, w.plan.OtherRepeats = 100, 45
			odd := 1 + w.rng.IntN(98)
			c := w.fine()
			c.seenNs = func() float64 {
				switch {
				case !jumps && w.cpu == odd, jumps && w.NowNs() > 3.5e9:
					return w.NowNs() + 3000
				}
				return w.NowNs()
			}
			w.plan.SleepRepeats = 0
			for _, r := range w.experiment(c.rated("counter", 1), w.workloads()[2]).Results {
				for _, f := range r.Faults {
					if want := map[bool]FaultKind{false: CPUOffset, true: Jumped}[jumps]; f.Kind != want || math.Abs(f.Size.Value()-3000) > 150 || !jumps && !strings.Contains(f.Says, fmt.Sprintf("CPU %d and the others", odd)) {
						t.Errorf("seed %d, CPU %d: %+v, want %s", seed, odd, f, want)
					}
				}
				if len(r.Faults) == 0 && !jumps {
					t.Errorf("seed %d: the offset of CPU %d is not found", seed, odd)
				}
			}
		}
	}
}

// A context switch between the readings of an end disturbs a clock of CPU time, whichever of the
// readings was chosen.
func TestSwitchWithinAnEnd(t *testing.T) {
	for _, lost := range []machine.ThreadUse{{WaitNs: 8e6}, {VoluntarySwitches: 1}, {InvoluntarySwitches: 1}} {
		nowNs, cpuNs, reads := 0.0, 0.0, 0
		var use machine.ThreadUse
		run := func(ns float64) { nowNs += ns; cpuNs += ns }
		cpu, raw := named("thread-cputime", 1, 1), named("monotonic-raw", 1, 1)
		cpu.Clock = clock.New(*cpu.Clock, func() int64 {
			run(10)
			if reads++; reads == marks { // the last reading of the first end; the tightest is one of those before it
				nowNs += 8e6
				use = lost
			}
			return int64(cpuNs)
		})
		raw.Clock = clock.New(*raw.Clock, func() int64 { run(10); return int64(nowNs) })
		s := &Sampler{Counter: cpu, Reference: raw, Look: func() (machine.ThreadUse, error) { use.CPUNs = int64(cpuNs); return use, nil }}
		sample := s.Take(1e6, run)
		if sample.ReferenceNs < 8e6 || !disturbed(cpu, sample) {
			t.Errorf("%+v is taken for undisturbed", sample)
		}
	}
}

// A clock of CPU time must stand still during sleep, so sleep does not explain time that it lacks.
// A clock of a process also counts the process's other threads.
func TestCPUTimeOffIsNotSleep(t *testing.T) {
	good := Sample{ReferenceNs: 1e7, CounterTicks: 1e7, PairingNs: 100, ErrorNs: 101, Counted: true}
	lost, gained := good, good
	lost.CounterTicks, lost.IdleNs = 2e6, 8e6
	gained.CounterTicks += 5e4
	for _, c := range []struct {
		scope clock.Scope
		odd   Sample
		want  stats.Verdict
		says  string
	}{
		{clock.ScopeThread, lost, stats.Suspect, "the host"},
		{clock.ScopeProcess, gained, stats.Suspect, "other threads"},
		{clock.ScopeThread, gained, stats.Unusable, "nothing that was watched explains"},
	} {
		cpu := named("process-cputime", 1, 1)
		cpu.Scope = c.scope
		r := []Result{{Samples: []Sample{good, good, good, good, good, good, c.odd}}}
		judge(cpu, named("monotonic-raw", 1, 1), r)
		if len(r[0].Faults) != 1 || r[0].Faults[0].Kind != Unexplained || r[0].Verdict != c.want || !strings.Contains(r[0].Reasons[0], c.says) {
			t.Errorf("%s: %+v, want %s that says %q", c.scope, r[0].Faults, c.want, c.says)
		}
	}
}

// The largest error does not include samples that can't be judged.
func TestWorstErrorIsOfJudgedSamples(t *testing.T) {
	good := Sample{ReferenceNs: 1e7, CounterTicks: 1e7, PairingNs: 100, ErrorNs: 101, Counted: true}
	waited := good
	waited.CounterTicks -= 2e6
	waited.Use.WaitNs = 2e6
	r := []Result{{Samples: []Sample{good, good, waited, good}}}
	judge(named("thread-cputime", 1, 1), named("monotonic-raw", 1, 1), r)
	if r[0].Verdict != stats.Trusted || !(r[0].MaxErrorNs.Value() <= 101) || !(r[0].CalibratedNs.Value() <= 101) {
		t.Errorf("%s, fitted %v, calibrated %v", r[0].Verdict, r[0].MaxErrorNs, r[0].CalibratedNs)
	}
}

// A counter whose steps are as long as the intervals is not trusted, because any error could be
// hidden in its steps.
func TestCounterTooCoarseToTell(t *testing.T) {
	for _, coarse := range []struct {
		quantumNs float64
		want      stats.Verdict
	}{{1e9, stats.Suspect}, {4e6, stats.Trusted}} {
		w := newWorld(1)
		c := w.fine()
		c.quantumNs, c.tickNs, c.cost = coarse.quantumNs, coarse.quantumNs, clocktest.Constant(10)
		for _, r := range w.experiment(c.rated("counter", 1), w.workloads()...).Results {
			if told := strings.Contains(strings.Join(r.Reasons, " "), "nothing can be told from intervals of"); r.Verdict != coarse.want || told != (coarse.want == stats.Suspect) {
				t.Errorf("steps of %v ns: %s is %s: %q", coarse.quantumNs, r.Workload, r.Verdict, r.Reasons)
			}
		}
	}
}

// Kuperberg's 300 sleeps take 27 s, and 180 samples of each of nine other workloads take 4.5 s.
func TestPlanLasts(t *testing.T) {
	if got := DefaultPlan.Lasts(Workloads(nil)); got != 67500*time.Millisecond {
		t.Errorf("the default plan lasts %v", got)
	}
}

// A jump in a sample that ends on a CPU is not reported as that CPU's offset if no other sample
// involves the CPU.
func TestJumpOnTheWayToALastCPU(t *testing.T) {
	var samples []Sample
	for cpu := range 60 {
		samples = append(samples, Sample{ReferenceNs: 1e7, CounterTicks: 1e7, PairingNs: 100, ErrorNs: 101, StartCPU: cpu, EndCPU: cpu + 1, Counted: true})
	}
	samples[59].CounterTicks += 5000
	r := []Result{{Samples: samples}}
	tsc := named("tsc", 1, 1)
	tsc.Kind = clock.KindCounter
	judge(tsc, named("monotonic-raw", 1, 1), r)
	if f := r[0].Faults; len(f) != 1 || f[0].Kind != Jumped {
		t.Errorf("%+v", f)
	}
}
