package process

import (
	"runtime"
	"sync"
)

// goCode limits the number of CPUs on which this process runs Go code at a time.
var goCode goCodeLimit

// goCodeLimit sets GOMAXPROCS: 1 beside open launchers, at least 2 while two programs are started at the same time, and
// otherwise what it was before.
type goCodeLimit struct {
	sync.Mutex
	launchers, together, procs int
}

// change changes the number of open launchers, and of calls of [Together] that are going on.
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
