package process

import (
	"runtime"
	"sync"
)

// goCode limits the number of CPUs on which this process runs Go code at a time.
var goCode goCodeLimit

// goCodeLimit sets GOMAXPROCS: 1 while a launcher is open, at least 2 while two programs run at the same time, and
// otherwise what it was before.
type goCodeLimit struct {
	sync.Mutex
	launchers, together int // that are open, and calls of Together in progress
	procs               int // GOMAXPROCS as it was before
}

// change adds to both counts, and sets GOMAXPROCS accordingly.
func (l *goCodeLimit) change(launchers, together int) {
	l.Lock()
	defer l.Unlock()
	if l.launchers == 0 && l.together == 0 {
		l.procs = runtime.GOMAXPROCS(0)
	}
	l.launchers, l.together = l.launchers+launchers, l.together+together
	procs := l.procs
	switch {
	case l.together > 0:
		procs = max(2, procs)
	case l.launchers > 0:
		procs = 1
	}
	if procs != runtime.GOMAXPROCS(0) { // setting it stops all goroutines
		runtime.GOMAXPROCS(procs)
	}
}
