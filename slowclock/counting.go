package slowclock

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"chronoscope/clock"
	"chronoscope/env"
)

// Counting is a thread that does nothing but count: a clock of a few nanoseconds'
// period, as long as it runs. It holds a CPU.
type Counting struct {
	_     [64]byte // no other data share the count's cache line
	count atomic.Int64
	_     [120]byte
	stop  atomic.Bool
	ended chan struct{}
}

// countsAtOnce is how many counts the loop makes that the Go scheduler can't
// interrupt: some tenths of a millisecond.
const countsAtOnce = 1 << 16

// StartCounting starts a thread that counts on one of these CPUs, or wherever the
// system puts it where there are none. The caller sees to it that the measuring thread
// has another CPU; where there can be no other the error is a [*clock.Unavailable].
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

// Clock reads the count.
func (c *Counting) Clock() *clock.Clock {
	return clock.New(clock.Clock{
		Name: string(CounterClock), Runtime: "go", API: "a count that another thread keeps",
		Kind: clock.KindWall, Scope: clock.ScopeProcess, CountsSleep: clock.Yes, CountsSuspend: clock.No,
	}, c.count.Load)
}

// Stop ends the thread, and waits for that. Stopping again does nothing.
func (c *Counting) Stop() {
	c.stop.Store(true)
	<-c.ended
}
