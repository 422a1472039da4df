package main

import (
	"time"

	"chronoscope/clock"

	"github.com/loov/hrtime"
)

// A subject is one way to read a clock. Its loop calls the reading directly, so
// that the compiler treats it as it would in a program.
type subject struct {
	name string
	// read takes n readings and returns a value that depends on all of them, so that the compiler can leave
	// none out.
	read func(n int) int64
}

// The subjects that comparisons name.
const (
	counterOne   = "clock.Counter"
	counterBatch = "clock.Counters, a batch"
	goNow        = "time.Now"
	hrtimeNow    = "hrtime.Now"
	hrtimeTSC    = "hrtime.TSC"
	cInline      = "C, inline"
	cCalled      = "C, called"
	cBatch       = "C, stored to an array"
)

// batch is the number of readings that are stored before the array is used again: 8 KB, which stay in the first
// level cache.
const batch = 1024

// subjects returns all ways to read a clock that this program was built with.
func subjects() []subject {
	all := append(cSubjects(), goSubjects...)
	for _, name := range []string{"tsc", "cntvct"} {
		if c, err := clock.Open(name); err == nil {
			all = append(all, subject{"Clock.Read of " + name, func(n int) int64 { return readClock(c, n) }})
		}
	}
	return all
}

var goSubjects = []subject{
	{counterOne, func(n int) (sum int64) {
		for range n {
			sum += clock.Counter()
		}
		return sum
	}},
	{"clock.CounterStart", func(n int) (sum int64) {
		for range n {
			sum += clock.CounterStart()
		}
		return sum
	}},
	{"clock.CounterEnd", func(n int) (sum int64) {
		for range n {
			sum += clock.CounterEnd()
		}
		return sum
	}},
	{counterBatch, func(n int) int64 {
		var ticks [batch]int64
		for n > 0 {
			clock.Counters(ticks[:min(n, batch)])
			n -= batch
		}
		return ticks[0]
	}},
	{goNow, func(n int) (sum int64) {
		for range n {
			sum += int64(time.Now().Nanosecond())
		}
		return sum
	}},
	{"time.Since", func(n int) (sum int64) {
		start := time.Now()
		for range n {
			sum += int64(time.Since(start))
		}
		return sum
	}},
	{hrtimeNow, func(n int) (sum int64) {
		for range n {
			sum += int64(hrtime.Now())
		}
		return sum
	}},
	{hrtimeTSC, func(n int) (sum int64) {
		for range n {
			sum += int64(hrtime.TSC())
		}
		return sum
	}},
}

func readClock(c *clock.Clock, n int) (sum int64) {
	for range n {
		sum += c.Read()
	}
	return sum
}
