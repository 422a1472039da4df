package clocktest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The expected time of each program was computed by hand from its script and its competitors.
func TestCrowd(t *testing.T) {
	const ms = 1e6
	work := func(ns float64) []Step { return []Step{{WorkNs: ns}} }
	for _, c := range []struct {
		name   string
		crowd  Crowd
		script []Step
		wallNs float64
		within float64
	}{
		{"works", Crowd{}, work(5 * ms), 5 * ms, 1},
		{"sleeps", Crowd{}, []Step{{WorkNs: ms}, {SleepNs: 3 * ms}, {WorkNs: ms}}, 5 * ms, 1},
		{"a deadline", Crowd{}, []Step{{WorkNs: ms}, {UntilNs: 3 * ms}, {WorkNs: ms}}, 4 * ms, 1},
		{"a deadline that has passed", Crowd{}, []Step{{WorkNs: 5 * ms}, {UntilNs: 3 * ms}, {WorkNs: ms}}, 6 * ms, 1},
		{"a child", Crowd{}, []Step{{Start: work(4 * ms), Process: true}, {Join: true}, {WorkNs: ms}}, 5 * ms, 1},
		{"two threads on two CPUs", Crowd{CPUs: 2}, []Step{{Start: work(4 * ms)}, {WorkNs: 3 * ms}, {Join: true}}, 4 * ms, 1},
		{"two threads on one", Crowd{SliceNs: ms}, []Step{{Start: work(4 * ms)}, {WorkNs: 3 * ms}, {Join: true}}, 7 * ms, 1},
		{"two threads that hand over", Crowd{CPUs: 2}, []Step{{Start: []Step{{Wait: 1}, {WorkNs: 2 * ms}, {Post: 2}}}, {WorkNs: ms}, {Post: 1}, {Wait: 2}, {WorkNs: ms}}, 4 * ms, 1},
		{"what was posted before", Crowd{CPUs: 2}, []Step{{Start: []Step{{Post: 1}}}, {WorkNs: ms}, {Wait: 1}, {WorkNs: ms}}, 2 * ms, 1},
		// The child works for 3 of its parent's 6 ms, and has ended before its parent waits for it.
		{"a child that ends before it is waited for", Crowd{CPUs: 2, Loads: []int{1, 2}, SliceNs: ms},
			[]Step{{Start: work(3 * ms), Process: true}, {Bind: 2}, {WorkNs: 3 * ms}, {Join: true}}, 6 * ms, 1.1 * ms},
		{"bound to the CPU of another", Crowd{CPUs: 2, SliceNs: ms}, []Step{{Start: []Step{{Bind: 1}, {WorkNs: 2 * ms}}}, {Bind: 1}, {WorkNs: 2 * ms}, {Join: true}}, 4 * ms, 1},
		{"yields to nobody", Crowd{SliceNs: ms}, []Step{{WorkNs: ms}, {Yield: true}, {WorkNs: ms}}, 2 * ms, 1},
		{"yields", Crowd{Load: 2, SliceNs: ms}, []Step{{WorkNs: 1e5}, {Yield: true}, {WorkNs: 1e5}, {Yield: true}, {WorkNs: 1e5}}, 2.3 * ms, 1},
		{"interrupts", Crowd{InterruptShare: 0.2}, work(4 * ms), 5 * ms, 1},
		// The program works for 10 ms in slices of 1 ms. After each slice but the last, ten other
		// threads get one slice each.
		{"ten competitors", Crowd{Load: 11, SliceNs: ms}, work(10 * ms), 10*ms + 9*10*ms, 11 * ms},
	} {
		r := c.crowd.Run(rand.New(rand.NewPCG(1, 2)), c.script)
		if math.Abs(r.WallNs-c.wallNs) > c.within {
			t.Errorf("%s: %v ns, want %v", c.name, r.WallNs, c.wallNs)
		}
	}
}

// A thread is always in one state: its times of running, waiting and sleeping add up to the
// whole time.
func TestCrowdAddsUp(t *testing.T) {
	for seed := range uint64(200) {
		c := Crowd{CPUs: 1 + int(seed%2), Load: 1 + int(seed%4), SliceNs: 1e6, SliceJitter: 0.3, EagerWakes: 0.5}
		r := c.Run(rand.New(rand.NewPCG(seed, 3)), []Step{{WorkNs: 7e6}, {SleepNs: 2e6}, {WorkNs: 3e6}})
		if got := r.CPUNs[1] + r.WaitNs[1] + 2e6; math.Abs(got-r.WallNs) > 1 || math.Abs(r.CPUNs[1]-10e6) > 1 {
			t.Fatalf("seed %d: %v on the CPU and %v waiting, of %v", seed, r.CPUNs[1], r.WaitNs[1], r.WallNs)
		}
	}
}
