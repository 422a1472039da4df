package activity

import (
	"runtime/debug"
	"sync"
)

// held are the measurements that hold up garbage collections just now, and the
// percentage that the last of them restores. One that restored what it found
// would leave collections off for good where several overlap.
var held struct {
	sync.Mutex
	times, percent int
}

// holdCollections holds up the garbage collections of this process until release
// is called.
func holdCollections() (release func()) {
	held.Lock()
	defer held.Unlock()
	if held.times == 0 {
		held.percent = debug.SetGCPercent(-1)
	}
	held.times++
	return func() {
		held.Lock()
		defer held.Unlock()
		if held.times--; held.times == 0 {
			debug.SetGCPercent(held.percent)
		}
	}
}
