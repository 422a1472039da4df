package machine

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// collector holds the garbage collector's setting from before the first of the present calls of
// [HoldCollector]. If each call restored the setting that it found, collections would stay off
// after two calls overlapped.
var collector struct {
	sync.Mutex
	holders, percent int
	limit            int64
}

// HoldCollector keeps the garbage collector of this process from running during a measurement,
// until release is called. Measurements may overlap and end in any order. Collections start again
// earlier if the process's memory reaches mostBytes, or the memory limit that was set before if
// that is less; mostBytes 0 sets no limit.
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

// CollectBetween keeps the garbage collector of this process from running until release is called. Between
// measurements the caller calls settle, which collects where more than garbageBytes have come since the last
// time. Collections also start where the heap has grown by eight times as much.
func CollectBetween(garbageBytes int64) (settle, release func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heapBytes := func() int64 {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before := heapBytes()
	release = HoldCollector(before + 8*garbageBytes)
	return func() { // allocates nothing
		if heapBytes() > before+garbageBytes {
			runtime.GC()
			before = heapBytes() // what is kept is not collected again each time
		}
	}, release
}
