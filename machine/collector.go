package machine

import (
	"runtime/debug"
	"sync"
)

// collector is how the garbage collector was set before the first of those that
// hold it now. One that restored what it found would leave collections off for good
// where several overlap.
var collector struct {
	sync.Mutex
	holders, percent int
	limit            int64
}

// HoldCollector keeps the garbage collector of this process from running within a
// measurement, until release is called. Measurements may overlap and end in any
// order. Collections come back early once the process has mostBytes, or the limit
// that was set before, if that is less; 0 asks for no limit of its own.
func HoldCollector(mostBytes int64) (release func()) {
	c := &collector
	c.Lock()
	defer c.Unlock()
	if c.holders++; c.holders == 1 {
		c.percent, c.limit = debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	}
	if mostBytes > 0 {
		debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), mostBytes))
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.holders--; c.holders == 0 {
			debug.SetMemoryLimit(c.limit)
			debug.SetGCPercent(c.percent)
		}
	}
}
