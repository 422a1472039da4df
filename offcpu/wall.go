package offcpu

// doing is what the target does as a whole.
type doing uint8

const (
	absent  doing = iota
	runs          // at least one thread has a CPU
	queues        // no thread has a CPU though one is runnable
	idles         // all threads are blocked
	obscure       // a thread is lost, or events are, or the threads are still being listed, which is not counted
)

// whole is the present state of the target as a whole.
type whole struct {
	doing   doing
	sinceNs int64
	ended   key   // cause of the last block of a thread that ended
	endedNs int64 // end of that block
}

func (a *Analyser) doing() doing {
	if a.losing > 0 {
		return obscure
	}
	queued, missing := false, false
	for _, c := range a.ordered {
		if c.current != nil && c.current.ours {
			return runs
		}
		queued = queued || len(c.waiters) > 0
	}
	for t := range a.lost {
		if t.state != unknown {
			delete(a.lost, t)
		}
		missing = missing || t.state == unknown
	}
	switch {
	case missing || a.runnable != nil && a.living > 0:
		return obscure
	case queued:
		return queues
	case a.living > 0:
		return idles
	}
	return absent
}

// watch notes what the target does as a whole. When that changes, it counts the time of the previous state.
func (a *Analyser) watch(atNs int64) {
	if now := a.doing(); now != a.whole.doing {
		a.endWhole(atNs)
		a.whole.doing, a.whole.sinceNs = now, atNs
	}
}

// doubt counts the time from fromNs until another thread of the target got the CPU that it still has as unknown: a thread
// that was taken for running then may have given up its CPU.
func (a *Analyser) doubt(fromNs int64) {
	if a.whole.doing != runs {
		return
	}
	untilNs := a.lastNs
	for _, c := range a.ordered {
		if c.current != nil && c.current.ours && c.current.state == running {
			untilNs = min(untilNs, c.current.sinceNs)
		}
	}
	if fromNs = max(fromNs, a.whole.sinceNs); fromNs < untilNs {
		a.endWhole(fromNs)
		a.countWall(key{cause: Unknown}, fromNs, untilNs-fromNs)
		a.whole.sinceNs = untilNs
	}
}

// endWhole counts the time of the present state. If all threads were blocked, the target waited
// for the first wake-up. If no thread had a CPU, it waited like the thread that got a CPU first;
// settle finds later who had that CPU.
func (a *Analyser) endWhole(atNs int64) {
	ns := atNs - a.whole.sinceNs
	k := key{cause: Unknown}
	switch a.whole.doing {
	case absent:
		return
	case runs:
		k.cause = Ran
	case idles:
		if a.whole.endedNs == atNs {
			if k = a.whole.ended; k.cause == NotWoken { // several threads may wait in different functions
				k.who = Who{}
			}
		}
	case queues:
		if n := len(a.waits); n > 0 && a.waits[n-1].endNs() == atNs {
			a.waits[n-1].wholeNs = ns
			return
		}
	}
	if ns > 0 {
		a.countWall(k, a.whole.sinceNs, ns)
	}
}
