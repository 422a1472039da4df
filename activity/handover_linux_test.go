package activity

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// pinnable locks the goroutine to its thread and returns a CPU that the thread may be bound to. It
// skips the test if there is none.
func pinnable(t *testing.T) int {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	cpus, err := machine.Affinity()
	if err == nil {
		err = machine.SetAffinity(cpus)
	}
	if err != nil {
		t.Skip(err)
	}
	return cpus[len(cpus)-1]
}

func openTestPair(t *testing.T, cpu int) *pair {
	t.Helper()
	p, err := openPair(cpu, newWorkingSet(1<<12, Sequential, nil))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkSwitching checks what holds on any machine, however loaded: switches take time, the kernel
// counted at least as many as the result claims, and each working set has its estimates.
func checkSwitching(t *testing.T, s *Switching) {
	t.Helper()
	if !(s.Cost.Value > 0) || !(s.LeastNs.Value() <= s.Cost.Value && s.Cost.Value <= s.P95Ns.Value() || s.Cost.N < 20) {
		t.Errorf("cost %+v, least %v, p95 %v", s.Cost, s.LeastNs, s.P95Ns)
	}
	if s.Counted != nil && s.Counted.Voluntary+s.Counted.Involuntary < int64(s.Switches) {
		t.Errorf("%d switches, of which the kernel counted %+v", s.Switches, *s.Counted)
	}
	if s.Switches < 2*RoundTripsPerBlock*s.Cost.N || s.Cost.N == 0 {
		t.Errorf("%d switches in %d blocks", s.Switches, s.Cost.N)
	}
	for _, c := range s.Cold {
		if c.Bytes < 16<<10 || !(c.Warm.Value > 0 && c.AfterIdleSwitch.Value > 0 && c.AfterBusySwitch.Value > 0) || c.Extra.N != c.Warm.N {
			t.Errorf("%+v", c)
		}
	}
	if len(s.Cold) == 0 || s.Cold[0].Pattern != Sequential || s.Cold[0].Bytes != 16<<10 {
		t.Errorf("cold caches: %+v", s.Cold)
	}
}

// After a measurement the thread's CPUs and scheduling policy are what they were, and no file stays
// open.
func TestMeasureSwitchingLeavesNothingBehind(t *testing.T) {
	cpu := pinnable(t)
	c := finest(t)
	state := func() (cpus []int, policy uint32, files int) {
		cpus, err := machine.Affinity()
		if err != nil {
			t.Fatal(err)
		}
		if attributes, err := unix.SchedGetAttr(0, 0); err == nil {
			policy = attributes.Policy
		}
		entries, _ := os.ReadDir("/proc/self/fd")
		return cpus, policy, len(entries)
	}
	cpus, policy, files := state()
	s, err := MeasureSwitching(t.Context(), c, 0.4, SwitchingOptions{CPU: -1, Duration: 60 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if s.CPU != cpu {
		t.Errorf("on CPU %d, want the last of those allowed, %d", s.CPU, cpu)
	}
	checkSwitching(t, s)
	for range 3 {
		var refused *machine.AffinityError
		if _, err := MeasureSwitching(t.Context(), c, 0.4, SwitchingOptions{CPU: 1<<16 - 1}); !errors.As(err, &refused) {
			t.Errorf("a CPU that isn't there: %v", err)
		}
	}
	cpusAfter, policyAfter, filesAfter := state()
	if !slices.Equal(cpusAfter, cpus) || policyAfter != policy || filesAfter != files {
		t.Errorf("CPUs %v, policy %d, %d files; were %v, %d, %d", cpusAfter, policyAfter, filesAfter, cpus, policy, files)
	}
}

// The measurement also works if GOMAXPROCS is 1.
func TestMeasureSwitchingOnOneProcessor(t *testing.T) {
	cpu := pinnable(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s, err := MeasureSwitching(t.Context(), finest(t), 0.4, SwitchingOptions{CPU: cpu, Duration: 60 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	checkSwitching(t, s)
	if len(s.Caveats) == 0 {
		t.Error("not a word on GOMAXPROCS")
	}
}

// A garbage collection, which stops all threads for a moment, does not have to wait for the threads
// of the pair.
func TestMeasureSwitchingWhileTheWorldIsStopped(t *testing.T) {
	cpu := pinnable(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				runtime.GC()
			}
		}
	}()
	s, err := MeasureSwitching(t.Context(), finest(t), 0.4, SwitchingOptions{CPU: cpu, Duration: 60 * time.Millisecond})
	close(stop)
	<-stopped
	if err != nil {
		t.Fatal(err)
	}
	checkSwitching(t, s)
}

// The measurement ends with its context, and returns what it has.
func TestMeasureSwitchingEndsWithItsContext(t *testing.T) {
	cpu := pinnable(t)
	for _, after := range []time.Duration{0, 20 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		s, err := MeasureSwitching(ctx, finest(t), 0.4, SwitchingOptions{CPU: cpu, Duration: LongestSwitching})
		cancel()
		if !Interrupted(err) || s == nil || s.Switches == 0 {
			t.Errorf("after %v: %+v, %v; want what there is, interrupted", after, s, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := MeasureSwitching(ctx, finest(t), 0.4, SwitchingOptions{CPU: cpu}); err == nil || s.Verdict != "unusable" {
		t.Errorf("%+v, %v; want an unusable one", s, err)
	}
}

// A block of round trips allocates nothing.
func TestRoundTripsAllocateNothing(t *testing.T) {
	p := openTestPair(t, pinnable(t))
	defer p.close()
	e := experiment{clock: finest(t), tickNs: 1, pair: p}
	samples := make([]roundTrip, 8)
	if allocs := testing.AllocsPerRun(20, func() {
		if err := e.block(samples); err != nil {
			t.Fatal(err)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// A thread whose partner has ended does not wait for it.
func TestHandoverToNobody(t *testing.T) {
	p := openTestPair(t, pinnable(t))
	if err := p.trip(sweepFirst); err != nil {
		t.Fatal(err)
	}
	p.orders.closeWrite()
	p.ended <- <-p.ended // the partner has ended
	if err := p.answers.receive(p.order[:]); err == nil {
		t.Error("an answer came from nobody")
	}
	if err := p.trip(returnAtOnce); err == nil {
		t.Error("an order went to nobody")
	}
	if _, err := p.close(); err != nil {
		t.Error(err)
	}
}
