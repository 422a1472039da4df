package process

import (
	"time"

	"chronoscope/machine"
)

// tools holds what a thread needs to start programs and to observe them.
type tools struct {
	// own reads what the kernel counts of the thread itself; nil if the kernel does not tell.
	own *machine.Thread
	// watch is opened when it is first needed; unwatched says why it could not be opened.
	watch     *watch
	unwatched error
	lasted    time.Duration // how long the last program ran
	// unnoticedNs is the time for which the end of the last program was not noticed, and waitedNs how long this thread had
	// waited for a CPU when it noticed it.
	unnoticedNs, waitedNs int64
	// ownPeakBytes is the most memory that this process had resident when that was last read; 0 if it was not.
	ownPeakBytes int64
	priority
}

// waitNs returns how long the thread has waited for a CPU so far; 0 if unknown.
func (t *tools) waitNs() int64 {
	if t.own == nil {
		return 0
	}
	use, err := t.own.Look()
	if err != nil {
		return 0
	}
	return use.WaitNs
}

// openTools opens the tools of the calling thread, to which its goroutine is locked.
func openTools() *tools {
	t := &tools{}
	if own, err := machine.OpenThread(); err == nil {
		t.own = own
	}
	t.waitedNs = t.waitNs()
	return t
}

func (t *tools) close() {
	if t.watch != nil {
		t.watch.close()
	}
	if t.own != nil {
		t.own.Close()
	}
}

// begin returns a watch for a command, or the reason why there is none. The watch has noted nothing so far. That
// of a traced command uses inherited events: their cost does not matter in such a run, and none of them may be
// lost.
func (t *tools) begin(c Command) (*watch, error) {
	if !c.Events {
		return nil, errUnasked
	}
	if t.watch != nil && !t.watch.inherit && overrun.Load() {
		t.watch.close()
		t.watch = nil
	}
	if t.watch == nil && t.unwatched == nil {
		t.watch, t.unwatched = openWatch(c.Untraced)
	}
	if t.watch != nil {
		t.watch.begin()
	}
	return t.watch, t.unwatched
}
