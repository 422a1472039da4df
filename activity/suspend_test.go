package activity

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/machine"
)

// jumped returns the trace that a thread without any of the kernel's counters records on a
// simulated clock that jumps once, as a counter does after the whole machine was suspended.
func jumped(t *testing.T, seed uint64, jumpAtNs, jumpNs float64) *Trace {
	t.Helper()
	m := clocktest.NewMachine(seed)
	simulated := &clocktest.Clock{
		Machine: m, QuantumNs: 1, UnitNs: 1, Cost: clocktest.Jittered(20, 0.05),
		Faults: clocktest.Faults{JumpAtNs: jumpAtNs, JumpNs: jumpNs},
	}
	c := clock.New(clock.Clock{Name: "simulated", UnitNs: 1}, simulated.Read)
	trace, err := Record(t.Context(), c, 1, Options{Duration: LongestDuration, MostGaps: 1, CPU: -1, Root: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// A clock jumps while the whole machine is suspended or paused by its host. The trace is complete
// and has one gap as long as the jump, at the time of the jump.
func TestSuspendedMachineIsOneGap(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		at, long := 2e6+3e6*rng.Float64(), math.Pow(10, 5+5*rng.Float64())
		trace := jumped(t, seed, at, long)
		tiles(t, trace)
		if len(trace.Gaps) != 1 || math.Abs(float64(trace.Gaps[0].Ticks)-long) > 100 {
			t.Errorf("seed %d: a jump of %.0f ns shows as %+v", seed, long, trace.Gaps)
		}
	}
}

// In the gap the thread had no CPU time and did not wait for a CPU. On a virtual machine the host
// had the CPU; on any other machine the cause is not known.
func TestMissingCPUTimeIsTheHosts(t *testing.T) {
	for virtual, want := range map[bool]Cause{true: Hypervisor, false: Unexplained} {
		trace := &Trace{Clock: "simulated", TickNs: 1, CPU: -1, Threshold: 80, Length: 6e9}
		trace.Kernel.Virtual = virtual
		trace.Gaps = []Gap{{Start: 5e8, Ticks: 5e9}}
		trace.Joins = []Join{{From: 0, Gap: 0, Ticks: 55e8, Use: machine.ThreadUse{CPUNs: 5e8}}}
		if a := Analyse(trace); trace.Gaps[0].Cause != want || a.Causes[want].Count != 1 {
			t.Errorf("virtual %v: called %v, want %v", virtual, trace.Gaps[0].Cause, want)
		}
	}
}

// A counter that is set back, as some are when a machine resumes, ends the recording, and a caveat
// says so.
func TestSteppedBackCounterEndsTheTrace(t *testing.T) {
	m := clocktest.NewMachine(1)
	simulated := &clocktest.Clock{
		Machine: m, QuantumNs: 1, UnitNs: 1, Cost: clocktest.Constant(20),
		Faults: clocktest.Faults{JumpAtNs: 5e6, JumpNs: -200e6},
	}
	c := clock.New(clock.Clock{Name: "simulated", UnitNs: 1}, simulated.Read)
	trace, err := Record(t.Context(), c, 1, Options{Duration: 10 * time.Millisecond, CPU: -1, Root: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	tiles(t, trace)
	if !slices.ContainsFunc(trace.Caveats, func(c string) bool { return strings.Contains(c, "stepped back") }) || trace.Length > 6e6 {
		t.Errorf("recorded %d ns across a step back: %q", trace.Length, trace.Caveats)
	}
}
