//go:build !linux

package tracepoint

import (
	"runtime"
	"time"
)

// Recorder records the tracepoints of CPUs: there are none here.
type Recorder struct{}

// Open says that there are none here. The error is an [*Unavailable].
func Open() (*Recorder, error) {
	return nil, &Unavailable{Reason: OtherSystem, Detail: "they are those of Linux, this is " + runtime.GOOS}
}

// OpenWithTimedCalls fails: this system has no tracepoints. The error is an [*Unavailable].
func OpenWithTimedCalls() (*Recorder, error) { return Open() }

// OpenDisturbances fails: this system has no tracepoints. The error is an [*Unavailable].
func OpenDisturbances([]int) (*Recorder, error) { return Open() }

// Close does nothing.
func (*Recorder) Close() {}

// Lost is 0.
func (*Recorder) Lost() int64 { return 0 }

// Take takes nothing.
func (*Recorder) Take() []Event { return nil }

// Drop does nothing.
func (*Recorder) Drop() {}

// TakeAll takes nothing.
func (*Recorder) TakeAll() []Event { return nil }

// Wait lets the time pass.
func (*Recorder) Wait(d time.Duration) (full bool) {
	time.Sleep(d)
	return false
}

// Now is the time of events, which there are none of.
func Now() int64 { return 0 }
