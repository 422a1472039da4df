package gobench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// preempted returns a repetition whose runs differ by 1,000 iterations, each of which takes that CPU time,
// waits as long for the CPU, and is preempted that often.
func preempted(cpuNs, switches float64) Repetition {
	run := func(n float64) Observation {
		return Observation{
			N: int(n), Procs: 1, TimedNs: 2 * n * cpuNs, WallNs: 2 * n * cpuNs, CPUNs: n * cpuNs, WaitNs: n * cpuNs,
			InvoluntarySwitches: n * switches, ProcessNs: 2*n*cpuNs + 3e6,
			SlowedBefore: math.NaN(), SlowedAfter: math.NaN(), OthersNs: math.NaN(),
		}
	}
	return Repetition{Few: run(100), Many: run(1100), Traced: true}
}

// outside says which of the estimates lie outside of their own intervals. A missing bound is open.
func outside(r *Result) (all []string) {
	for name, e := range map[string]stats.Estimate{"estimate": r.Estimate, "wall": r.Wall, "cpu": r.CPU} {
		if e.Value < e.Lo || e.Value > e.Hi {
			all = append(all, fmt.Sprintf("%s: %g is not in %g to %g", name, e.Value, e.Lo, e.Hi))
		}
	}
	return all
}

// The typical repetition was preempted ten times as often as the median says, so that the corrected time
// lay below the interval, which was corrected by the median (once at load 15).
func TestTimeLiesInItsInterval(t *testing.T) {
	setting := Setting{CPUs: 1, Checks: env.ChecksOf(machine.Noise{WatchedNs: 1e9, SwitchNs: 10e3})}
	var s Series
	for i := range 20 {
		switch {
		case i < 2:
			s.Repetitions = append(s.Repetitions, preempted(0.990e6, 0.1))
		case i < 11:
			s.Repetitions = append(s.Repetitions, preempted(1.010e6, 1))
		default:
			s.Repetitions = append(s.Repetitions, preempted(1.020e6, 0))
		}
	}
	for _, why := range outside(Conclude(&s, DefaultPlan, setting)) {
		t.Error(why)
	}
}

// Whatever the runs of a benchmark say, also where differences of runs are below 0, its times lie in their
// intervals, and so does the ratio of two benchmarks.
func TestEveryTimeLiesInItsInterval(t *testing.T) {
	known := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 0x17))
		setting := Setting{CPUs: 1 + rng.IntN(3), Checks: env.ChecksOf(machine.Noise{WatchedNs: 1e9, LostShare: 0.1 * rng.Float64(), SwitchNs: 10e3 * rng.Float64()})}
		var results [2]*Result
		n := 2 + rng.IntN(40)
		for side := range results {
			s := Series{}
			opNs, scatter, switches, startNs := logUniform(rng, 1e3, 1e7), 0.5*rng.Float64(), 3*rng.Float64(), logUniform(rng, 1e4, 1e9)
			for range n {
				rep := preempted(opNs*math.Exp(scatter*rng.NormFloat64()), switches*math.Max(0, rng.NormFloat64()))
				for _, o := range []*Observation{&rep.Few, &rep.Many} {
					startNs, waitNs := startNs*rng.Float64(), o.WaitNs*rng.Float64()
					o.CPUNs, o.TimedNs = o.CPUNs+startNs, o.TimedNs+startNs-o.WaitNs+waitNs
					o.WaitNs, o.WallNs, o.RoundingNs = waitNs, o.TimedNs*(1+0.2*rng.Float64()), 0.1*opNs*float64(o.N)
				}
				s.Repetitions = append(s.Repetitions, rep)
			}
			results[side] = Conclude(&s, DefaultPlan, setting)
			for _, why := range outside(results[side]) {
				t.Errorf("seed %d: %s", seed, why)
			}
			if results[side].Estimate.Value > 0 {
				known++
			}
		}
		if r := Compare(results[0], results[1], 0.01, seed).Ratio; r.Value < r.Lo || r.Value > r.Hi {
			t.Errorf("seed %d: the ratio %g is not in %g to %g", seed, r.Value, r.Lo, r.Hi)
		}
	}
	if known < 1000 {
		t.Errorf("%d of 2000 times are known: the runs say too little", known)
	}
}
