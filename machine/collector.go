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

// UsualGarbageBytes is the largest amount of garbage that is not collected between the runs of other programs.
const UsualGarbageBytes = 32 << 20

// CollectBetween keeps the garbage collector of this process from running until release is called. The caller
// calls settle between measurements: settle collects if the heap has grown by more than garbageBytes since
// settle last collected. A collection also starts whenever the heap has grown by eight times garbageBytes.
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
			before = heapBytes() // memory that is still used does not count again
		}
	}, release
}
