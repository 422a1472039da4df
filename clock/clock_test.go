package clock

import (
	"runtime"
	"testing"
)

// eachClock runs a test for every clock that can be read here. It stays on one thread, because
// some clocks count for the thread that opened them.
func eachClock(t *testing.T, test func(t *testing.T, c *Clock)) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c, err := Open(name)
			if err != nil {
				t.Skip(err)
			}
			defer c.Close()
			test(t, c)
		})
	}
}

func TestEveryClockDescribesItself(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		if c.Runtime != "go" || c.API == "" || c.Kind == "" || c.Scope == "" || c.CountsSleep == "" || c.CountsSuspend == "" {
			t.Errorf("the description has holes: %+v", *c)
		}
		if (c.UnitNs == 0) != (c.Kind == KindCounter) {
			t.Errorf("a %s clock has a unit of %g ns", c.Kind, c.UnitNs)
		}
		if r := c.Running(); !(r > 0 && r <= 1) {
			t.Errorf("the clock ran for a share of %g of its time", r)
		}
	})
}

// A second Close must not close the descriptor again: it may belong to another file by then.
func TestEveryClockClosesOnce(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		if first, second := c.Close(), c.Close(); first != nil || second != nil {
			t.Errorf("closing it gives %v, and again %v", first, second)
		}
	})
}

// All clocks but the settable ones, which may be set during the test, must go forward. No clock
// may leap by an hour from one reading to the next.
func TestEveryClockGoesForward(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		ticks := make([]int64, 1000)
		c.Chain(10, ticks)
		for i := 1; i < len(ticks); i++ {
			step := ticks[i] - ticks[i-1]
			if step < 0 && !c.Settable {
				t.Fatalf("reading %d is %d ticks before the one ahead of it", i, -step)
			}
			if leap := int64(3600e9); step > leap || step < -leap {
				t.Fatalf("reading %d is %d ticks from the one ahead of it", i, step)
			}
		}
	})
}

func TestEveryClockPutsStartBeforeEnd(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		for range 200 {
			before, start, end, after := c.Read(), c.Start(), c.End(), c.Read()
			fenced := c.Kind == KindCounter && c.Scope == ScopeMachine
			if c.Settable || (fenced && start <= end) {
				continue // unfenced readings of a counter may be reordered past the fenced ones
			}
			if start > end || before > start || end > after {
				t.Fatalf("readings in turn are %d, %d, %d, %d", before, start, end, after)
			}
		}
	})
}

func TestEveryChainFillsAllOfItsTicks(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		const guard = -12345
		for _, work := range []int{0, 1, 7} {
			ticks := make([]int64, 66)
			for i := range ticks {
				ticks[i] = guard
			}
			c.Chain(work, ticks[1:65])
			if ticks[0] != guard || ticks[65] != guard {
				t.Fatalf("work %d: the chain wrote beside its ticks", work)
			}
			for i, tick := range ticks[1:65] {
				if tick == guard {
					t.Fatalf("work %d: reading %d is missing", work, i)
				}
			}
		}
		c.Chain(1, nil)
	})
}

func TestNoReadingAllocates(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		ticks := make([]int64, 16)
		allocations := testing.AllocsPerRun(20, func() {
			c.Read()
			c.Start()
			c.End()
			c.Chain(2, ticks)
		})
		if allocations != 0 {
			t.Errorf("a reading allocates: %g allocations a run", allocations)
		}
	})
}

// Every clock advances with work; time(2) does too, but only in whole seconds. The limit is an
// amount of work instead of a time: a hundred times the work of a 10 ms tick.
func TestEveryClockAdvancesWithWork(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		if c.UnitNs >= 1e9 {
			t.Skip("too coarse for a test")
		}
		first := c.Read()
		for range 20_000 {
			Spin(100_000)
			if c.Read() > first {
				return
			}
		}
		t.Errorf("after 2e9 rounds of work the clock still reads %d", first)
	})
}

// Chains take longer the more work they hold, by more than any cost of reading explains, which
// shows that the work is done.
func TestWorkInAChainTakesTime(t *testing.T) {
	eachClock(t, func(t *testing.T, c *Clock) {
		fine := c.Name == "go-time-now" || c.Kind == KindCounter && c.Scope == ScopeMachine
		if !fine {
			t.Skip("too coarse for a short chain")
		}
		span := func(work int) int64 {
			least := int64(1 << 62)
			for range 20 {
				ticks := make([]int64, 20)
				c.Chain(work, ticks)
				least = min(least, ticks[len(ticks)-1]-ticks[0])
			}
			return least
		}
		if idle, busy := span(0), span(20_000); busy < 2*idle {
			t.Errorf("the least of 20 chains takes %d ticks without work and %d with 20,000 rounds", idle, busy)
		}
	})
}

func TestCounterFunctions(t *testing.T) {
	c, err := Open(map[string]string{"amd64": "tsc", "arm64": "cntvct"}[runtime.GOARCH])
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	ticks := make([]int64, 100)
	allocations := testing.AllocsPerRun(20, func() {
		ticks[0] = Counter()
		Counters(ticks[1:])
	})
	if allocations != 0 {
		t.Errorf("a reading allocates: %g allocations a run", allocations)
	}
	for i := range ticks {
		if ticks[i] == 0 {
			t.Fatalf("reading %d is missing", i)
		}
	}
	if start, end := CounterStart(), CounterEnd(); end < start {
		t.Errorf("a region starts at %d and ends at %d", start, end)
	}
}

func TestNewClockReadsTheGivenFunction(t *testing.T) {
	now, closed := int64(0), New(Clock{Name: "simulated", UnitNs: 5}, nil)
	c := New(*closed, func() int64 { now += 3; return now })
	ticks := make([]int64, 2)
	c.Chain(4, ticks)
	if got := [...]int64{ticks[0], ticks[1], c.Read(), c.Start(), c.End()}; got != [...]int64{3, 6, 9, 12, 15} {
		t.Errorf("the readings are %v", got)
	}
	if c.Name != "simulated" || c.UnitNs != 5 || c.Running() != 1 || c.Close() != nil {
		t.Errorf("the clock is %+v", *c)
	}
}
