package meter

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"

	"chronoscope/clock"
)

// kernelSource is this machine's clock, or the test does not apply.
func kernelSource(t testing.TB) Source {
	source, err := KernelTick()
	var missing *clock.Unavailable
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestKernelTickIsATick(t *testing.T) {
	if s := kernelSource(t); s.tickNs < 1e5 || s.tickNs > 1e8 || float64(s.perTick) != s.tickNs {
		t.Errorf("a tick of %v ns, %d to a reading", s.tickNs, s.perTick)
	}
}

// No call is lost, however many goroutines make them and wherever they go meanwhile.
func TestManyGoroutines(t *testing.T) {
	for _, oneIn := range []int{1, 16} {
		m := New("many", kernelSource(t), Sampled(oneIn))
		const goroutines, calls = 50, 4000
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for i := range calls {
					start := m.Start()
					if i%100 == 0 {
						runtime.Gosched()
					}
					m.Stop(start)
				}
			})
		}
		for range 20 {
			_ = m.Snapshot().Report()
			runtime.Gosched()
		}
		all.Wait()
		p := part(m)
		if p.Calls != goroutines*calls {
			t.Errorf("1 in %d: %d calls of %d", oneIn, p.Calls, goroutines*calls)
		}
		// Chance moves the sampled share by a standard deviation of 108.
		want := goroutines * calls / float64(oneIn)
		if off := math.Abs(float64(p.Measured) - want); oneIn == 1 && off != 0 || off > 5*108 {
			t.Errorf("1 in %d: %d measured of %d", oneIn, p.Measured, p.Calls)
		}
		if f := p.Faults; f.Foreign+f.Backward+f.Steps+f.Between != 0 {
			t.Errorf("%+v", f)
		}
	}
}

// Chance alone decides how many calls are measured of how many: over many meters, the
// number strays as that of a coin does, whether one shard chooses or all of them do.
func TestSampledShareIsThatOfCoins(t *testing.T) {
	const calls, oneIn, meters = 512, 8, 400
	for _, used := range []int{1, 4, 64} {
		var scatter float64
		for range meters {
			shards := newShards(false)
			chosen := 0
			for i := range calls * used {
				if !shards.all[i%used].passesOver(^uint64(0) / oneIn) {
					chosen++
				}
			}
			off := float64(chosen) - float64(calls*used)/oneIn
			scatter += off * off / meters
		}
		// The mean of 400 squares of normal deviates strays by a share of 0.071.
		want := float64(calls*used) * (1. / oneIn) * (1 - 1./oneIn)
		if ratio := scatter / want; ratio < 1-5*0.071 || ratio > 1+5*0.071 {
			t.Errorf("%d shards: %.2f times the variance of a coin", used, ratio)
		}
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	w := newWorld(1, 1e6)
	meters := map[string]*Meter{
		"kernel": New("a", kernelSource(t)), "sampled": New("b", kernelSource(t), Sampled(4)),
		"simulated, each with an edge": New("c", w.source()),
	}
	for name, m := range meters {
		if n := testing.AllocsPerRun(1000, func() { s := m.Start(); w.nowNs += 1e6; m.Stop(s) }); n != 0 {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}

func TestCostIsPositive(t *testing.T) {
	if c := costOf(kernelSource(t)); !(c.Lo > 0 && c.Lo <= c.Value && c.Value <= c.Hi) {
		t.Errorf("%+v", c)
	}
}

// Goroutines that are there at once are told apart by their stacks, as small as these are
// at first, or as large as a clock of the kernel makes them.
func TestShards(t *testing.T) {
	source := kernelSource(t)
	for name, before := range map[string]func(){"small": func() {}, "grown": func() { source.clock.Read() }} {
		s := newShards(false)
		const goroutines = 100
		shards := make(chan *shard, goroutines)
		var all, asked sync.WaitGroup
		asked.Add(goroutines)
		for range goroutines {
			all.Go(func() {
				before()
				shards <- s.mine()
				asked.Done()
				asked.Wait() // a stack that is let go is another goroutine's
			})
		}
		all.Wait()
		close(shards)
		seen := map[*shard]bool{}
		for shard := range shards {
			seen[shard] = true
		}
		// Chance alone would leave a hundred with some 50 of 64, or more of more.
		if len(seen) < 25 || len(s.all)&(len(s.all)-1) != 0 {
			t.Errorf("%s stacks: %d shards used of %d", name, len(seen), len(s.all))
		}
	}
}
