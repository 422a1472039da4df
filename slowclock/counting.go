package slowclock

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"chronoscope/clock"
	"chronoscope/env"
)

// Counting is a thread that only counts: a clock with a period of a few nanoseconds while it runs.
// It keeps a CPU busy.
type Counting struct {
	_     [64]byte // keeps other data out of the count's cache line
	count atomic.Int64
	_     [120]byte
	stop  atomic.Bool
	ended chan struct{}
}

// countsAtOnce is the number of counts between two places at which the Go scheduler can interrupt
// the loop. They take some tenths of a millisecond.
const countsAtOnce = 1 << 16

// StartCounting starts a thread that counts on one of cpus, or, if that is empty, on any CPU that
// the system selects. The caller has to make sure that the measuring thread has another CPU. If
// there can be no other, the error is a [*clock.Unavailable].
func StartCounting(cpus []int) (*Counting, error) {
	if n := runtime.NumCPU(); n < 2 {
		return nil, unavailable(fmt.Sprintf("this process may use %d CPU", n), "let it use two CPUs")
	}
	if n := runtime.GOMAXPROCS(0); n < 2 {
		return nil, unavailable(fmt.Sprintf("GOMAXPROCS is %d", n), "set GOMAXPROCS to 2 or more")
	}
	c := &Counting{ended: make(chan struct{})}
	started := make(chan error)
	go c.run(cpus, started)
	if err := <-started; err != nil {
		return nil, unavailable(err.Error(), "name CPUs that this process may use")
	}
	return c, nil
}

func unavailable(detail, remedy string) *clock.Unavailable {
	return &clock.Unavailable{
		Name: string(CounterClock), Reason: clock.NotSupportedHere,
		Detail: "a thread that counts needs a CPU beside the measuring thread's: " + detail, Remedy: remedy,
	}
}

// run counts until it is told to stop.
func (c *Counting) run(cpus []int, started chan<- error) {
	defer close(c.ended)
	release, err := env.Thread(cpus...)
	if err != nil {
		started <- err
		return
	}
	defer release()
	close(started)
	for from := int64(0); !c.stop.Load(); from += countsAtOnce {
		countTo(&c.count, from, countsAtOnce)
	}
}

// Clock returns a clock that reads the count.
func (c *Counting) Clock() *clock.Clock {
	return clock.New(clock.Clock{
		Name: string(CounterClock), Runtime: "go", API: "a count that another thread keeps",
		Kind: clock.KindWall, Scope: clock.ScopeProcess, CountsSleep: clock.Yes, CountsSuspend: clock.No,
	}, c.count.Load)
}

// Stop ends the thread, and waits for its end. Further calls do nothing.
func (c *Counting) Stop() {
	c.stop.Store(true)
	<-c.ended
}
