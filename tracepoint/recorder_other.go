//go:build !linux

package tracepoint

import (
	"runtime"
	"time"
)

// Recorder is empty: only Linux has these tracepoints.
type Recorder struct{}

// Open fails: this system has no tracepoints. The error is an [*Unavailable].
func Open() (*Recorder, error) {
	return nil, &Unavailable{Reason: OtherSystem, Detail: "they are those of Linux, this is " + runtime.GOOS}
}

// OpenWithTimedCalls fails: this system has no tracepoints. The error is an [*Unavailable].
func OpenWithTimedCalls() (*Recorder, error) { return Open() }

// OpenDisturbances fails: this system has no tracepoints. The error is an [*Unavailable].
func OpenDisturbances([]int) (*Recorder, error) { return Open() }

// CostNs fails: this system has no tracepoints. The error is an [*Unavailable].
func CostNs() (float64, error) {
	_, err := Open()
	return 0, err
}

// CallsEvent fails: this system has no tracepoints. The error is an [*Unavailable].
func CallsEvent() (uint64, error) {
	_, err := Open()
	return 0, err
}

// LeastCallNs returns 0, because nothing is recorded.
func LeastCallNs() float64 { return 0 }

// Pause does nothing.
func (*Recorder) Pause() {}

// Resume does nothing.
func (*Recorder) Resume() {}

// FDs returns none.
func (*Recorder) FDs() []int { return nil }

// Close does nothing.
func (*Recorder) Close() {}

// Lost returns 0.
func (*Recorder) Lost() int64 { return 0 }

// Take returns no events.
func (*Recorder) Take() []Event { return nil }

// Drop does nothing.
func (*Recorder) Drop() {}

// TakeAll returns no events.
func (*Recorder) TakeAll() []Event { return nil }

// Wait sleeps for d.
func (*Recorder) Wait(d time.Duration) (full bool) {
	time.Sleep(d)
	return false
}

// Now returns 0, because there are no events to time.
func Now() int64 { return 0 }
