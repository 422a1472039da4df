//go:build unix

package activity

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// continuations counts how often this process was continued after a stop: every
// stop by job control ends with SIGCONT.
type continuations chan os.Signal

func watchContinuations() continuations {
	c := make(continuations, 1<<12)
	signal.Notify(c, syscall.SIGCONT)
	return c
}

// count ends the watch and returns the number of signals. The Go runtime delivers signals from a
// goroutine of its own, so count waits a moment for the last of them.
func (c continuations) count() int {
	time.Sleep(time.Millisecond)
	signal.Stop(c)
	return len(c)
}
