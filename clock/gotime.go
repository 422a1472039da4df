package clock

import "time"

// epoch is the zero of go-time-now. Only its monotonic part is used.
var epoch = time.Now()

// openGoTime opens Go's own clock. A reading is a call of time.Now, which reads both the
// calendar and the monotonic clock, and a subtraction. time.Since would read the monotonic clock
// only, and so hide the cost of time.Now.
func openGoTime() (*Clock, error) {
	return New(Clock{
		API: "time.Now", Kind: KindWall, Scope: ScopeProcess, UnitNs: 1,
		CountsSleep: Yes, CountsSuspend: goTimeCountsSuspend,
	}, func() int64 {
		now := time.Now()
		return int64(now.Sub(epoch))
	}), nil
}
