package lateness

import (
	"context"
	"errors"
	"time"
)

// Timer is a way to be woken after a length of time.
type Timer struct {
	Name string
	// Periodic says that the timer fires at moments that are a length apart.
	Periodic bool
	// Lengths have to be whole multiples of Unit; 0 allows any length.
	Unit time.Duration
	// Waker starts the timer, once or periodically, for a length. wake then waits for one wake-up.
	// release has to be called on the same goroutine. The error says why this timer is not available.
	Waker func(length time.Duration) (wake Wake, release func(), err error)
}

// Wake waits for the timer once. It returns how late the timer was, in nanoseconds, and how many
// moments of a periodic timer passed without a wake-up. time.Sleep and the kernel's timers wait to the end
// when ctx ends: to cut the wait into pieces would change what is measured.
type Wake func(ctx context.Context) (lateNs float64, missed int, err error)

// errLength says that a timer can't be asked for a length.
var errLength = errors.New("it takes no such length")

// epoch is the zero of nowNs.
var epoch = time.Now()

// nowNs is Go's monotonic clock, by which the kernel's timers run, too.
func nowNs() int64 { return int64(time.Since(epoch)) }

func nothing() {}

// once returns the waker of a timer that fires once; block blocks for a length.
func once(block func(time.Duration) error) func(time.Duration) (Wake, func(), error) {
	return func(length time.Duration) (Wake, func(), error) {
		return func(context.Context) (float64, int, error) {
			begun := nowNs()
			err := block(length)
			return float64(nowNs() - begun - int64(length)), 0, err
		}, nothing, nil
	}
}

// GoTimers returns the timers of Go's runtime.
func GoTimers() []Timer {
	return []Timer{
		{Name: "time.Sleep", Waker: once(func(length time.Duration) error { time.Sleep(length); return nil })},
		{Name: "time.Timer", Waker: goTimer},
		{Name: "time.Ticker", Periodic: true, Waker: goTicker},
	}
}

func goTimer(length time.Duration) (Wake, func(), error) {
	t := time.NewTimer(time.Hour)
	return func(ctx context.Context) (float64, int, error) {
		begun := nowNs()
		t.Reset(length)
		select {
		case <-t.C:
			return float64(nowNs() - begun - int64(length)), 0, nil
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}, func() { t.Stop() }, nil
}

// goTicker returns a [Wake] for a time.Ticker. A Ticker holds at most one tick and drops the others: these count as
// missed.
func goTicker(length time.Duration) (Wake, func(), error) {
	begun := nowNs() // not after the ticker's own beginning, or its first tick would seem to come early
	t := time.NewTicker(length)
	last := int64(0)
	return func(ctx context.Context) (float64, int, error) {
		select {
		case at := <-t.C:
			now := nowNs()
			// The ticker sends the time at which it fired, which tells which moment that was.
			number := max(last+1, (int64(at.Sub(epoch))-begun)/int64(length))
			missed := int(number - last - 1)
			last = number
			return float64(now - begun - number*int64(length)), missed, nil
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}, t.Stop, nil
}
