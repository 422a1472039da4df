// Package stops tells how often this process was stopped and continued, as by Ctrl-Z and fg, and stops programs together
// with it.
package stops

import (
	"sync/atomic"
	"time"
)

// Watch counts stops since it began.
type Watch struct {
	before int64
	begun  time.Time
}

// continued counts how often this process was continued: every stop by job control ends with SIGCONT.
var continued atomic.Int64

// Begin begins to count.
func Begin() Watch {
	watch()
	return Watch{continued.Load(), time.Now()}
}

// brief is a time in which nobody stops a process and continues it.
const brief = 10 * time.Millisecond

// Count returns how often this process was continued since w began. A process that was stopped is continued by SIGCONT;
// somebody may also send this signal to one that was not. On systems without job control Count returns 0.
func (w Watch) Count() int {
	if lasted := time.Since(w.begun); lasted >= brief && continued.Load() == w.before {
		settle(min(lasted/100, time.Millisecond))
	}
	return int(continued.Load() - w.before)
}
